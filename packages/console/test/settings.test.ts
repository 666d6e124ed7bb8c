import type { monitoring, Output } from '@strongroom/contract'
import { login } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWorld, type Tab, visit, type World } from './world.ts'

// A person's own settings: what this browser keeps, sessions that are ended, and what only the passphrase of now can change.
// Seen red: an idle time that is not kept, a session that lives on, a rotation that begins before the kit is stored, the server shown to
// anybody, somebody signed out by what the page asked while their passphrase was changed, another tab that is left in the old session;
// numbers that wait without their ages, a chain that is not shown, one that nobody could read shown as if it were; nothing changed, where
// no answer came that says so.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.close())

const OLD = 'correct horse battery staple'
const NEW = 'another horse another staple'
const SESSIONS: Output<typeof monitoring.sessionStats> = {
  ...{ active: 1, users: 1, revokedLastDay: 0 },
  byAge: { under5Minutes: 1, under1Hour: 0, under4Hours: 0, older: 0 },
}
const SYSTEM: Output<typeof monitoring.systemStats> = {
  process: { uptimeSeconds: 90, node: '24.0.0', rssBytes: 1024, heapUsedBytes: 512, heapTotalBytes: 1024 },
  host: { cpus: 2, loadAverage1m: 0.5, memoryBytes: 2048, freeMemoryBytes: 1024 },
  eventLoop: { lagP50Ms: 1, lagP99Ms: 2, lagMaxMs: 3 },
  pool: { inUse: 1, idle: 1, waiting: 0, max: 10 },
  telemetry: { waiting: 0, dropped: 0 },
  audit: { unsealed: 0, oldestUnsealedMs: 0 },
  work: {
    events: { waiting: 3, oldestMs: 125_000 },
    deliveries: { due: 0, oldestMs: 0 },
    ...{ inReview: 0, booksDiffering: 0 },
    chain: { behindBlocks: 12, readAgoMs: 40_999 },
  },
}
const button = ({ page }: Tab, name: string | RegExp) => page.getByRole('button', { name, exact: true })

it('keeps theme, single keys and the idle lock in this browser, and shows what it verified of the organisation', async () => {
  const tab = await world.alice()
  const { page } = tab
  await visit(tab, '/settings')
  await page.getByLabel('Theme').selectOption('Dark')
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
  await page.getByRole('checkbox', { name: /Single-key shortcuts/ }).uncheck()
  await page.getByLabel('Lock when nobody is there for').selectOption('5 minutes')
  expect(await page.evaluate(() => ({ ...localStorage }))).toMatchObject({
    'idle-minutes': '5',
    'single-keys-off': 'yes',
  })
  await page.getByRole('img', { name: /^Verified here: a log of \d+ entries$/ }).waitFor()
  await button(tab, 'Change the list').click()
  await page.getByLabel('Verifier keys').fill('no verifier key')
  await button(tab, 'Save').click()
  await page.getByRole('alert').waitFor()
  expect(tab.problems).toEqual([])
  await tab.context.close()
})

it('ends another session, which then is worth nothing', async () => {
  const tab = await world.alice()
  const other = await world.alice()
  const { page } = tab
  await visit(tab, '/settings/sessions')
  await page.getByRole('row', { name: /this page/ }).waitFor()
  await button(tab, 'End all others').click()
  await page
    .getByText(/sessions? ha(s|ve) ended/)
    .first()
    .waitFor()
  // Whatever it asks next tells it so; the overview that it shows may have asked already.
  const ended = other.page.getByText('Your session has ended.')
  await Promise.race([visit(other, '/vaults').catch(() => undefined), ended.waitFor()])
  await ended.waitFor()
  await other.context.close()
  await tab.context.close()
})

it('rotates the own key once its kit is stored, makes a new recovery code, and changes the passphrase', async () => {
  const tab = await world.alice()
  const { page } = tab
  await visit(tab, '/settings/security')
  await button(tab, 'Rotate my key').click()
  await page.getByRole('textbox', { name: 'Passphrase', exact: true }).fill(OLD)
  await button(tab, 'Make the new key').click()
  const handOver = button(tab, 'Hand over to the new key')
  await handOver.waitFor({ timeout: 60_000 })
  await expect.poll(() => handOver.isDisabled()).toBe(true)
  await page.getByRole('checkbox', { name: 'I stored it another way' }).check()
  // An answer that does not come says nothing: neither kit is thrown away.
  await page.getByText('Nothing has changed yet').waitFor()
  await page.route('**/user-key/rotate', (route) => route.abort('connectionreset'))
  await handOver.click()
  await page.getByText('The new key may have taken over already.').waitFor()
  expect(await page.getByText('Nothing has changed yet').count()).toBe(0)
  await page.unroute('**/user-key/rotate')
  await handOver.click()
  await page.getByText('linked to the old one in the log').waitFor()
  await button(tab, 'Close').last().click()
  await page.getByText('superseded').waitFor()
  await visit(tab, `/vaults/${world.demo.prodId}`)
  await page.getByRole('link', { name: 'stripe' }).first().waitFor()

  await visit(tab, '/settings/security')
  await button(tab, 'New recovery code').click()
  await page.getByRole('textbox', { name: 'Passphrase', exact: true }).fill('a wrong one')
  await button(tab, 'Make a new code').click()
  await page.getByText('login_failed').waitFor()
  await page.getByRole('textbox', { name: 'Passphrase', exact: true }).fill(OLD)
  await button(tab, 'Make a new code').click()
  await page.getByText(/^SRR1-/).waitFor()
  await button(tab, 'Close').click()

  const second = { ...tab, page: await tab.context.newPage() }
  await second.page.goto(world.server.url)
  await second.page.locator('nav[aria-label=Places]').waitFor({ state: 'attached' })

  await button(tab, 'Change passphrase').click()
  await page.getByLabel('Passphrase of now').fill(OLD)
  await page.getByRole('textbox', { name: 'Passphrase', exact: true }).fill(NEW)
  await page.getByLabel('Passphrase again').fill(`${NEW}!`)
  await button(tab, 'Change').click()
  await page.getByText('passphrases_differ').waitFor()
  await page.getByLabel('Passphrase again').fill(NEW)
  await button(tab, 'Change').click()
  await page.getByText('Your passphrase is changed').first().waitFor({ timeout: 60_000 })
  await visit(tab, '/settings/sessions')
  await page.getByRole('row', { name: /this page/ }).waitFor()
  // Every session has ended, and the other tab goes on in the new one.
  await second.page.locator('nav[aria-label=Places]').waitFor({ state: 'attached' })
  await visit(second, '/settings/sessions')
  await second.page.getByRole('row', { name: /this page/ }).waitFor()
  const { founder, url } = world.server
  const enter = (passphrase: string) =>
    login({ baseUrl: url, email: founder.email, deviceSecret: founder.codes.deviceSecret, passphrase })
  await expect(enter(OLD)).rejects.toMatchObject({ code: 'login_failed' })
  expect((await enter(NEW)).email).toBe(founder.email)
  expect(tab.problems).toEqual([])
  await tab.context.close()
})

/** Alice in a browser that knows nobody, with the passphrase she has now, before the page of the server. */
async function atSystemPage(): Promise<Tab> {
  const tab = await world.stranger()
  await tab.open('/')
  await tab.page.getByLabel('Email').fill(world.server.founder.email)
  await tab.page.getByLabel('Device secret').fill(world.server.founder.codes.deviceSecret)
  await tab.page.getByLabel('Passphrase').fill(NEW)
  await button(tab, 'Sign in').click()
  await tab.page.locator('nav[aria-label=Places]').waitFor({ state: 'attached' })
  await visit(tab, '/system')
  await tab.page.getByText('You cannot see the server itself').waitFor()
  return tab
}

async function openWith(tab: Tab, key: string): Promise<void> {
  await tab.page.getByLabel('Key of the operator').fill(key)
  await button(tab, 'Open with it').click()
}

it('shows the server itself to nobody of an organisation, and the operator what waits and how far the chain is read', async () => {
  const tab = await atSystemPage()
  const { page } = tab
  await openWith(tab, 'sra_no.key')
  await page.getByRole('alert').waitFor()
  let { chain } = SYSTEM.work
  await page.route('**/monitoring/session-stats', (route) => route.fulfill({ json: SESSIONS }))
  await page.route('**/monitoring/system-stats', (route) =>
    route.fulfill({ json: { ...SYSTEM, work: { ...SYSTEM.work, chain } } }),
  )
  await openWith(tab, 'sra_any.key')
  const fact = (name: string) => page.locator('dt', { hasText: name }).locator('+ dd').innerText()
  await page.getByText('Events to tell').waitFor()
  expect(await fact('Events to tell')).toBe('3, the oldest for 2 min')
  expect(await fact('Webhook deliveries due')).toBe('0')
  expect(await fact('Chain')).toBe('12 blocks behind, read 40 s ago')
  chain = { behindBlocks: 0, readAgoMs: null }
  await page.evaluate(() => dispatchEvent(new Event('visibilitychange')))
  await expect.poll(() => fact('Chain')).toBe('not read yet: no node of it has answered')
  expect(tab.problems).toEqual([])
  await tab.context.close()
})
