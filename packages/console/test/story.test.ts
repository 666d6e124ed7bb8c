import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CHROMIUM_FLAGS, findChromium } from '../../../scripts/chromium.mjs'
import { type NewServer, startNewServer } from '../../sdk/test/engine/server.ts'
import { type Receiver, startReceiver } from './demo-money.ts'
import { makeOrganisation, newTab, putAway, type Tab, visit } from './world.ts'

// One story from a new server to a delivery that is sent again, by role and label, in one browser and with the real command line.
// Catches parts that work alone and not together. Seen red: an agent that activity does not know by its name, a Resend that sends nothing.

const BIN = fileURLToPath(new URL('../../cli/bin/strongroom.mjs', import.meta.url))
const VALUE = 'sk_live_only_in_the_story'

let server: NewServer
let browser: Browser
let receiver: Receiver
let tab: Tab
let page: Page
const home = mkdtempSync(join(tmpdir(), 'sr-story-'))
beforeAll(async () => {
  // The command line is waited for below, so the server cannot be in this process.
  server = await startNewServer({ apart: true, env: { STRONGROOM_EGRESS_ALLOW: '127.0.0.0/8' } })
  receiver = await startReceiver()
  browser = await chromium.launch({ executablePath: findChromium() as string, args: CHROMIUM_FLAGS })
})
afterAll(async () => {
  await browser?.close()
  await receiver?.close()
  await server?.close()
  rmSync(home, { recursive: true, force: true })
})

const press = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' }).click()
const go = (name: string) => page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name }).click()

async function setUp(): Promise<void> {
  await makeOrganisation(tab, server.setupToken)
  const [kit] = await Promise.all([page.waitForEvent('download'), press('Download the kit')])
  expect(await readFile(await kit.path(), 'utf8')).toMatch(/SRD1-.*\n.*SRR1-/)
  await press('Go on')
}

async function makeVault(): Promise<void> {
  await go('Vaults')
  await press('New vault')
  await page.getByLabel('Name', { exact: true }).fill('prod')
  await press('Create')
  await page.getByRole('heading', { name: 'prod', level: 1 }).waitFor()
  await press('New item')
  await page.keyboard.type('stripe')
  await page.getByLabel('Label', { exact: true }).fill('STRIPE_KEY')
  await page.keyboard.press('Tab')
  await page.keyboard.type(VALUE)
  await page.keyboard.press('Control+Enter')
  const made = page.getByRole('dialog').getByRole('heading', { name: 'stripe' })
  await made.waitFor()
  await putAway(made)
}

/** The wizard, with the bundle as it was downloaded. */
async function makeAgent(): Promise<string> {
  await go('Agents')
  await page.getByRole('link', { name: 'New agent' }).first().click()
  await page.getByLabel('Name').fill('checkout-bot')
  await press('Continue')
  await page.getByRole('checkbox', { name: 'prod' }).check()
  await press('Continue')
  await page.getByLabel('Budget in US dollars').fill('25')
  await press('Continue')
  await press('Make its key and create checkout-bot')
  const [file] = await Promise.all([page.waitForEvent('download'), press('Download bundle')])
  await press('Continue')
  await press('Wrap 1 vault key')
  await page.getByText('Waiting for checkout-bot').waitFor()
  return (await readFile(await file.path(), 'utf8')).trim()
}

function runWith(bundle: string): number | null {
  const check = `process.exit(process.env.STRIPE_KEY === '${VALUE}' ? 7 : 1)`
  const args = [BIN, 'run', '--vault', 'prod', '--', process.execPath, '-e', check]
  const env = { PATH: process.env.PATH ?? '', HOME: home, STRONGROOM_BUNDLE: bundle }
  return spawnSync(process.execPath, args, { env, encoding: 'utf8' }).status
}

async function buyLicence(): Promise<void> {
  await visit(tab, '/billing')
  await press('Take test credit')
  await page.getByText('100.00 USD of test credit', { exact: false }).first().waitFor()
  await visit(tab, '/licenses/buy?slug=sandbox-once')
  await page.getByRole('button', { name: 'Buy for 2.00 USD once' }).click()
  const rail = page.getByRole('list', { name: 'Lifecycle' }).getByRole('listitem').filter({ hasText: 'Handed over' })
  await rail.getByText('done', { exact: true }).waitFor()
}

async function makeEndpoint(): Promise<void> {
  await go('Webhooks')
  await press('New endpoint')
  await page.getByLabel('Address').fill(receiver.url)
  await page.getByLabel('Events').first().fill('license.*')
  await press('Create')
  await press('I have kept it')
}

it('goes from a new server to a secret in a process, a proof, a licence, and a delivery sent again', async () => {
  // Here and not before, so that a failure says what was in sight.
  tab = await newTab(browser, server.url, {})
  page = tab.page
  await setUp()
  await makeVault()
  const bundle = await makeAgent()
  expect(runWith(bundle)).toBe(7)
  await page.getByText('First contact').waitFor()

  await visit(tab, '/activity?lens=audit&filter=who:checkout-bot')
  const reads = page.getByRole('row').filter({ hasText: 'vault.environment.read' })
  await reads.first().waitFor()
  const before = await reads.count()
  expect(runWith(bundle)).toBe(7)
  await expect.poll(() => reads.count(), { timeout: 60_000 }).toBeGreaterThan(before)

  await visit(tab, '/transparency')
  await press('Verify now')
  await page.getByRole('region', { name: 'Verification' }).getByRole('status').waitFor()
  await page.getByRole('link', { name: 'Prove entry 1', exact: true }).click()
  await page.getByRole('dialog', { name: 'Entry 1' }).getByText('In the log.').waitFor()
  await page.keyboard.press('Escape')

  await makeEndpoint()
  const hook = page.url()
  await buyLicence()
  await visit(tab, new URL(hook).pathname)
  const delivered = page.getByRole('table', { name: 'Deliveries' }).getByRole('row', { name: /license\.activated/ })
  await delivered.getByText('delivered').waitFor()
  await delivered.getByRole('link').click()
  const sent = receiver.received.length
  await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click()
  await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBeGreaterThan(sent)
  expect(await page.content()).not.toContain(VALUE)
  expect(tab.problems).toEqual([])
}, 300_000)
