import type { Budget } from '@strongroom/contract'
import { type Agent, type AuditEvent, memoryTrust, Strongroom } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keysOf, startServer, type TestServer } from '../../sdk/test/engine/server.ts'
import { unusedAgents, usedUp } from '../src/pages/approvals/queries.ts'
import { signIn, startWorld, visit, type World } from './world.ts'

// What a person sees first. Catches a number that does not lead to what it counts, something that waits and is not told, and a first
// five minutes that does not notice what was done elsewhere.
// Seen red: a refusal counted as a success, an accepted invite left out, the checklist asked only once, a decision after which the count
// stays, a budget that only tells counted as one that refuses, a rail that reads the audit every minute or on every page, and one that forgets its
// width or the names of what it shows.

let world: World
let empty: TestServer
beforeAll(async () => {
  ;[world, empty] = await Promise.all([startWorld(), startServer()])
})
afterAll(async () => {
  await Promise.all([world?.close(), empty?.close()])
})

const counted = async () => {
  const { strongroom } = world.demo
  const events = await strongroom.monitoring.audit().all()
  const agents = await strongroom.agents.list().all()
  const seen = new Set(events.map(({ actor }) => actor.id))
  return {
    refused: events.filter(({ outcome }) => outcome === 'refused').length,
    agents: agents.length,
    active: agents.filter(({ agentId }) => seen.has(`agent:${agentId}`)).length,
  }
}

it('leads from each number to what it was counted from', async () => {
  const tab = await world.alice()
  const { page } = tab
  await visit(tab, '/')
  const { refused, agents, active } = await counted()
  const numbers = page.getByRole('list', { name: 'In numbers' })
  expect(refused).toBeGreaterThan(0)
  await numbers.getByRole('link', { name: `Agents active ${active} of ${agents}` }).waitFor()
  await numbers.getByRole('link', { name: /^Spent this window [\d.,]+ USD of [\d.,]+ USD$/ }).waitFor()
  await numbers.getByRole('link', { name: new RegExp(`^Refused ${refused} `) }).click()
  await page.getByText('machine_permission_denied').first().waitFor()
  const rows = page.getByRole('table', { name: 'Activity: audit' }).getByRole('row')
  await expect.poll(() => rows.count()).toBe(refused + 1)
  await expect.poll(() => page.getByLabel('Filter activity').inputValue()).toBe('status:refused')
  expect(tab.problems).toEqual([])
  await tab.context.close()
})

it('shows only the signs of the places to who wants the room, with their names said, and remembers it', async () => {
  const tab = await world.alice()
  const { page } = tab
  const rail = page.getByRole('navigation', { name: 'Places' })
  const width = async () => (await rail.boundingBox())?.width
  // Without what waits there, which is read meanwhile.
  const names = async () => (await rail.getByRole('link').allTextContents()).map((text) => text.split(':')[0])
  const wide = await names()
  expect(await width()).toBe(208)
  await rail.getByRole('button', { name: 'Show only the signs of the places' }).click()
  await expect.poll(width).toBe(48)
  const second = await tab.context.newPage()
  await second.goto(page.url())
  await expect.poll(async () => (await second.locator('nav[aria-label=Places]').boundingBox())?.width).toBe(48)
  await second.close()
  expect(await names()).toEqual(wide)
  await rail.getByRole('link', { name: 'Vaults' }).click()
  await page.getByRole('heading', { name: 'Vaults' }).waitFor()
  await rail.getByRole('button', { name: 'Show the names of the places' }).click()
  await expect.poll(width).toBe(208)
  expect(tab.problems).toEqual([])
  await tab.context.close()
})

it('says what waits, what is spent in words, and what was verified here', async () => {
  // Somebody loses access: the key of the vault is due, and that waits for a person.
  const { strongroom, stagingId } = world.demo
  const [ci] = (await strongroom.agents.list().all()).filter(({ name }) => name === 'ci')
  await strongroom.permissions.revoke({ vault: stagingId }, `agent:${ci?.agentId}`, { deferRotation: true })
  const tab = await world.alice()
  const { page } = tab
  await visit(tab, '/')
  const needs = page.getByRole('region', { name: 'Needs you' })
  await needs.getByRole('link', { name: 'Bob Ray accepted an invite and waits for a signature' }).waitFor()
  const bars = page.getByRole('slider', { name: 'Spent of budgets' })
  await bars.focus()
  await page.keyboard.press('Home')
  await expect
    .poll(() => bars.getAttribute('aria-valuetext'))
    .toMatch(/^.+ \(monthly\): [\d.,]+ USD spent, [\d.,]+ USD reserved, [\d.,]+ USD left, \d+ (days|hours) to go$/)
  await page.getByText(/Log verified in this browser/).waitFor()

  await needs.getByRole('link', { name: 'staging: a former reader still holds its key' }).click()
  await page.waitForURL(`**/vaults/${stagingId}/keys`)
  expect(tab.problems).toEqual([])
  await tab.context.close()
})

it('decides what waits right where it waits, by keyboard, and counts it beside the place', async () => {
  // A second vault whose key is due: what waits is what the test before left, and this.
  const { strongroom, prodId, agentId, webhookId } = world.demo
  // Fails or not, depending on the hour; one that somebody switched off waits for nobody.
  await strongroom.webhooks.update(webhookId, { status: 'disabled' })
  await strongroom.permissions.revoke({ vault: prodId }, `agent:${agentId}`, { deferRotation: true })
  const tab = await world.alice()
  const { page } = tab
  const place = page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: /^Approvals/ })
  await place.click()
  await page.getByRole('heading', { name: 'Approvals' }).waitFor()
  const rows = page.getByRole('list', { name: 'What waits' }).getByRole('listitem')
  await expect.poll(() => rows.count()).toBe(3)
  await expect.poll(() => place.textContent()).toBe('Approvals: 3 waiting')

  // Somebody who joined: the words are compared before anything is signed.
  const bob = page.getByRole('link', { name: 'Bob Ray accepted an invite and waits for a signature' })
  await bob.focus()
  await page.keyboard.press('a')
  const sign = page.getByRole('dialog').getByRole('button', { name: 'Sign', exact: true })
  await expect.poll(() => sign.isDisabled()).toBe(true)
  await page.getByLabel(/reads the same words to me/).check()
  await sign.click()
  await bob.waitFor({ state: 'detached' })
  await expect.poll(() => place.textContent()).toBe('Approvals: 2 waiting')
  const { data } = await world.server.founder.client.invites.list({})
  expect(data.find(({ email }) => email.startsWith('bob@'))?.status).toBe('endorsed')

  // Two vault keys are due: both at once, each on its own.
  await page.getByRole('button', { name: 'Rotate 2 vault keys' }).click()
  await page.getByRole('button', { name: 'Rotate all' }).click()
  const done = page.getByRole('list', { name: 'What is done' })
  await expect.poll(() => done.getByText('done', { exact: true }).count()).toBe(2)
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('heading', { name: 'Nothing waits for you' }).waitFor()
  await expect.poll(() => place.textContent()).toBe('Approvals')
  expect((await strongroom.vaults.list()).filter(({ rotationDue }) => rotationDue !== null)).toEqual([])
  expect(tab.problems).toEqual([])
  await tab.context.close()
})

it('says which budgets have nothing left, and which agents are of no use', () => {
  const window = { remaining: { amount: '0' }, limit: { amount: '1000000' } }
  const budget = (change: object) =>
    ({ status: 'active', enforcement: 'hard', activeWindows: [window], ...change }) as unknown as Budget
  const some = [
    budget({}),
    budget({ enforcement: 'notify' }),
    budget({ status: 'archived' }),
    budget({ activeWindows: [{ ...window, remaining: { amount: '1' } }] }),
  ]
  expect(usedUp(some)).toEqual([some[0]])

  const now = new Date('2026-06-01T00:00:00Z')
  const agent = (agentId: string, createdAt: string) =>
    ({ agentId, status: 'active', createdAt: new Date(createdAt) }) as Agent
  const agents = [agent('old', '2026-01-01'), agent('busy', '2026-01-01'), agent('new', '2026-05-20')]
  const events = [{ actor: { id: 'agent:busy' }, occurredAt: '2026-05-01T00:00:00Z' }] as AuditEvent[]
  expect(unusedAgents(agents, { rows: events, isAll: true }, now)).toEqual([agents[0]])
  // Who is not among the newest events may be among older ones.
  expect(unusedAgents(agents, { rows: events, isAll: false }, now)).toEqual([])
})

it('ticks the first five minutes as they happen elsewhere', async () => {
  const tab = await world.stranger({ origin: empty.url })
  const { page } = tab
  await tab.open('/')
  await signIn(tab, empty.founder)
  const list = page.getByRole('region', { name: 'The first five minutes' })
  const done = (words: string) => list.getByText(`${words}: done`)
  await list.getByText('Store a secret: not yet').waitFor()
  const { founder, url } = empty
  const elsewhere = new Strongroom({
    server: url,
    accessToken: founder.accessToken,
    privateKey: founder.exportPem().reveal(),
    trustAnchor: founder.trustAnchor,
    trustStore: memoryTrust(),
    cache: false,
  })
  const { vaultId } = await elsewhere.vaults.create({ name: 'dev' })
  await elsewhere.items.create(vaultId, {
    name: 'stripe',
    fields: [{ label: 'SECRET_KEY', value: 'sk_test', isEnvironmentVariable: true }],
  })
  await done('Store a secret').waitFor()
  const { bundle } = await elsewhere.agents.create({
    name: 'checkout-bot',
    keys: { material: keysOf('deploy') },
    vaults: [{ vault: vaultId, role: 'read' }],
  })
  await done('Give something that is not a person its own key').waitFor()
  await new Strongroom({ bundle: bundle.reveal(), trustStore: memoryTrust(), cache: false }).secrets.env({
    vault: vaultId,
  })
  // With that it is no longer new: the list has done its work and goes.
  await list.waitFor({ state: 'detached' })
  expect(tab.problems).toEqual([])
  await tab.context.close()
})

it('counts what waits at the side of every page, and asks for that seldom', async () => {
  const tab = await world.stranger()
  const { page } = tab
  await page.clock.install()
  await tab.open('/settings')
  const known = ['audit-events', 'agent', 'webhook', 'budget', 'invite', 'pending', 'vault']
  const partOf = (url: string): string | undefined => known.find((part) => new URL(url).pathname.endsWith(`/${part}`))
  const answered = known.map((part) => page.waitForResponse((answer) => partOf(answer.url()) === part))
  await signIn(tab, world.server.founder)
  await Promise.all(answered)
  const asked: string[] = []
  page.on('request', (request) => asked.push(...[partOf(request.url()) ?? []].flat()))
  // Somebody is there, and goes from page to page; none of these pages needs what the count is made of.
  const parts = page.getByRole('navigation', { name: 'Parts of Settings' }).getByRole('link')
  for (const at of [1, 2, 1, 0]) {
    await page.clock.fastForward('01:05')
    await parts.nth(at).click()
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
  }
  expect(asked).toEqual([])
  await page.clock.fastForward('01:05')
  await expect.poll(() => asked.filter((part) => part === 'audit-events').length).toBe(1)
  expect(tab.problems).toEqual([])
  await tab.context.close()
})
