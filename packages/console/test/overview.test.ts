import { Strongroom } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keysOf, startServer, type TestServer } from '../../sdk/test/engine/server.ts'
import { signIn, startWorld, type World } from './world.ts'

// What a person sees first. Catches a number that does not lead to what it counts, something that waits and is not told, and a first
// five minutes that does not notice what was done elsewhere.
// Seen red: a refusal counted as a success, an accepted invite left out, the checklist asked only once.

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

it('says what waits, what is spent in words, and what was verified here', async () => {
  // Somebody loses access: the key of the vault is due, and that waits for a person.
  const { strongroom, stagingId } = world.demo
  const [ci] = (await strongroom.agents.list().all()).filter(({ name }) => name === 'ci')
  await strongroom.permissions.revoke({ vault: stagingId }, `agent:${ci?.agentId}`, { deferRotation: true })
  const tab = await world.alice()
  const { page } = tab
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
  await new Strongroom({ bundle: bundle.reveal(), cache: false }).secrets.env({ vault: vaultId })
  // With that it is no longer new: the list has done its work and goes.
  await list.waitFor({ state: 'detached' })
  expect(tab.problems).toEqual([])
  await tab.context.close()
})
