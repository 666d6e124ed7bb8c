import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { verifyWebhook } from '@strongroom/sdk'
import type { Page, Route } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { splitSentence } from '../src/pages/webhooks/time-split.tsx'
import { gapText, spanOf } from '../src/pages/webhooks/timeline-scale.ts'
import { healthOf } from '../src/pages/webhooks/webhook-words.tsx'
import { type Received, type Receiver, startReceiver } from './demo-money.ts'
import { startWorld, type Tab, visit, type World } from './world.ts'

// Endpoints and what is sent to them, and the domains whose changes they hear of. Catches: a secret that stays in the page or is another
// than the one that signs, a delivery that is not shown, not as its receiver got it or not sent again, an endpoint that goes without its
// address being typed, a drawer that shuts somebody out or is wider than a narrow screen.
// Seen red: a type that does not exist let through, another secret than the one that signs, a Resend that sends nothing, a record that
// replaces the others, records that somebody else changed meanwhile replaced, an endpoint whose address is not asked for, a body shown as what
// is signed, a button that says something else than its name, a Resend that moves away from under the pointer.

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let world: World
let tab: Tab
let page: Page
let receiver: Receiver
let answer = 204
beforeAll(async () => {
  world = await startWorld()
  receiver = await startReceiver(() => answer)
  tab = await world.alice()
  page = tab.page
})
afterAll(async () => {
  await world?.close()
  await receiver?.close()
})

const dialog = () => page.getByRole('dialog')
const press = (name: RegExp | string) => page.getByRole('button', { name, exact: typeof name === 'string' }).click()
const choose = async (name: string): Promise<void> => {
  await press(/^Endpoint/)
  await page.getByRole('menuitem', { name }).click()
}
const endpoints = () => world.demo.strongroom.webhooks.list().all()
const verified = ({ body, headers }: Received, secret: string) =>
  verifyWebhook(new TextEncoder().encode(body), headers, secret)

let secret = ''

it('refuses an address that nobody may be sent to, and makes nothing', async () => {
  const before = (await endpoints()).length
  await visit(tab, '/webhooks')
  await press('New endpoint')
  await page.getByLabel('Address').fill('https://10.0.0.1/hooks')
  await page.getByLabel('Events').first().fill('budget.*, weather.*')
  await page.getByText('There is no such type: weather.*.').waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true)
  await page.getByLabel('Events').first().fill('budget.*')
  await press('domain.*')
  await press('Create')
  await dialog().getByText('webhook_url_forbidden').waitFor()
  expect((await endpoints()).length).toBe(before)
})

it('shows the secret once, with which what comes is verified', async () => {
  await page.getByLabel('Address').fill(receiver.url)
  await page.getByText(`strongroom webhook create ${receiver.url} --events 'budget.*,domain.*'`).waitFor()
  await press('Create')
  secret =
    (await dialog()
      .getByText(/^whsec_/)
      .textContent()) ?? ''
  await dialog().getByText("import { verifyWebhook } from '@strongroom/sdk'").waitFor()
  await press('I have kept it')
  await page.getByRole('heading', { name: receiver.url }).waitFor()
  expect(await page.content()).not.toContain(secret)
  await press('Send a test')
  await press('Send')
  await dialog()
    .getByText(/^It was taken: 204 in \d+ ms\.$/)
    .waitFor()
  await page.keyboard.press('Escape')
  const [test] = receiver.received
  expect(test && (await verified(test, secret))).toMatchObject({ type: 'webhook.test', synthetic: true })
})

it('shows a delivery that failed on its time axis, and sends it again', async () => {
  answer = 503
  receiver.received.length = 0
  const { strongroom, agentId } = world.demo
  const [budget] = (await strongroom.budgets.list().all()).filter(({ subjectId }) => subjectId === agentId)
  await strongroom.budgets.update(budget?.budgetId ?? '', { name: 'Payments' })
  const row = page.getByRole('table', { name: 'Deliveries' }).getByRole('row', { name: /budget\.updated/ })
  await row.getByText('retrying').waitFor()
  await row.getByRole('link').click()
  // The next one by itself comes in minutes: what is delivered now was sent by hand.
  await dialog().getByText('Attempt 2', { exact: true }).waitFor()
  await dialog()
    .getByText(/^[1-9]\d* s after the one before$/)
    .waitFor()
  await dialog().getByRole('region', { name: 'Attempts' }).getByText('Next attempt').waitFor()
  await dialog().getByText('Attempt 1', { exact: true }).click()
  await looksAtFirst()
  await dialog().getByRole('button', { name: 'As a table' }).click()
  await dialog().getByRole('cell', { name: '503' }).first().waitFor()
  answer = 204
  await dialog().getByRole('button', { name: 'Resend' }).click()
  await dialog().getByText('delivered').waitFor()
  const taken = receiver.received.at(-1)
  expect(taken && (await verified(taken, secret))).toMatchObject({ type: 'budget.updated' })
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  await page.keyboard.press('Escape')
})

/** What is shown of the first attempt is what its receiver got, to be seen by everybody and taken along. */
async function looksAtFirst(): Promise<void> {
  const [first] = receiver.received
  const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signature } = first?.headers ?? {}
  await dialog()
    .getByRole('figure', { name: 'Time of attempt 1' })
    .getByText(/^Of \d+ ms: connect \d+ ms, wait \d+ ms\.$/)
    .waitFor()
  await dialog().getByText(`webhook-signature: ${signature}`).waitFor()
  const copied = async (label: string): Promise<string> => {
    await dialog()
      .getByRole('button', { name: `Copy: ${label}` })
      .click()
    return page.evaluate(() => navigator.clipboard.readText())
  }
  await expect.poll(() => copied('Body, as it is sent')).toBe(first?.body)
  await expect.poll(() => copied('What attempt 1 signed')).toBe(`${id}.${seconds}.${first?.body}`)
  await expect.poll(() => copied('Headers of attempt 1')).toContain(`POST ${receiver.url}\nhost: 127.0.0.1:`)
  await page.evaluate(AXE)
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }))
    expect(violations.map(({ id: rule, nodes }) => `${rule}: ${nodes.map(({ html }) => html).join()}`)).toEqual([])
  }
  await page.setViewportSize({ width: 390, height: 844 })
  const tooWide = (element: Element): string[] =>
    [...element.querySelectorAll('*')]
      .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > innerWidth)
      .map(({ outerHTML }) => outerHTML)
  await expect.poll(() => dialog().evaluate(tooWide)).toEqual([])
  await page.setViewportSize({ width: 1440, height: 900 })
}

it('moves nothing that can be pressed when the body of a delivery comes', async () => {
  const { strongroom, agentId } = world.demo
  const [budget] = (await strongroom.budgets.list().all()).filter(({ subjectId }) => subjectId === agentId)
  await strongroom.budgets.update(budget?.budgetId ?? '', { name: 'Payments again' })
  const rows = page.getByRole('table', { name: 'Deliveries' }).getByRole('row', { name: /budget\.updated/ })
  await expect.poll(() => rows.getByText('delivered').count()).toBe(2)
  const held: Route[] = []
  await page.route(/\/deliveries\/[^/]+$/, (route) => void held.push(route))
  // The newest first: nothing of it was read yet.
  await rows.first().getByRole('link').click()
  const resend = dialog().getByRole('button', { name: 'Resend' })
  await resend.waitFor()
  await expect.poll(() => held.length).toBe(1)
  const before = await resend.boundingBox()
  expect(await dialog().getByText('Body, as it is sent').count()).toBe(0)
  for (const route of held) await route.continue()
  await dialog().getByText('Body, as it is sent').waitFor()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  expect(await resend.boundingBox()).toEqual(before)
  await page.keyboard.press('Escape')
})

let fresh = ''

it('rotates with an overlap, and disables with a way back', async () => {
  await choose('Rotate the signing secret')
  await press('Make a new secret')
  fresh =
    (await dialog()
      .getByText(/^whsec_/)
      .textContent()) ?? ''
  expect(fresh).not.toBe(secret)
  await press('I have kept it')
  await page.getByText('good until').waitFor()
  await choose('Disable')
  await page.getByText('disabled', { exact: true }).waitFor()
  await press('Undo')
  await page.getByText('active', { exact: true }).waitFor()
})

it('refuses a record of another domain, sets one of its own, and the endpoint hears of it under both secrets', async () => {
  await visit(tab, '/domains')
  await press('Add a record')
  await dialog().getByLabel('Name').fill('www.elsewhere.example')
  await dialog().getByLabel('Content').fill('192.0.2.20')
  await press('Save')
  await dialog().getByText('invalid_record').waitFor()
  await dialog().getByLabel('Name').fill('www.northwind.example')
  receiver.received.length = 0
  await press('Save')
  const record = page.getByRole('row', { name: /www\.northwind\.example/ })
  await record.waitFor()
  await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBe(1)
  const [told] = receiver.received
  for (const known of [secret, fresh])
    expect(told && (await verified(told, known))).toMatchObject({ type: 'domain.dns_records.changed' })
})

it('changes no records that somebody else changed meanwhile, and then both changes', async () => {
  const { client } = world.server.founder
  const { records, serial } = await world.demo.strongroom.domains.records({ domain: 'northwind.example' })
  const sent = records.map(({ id: _, disabled: __, priority, comment, ...rest }) => ({
    ...rest,
    ...(priority !== null && { priority }),
    ...(comment !== null && { comment }),
  })) as Parameters<typeof client.domains.setRecords>[0]['body']['records']
  await press('Add a record')
  await dialog().getByLabel('Name').fill('mine.northwind.example')
  await dialog().getByLabel('Content').fill('192.0.2.21')
  const theirs = { name: 'theirs.northwind.example', type: 'A', content: '192.0.2.22' } as const
  await client.domains.setRecords({
    params: { domain: 'northwind.example' },
    body: { ifSerial: serial, records: [...sent, theirs] },
  })
  await press('Save')
  await dialog().getByText('records_changed').waitFor()
  await page.getByText('theirs.northwind.example').waitFor({ state: 'attached' })
  await press('Save')
  await dialog().waitFor({ state: 'detached' })
  const names = (await world.demo.strongroom.domains.records({ domain: 'northwind.example' })).records.map(
    ({ name }) => name,
  )
  expect(names).toEqual(expect.arrayContaining(['mine.northwind.example', 'theirs.northwind.example']))
  await client.domains.setRecords({ params: { domain: 'northwind.example' }, body: { records: sent } })
  await visit(tab, '/webhooks')
  await visit(tab, '/domains')
  // The page shows what it knew until the list has come anew: a change made before that is refused, as it should be.
  await page.getByText('theirs.northwind.example').waitFor({ state: 'detached' })
})

it('takes a record back by Undo, and a domain by its typed name only', async () => {
  const records = async () =>
    (await world.demo.strongroom.domains.records({ domain: 'northwind.example' })).records.map(({ name }) => name)
  const record = page.getByRole('row', { name: /www\.northwind\.example/ })
  await press('Change www.northwind.example A')
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await record.waitFor({ state: 'detached' })
  expect(await records()).not.toContain('www.northwind.example')
  await press('Undo')
  await record.waitFor()
  expect(await records()).toHaveLength(5)
  await page.getByRole('link', { name: 'nordwind.example' }).click()
  await page.getByText('its records are kept elsewhere').waitFor()
  await press('Remove the domain')
  await page.getByLabel('Type nordwind.example to go on').fill('nordwind.example')
  await press('Remove')
  await dialog().waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'nordwind.example' }).waitFor({ state: 'detached' })
})

it('deletes an endpoint by its typed address only', async () => {
  const made = (await endpoints()).find(({ url }) => url === receiver.url)
  await visit(tab, `/webhooks/${made?.webhookId}`)
  await choose('Delete')
  const remove = dialog().getByRole('button', { name: 'Delete' })
  await page.getByLabel(`Type ${receiver.url} to go on`).fill('http://127.0.0.1')
  await expect.poll(() => remove.isDisabled()).toBe(true)
  await page.getByLabel(`Type ${receiver.url} to go on`).fill(receiver.url)
  await remove.click()
  await page.getByRole('table', { name: 'Endpoints' }).waitFor()
  expect((await endpoints()).map(({ url }) => url)).not.toContain(receiver.url)
  expect(tab.problems).toEqual([])
})

it('counts what was taken without tests, and draws gaps to scale', () => {
  const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 12, 0, seconds)).toISOString()
  const attempt = (seconds: number, responseStatus: number) => ({
    ...{ attempt: 1, startedAt: at(seconds), durationMs: 10, url: '', error: null, responseStatus },
    timing: { lookupMs: null, connectMs: 1, tlsMs: null, waitMs: 8 },
  })
  const delivery = (state: 'delivered' | 'exhausted' | 'retrying', synthetic = false) => ({
    ...{ deliveryId: 'd', eventId: 'e', eventType: 't', state, synthetic, createdAt: at(0) },
    nextAttemptAt: state === 'retrying' ? at(3600) : null,
    finishedAt: null,
    attempts: [attempt(0, 503), attempt(5, state === 'delivered' ? 204 : 503)],
  })
  const health = healthOf([delivery('delivered'), delivery('delivered', true), delivery('exhausted')])
  expect(health).toMatchObject({ settled: 2, taken: 1, p95: 10, shares: [0, 1] })
  const { from, to } = spanOf([delivery('retrying')])
  expect([from.toISOString(), to.toISOString()]).toEqual([at(0), at(3600)])
  expect([gapText(5000), gapText(300_000), gapText(7_200_000), gapText(100_000_000)]).toEqual([
    '5 s',
    '5 min',
    '2 h',
    '1.2 d',
  ])
})

it('says of what the time of an attempt was spent on only what came about', () => {
  const nothing = { lookupMs: null, connectMs: null, tlsMs: null, waitMs: null }
  expect(splitSentence({ durationMs: 213, timing: { lookupMs: 4, connectMs: 2, tlsMs: 31, waitMs: 176 } })).toBe(
    'Of 213 ms: lookup 4 ms, connect 2 ms, TLS 31 ms, wait 176 ms.',
  )
  expect(splitSentence({ durationMs: 15_000, timing: { ...nothing, connectMs: 0 } })).toBe('Of 15000 ms: connect 0 ms.')
  expect(splitSentence({ durationMs: 3, timing: nothing })).toBe('No connection came about.')
  expect(splitSentence({ durationMs: null, timing: nothing })).toBeUndefined()
})
