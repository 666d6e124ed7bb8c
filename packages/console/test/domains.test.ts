import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type NameServer, startNameServer } from '../../server/test/name-server.ts'
import { startWorld, type Tab, visit, type World } from './world.ts'

// The records of a domain held against what a resolver answers. Catches: a verdict beside the wrong record, a difference without what was
// found, a verdict that outlives the record it was about, a refusal that nobody sees. Seen red: verdicts by name alone, what was found left
// out, words too pale, a button that loses the focus, verdicts and their sum kept after a change, a problem that is not shown.

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const DOMAIN = 'northwind.example'

let world: World
let tab: Tab
let page: Page
let names: NameServer
beforeAll(async () => {
  names = await startNameServer()
  names.tell(DOMAIN, ['93.184.216.36'])
  world = await startWorld({ env: { STRONGROOM_DNS_RESOLVER: names.address } })
  tab = await world.alice()
  page = tab.page
})
afterAll(async () => {
  await world?.close()
  names?.close()
})

const button = () => page.getByRole('button', { name: 'Check with a resolver' })
const row = (name: RegExp) => page.getByRole('table', { name: `Records of ${DOMAIN}` }).getByRole('row', { name })

it('asks when the button is pressed by keyboard, and says per record what was found, by whom and when', async () => {
  await visit(tab, '/domains')
  await row(/192\.0\.2\.10/).waitFor()
  expect(await page.getByRole('columnheader', { name: 'Resolver' }).count()).toBe(0)
  await button().focus()
  await page.keyboard.press('Enter')
  await page.getByText('4 of 4 sets of records are not the same.').waitFor()
  await page.getByText(`Asked ${names.address}`).waitFor()
  await row(/192\.0\.2\.10/)
    .getByText('✗ differs')
    .waitFor()
  await row(/mail\./)
    .getByText('✗ missing, NODATA')
    .waitFor()
  await row(/hooks\./)
    .getByText('✗ missing, NXDOMAIN')
    .waitFor()
  const difference = page.getByRole('list', { name: 'What is not the same' }).getByRole('listitem').first()
  expect(await difference.innerText()).toContain('expected 192.0.2.10 · found 93.184.216.36')
  await page.getByText(`strongroom domain check ${DOMAIN}`).waitFor()
  await expect.poll(() => button().evaluate((element) => element === document.activeElement)).toBe(true)
})

it('shuts nobody out while it shows them', async () => {
  await page.evaluate(AXE)
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }))
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`)).toEqual([])
  await page.setViewportSize({ width: 320, height: 640 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320)
  await page.setViewportSize({ width: 1440, height: 900 })
})

it('finds the same once it is so, and says nothing any more of records that were changed since', async () => {
  names.tell(DOMAIN, ['192.0.2.10'])
  await button().click()
  await page.getByText('3 of 4 sets of records are not the same.').waitFor()
  await row(/192\.0\.2\.10/)
    .getByText('✓ same')
    .waitFor()
  await page.getByRole('button', { name: `Change ${DOMAIN} TXT` }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await page.getByRole('columnheader', { name: 'Resolver' }).waitFor({ state: 'detached' })
  await page.getByText('The records were changed since they were checked.').waitFor()
})

it('shows in place why it could not ask', async () => {
  await page.route('**/domain-manager/dns-check*', (route) => route.abort())
  await button().click()
  await page.getByRole('alert').waitFor()
  expect(await page.getByText('sets of records are not the same').count()).toBe(0)
  await page.unrouteAll()
  expect(tab.problems).toEqual([])
})
