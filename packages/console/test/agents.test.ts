import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { deriveKeyId, openKeys } from '@strongroom/protocol'
import { generateRuntimeKey, keyWords, memoryTrust, Strongroom } from '@strongroom/sdk'
import type { Locator, Page } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type KeyName, keysOf } from '../../sdk/test/engine/server.ts'
import { type Compared, comparison } from '../src/pages/agents/comparison.ts'
import { putAway, startWorld, type Tab, unlock, visit, type World } from './world.ts'

// Agents in the console: made by keyboard alone and read with what was downloaded; what happens where making one breaks off; keys that
// a machine makes itself; and how a key goes on or ends.
// Seen red: Continue without a stored key, no question on leaving, a resume that wraps nothing, a signature that is never sent, one for
// another key than the pasted one, a rotation that tells the server before the new bundle is stored, a vault whose key counts without
// being held, a second budget, a group or an expiry that does not count in a comparison, a wizard that does not send the limits, a day
// that is chosen and not named, an agent that has expired and is called active, lines for .mcp.json without the agent; of a simulated call,
// an answer that outlives its question, a vault that is not the chosen one, an address that is not sent. Ids in its activity where there is a
// name, and Continue after a copy that the browser refused.

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.close())

/** With the Tab key, as somebody without a mouse does. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  for (let pressed = 0; pressed < 120; pressed += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error('the Tab key does not lead there')
}

async function pressOn(page: Page, target: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, target)
  await page.keyboard.press(key)
}

async function downloadBy(page: Page, work: () => Promise<void>): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), work()])
  return readFile(await file.path(), 'utf8')
}

const button = ({ page }: Tab, name: string | RegExp): Locator => page.getByRole('button', { name, exact: true })

/** The first three steps, by mouse. */
async function planAgent(tab: Tab, name: string, vaults: readonly string[]): Promise<void> {
  const { page } = tab
  await visit(tab, '/agents/new')
  await page.getByLabel('Name').fill(name)
  await button(tab, 'Continue').click()
  for (const vault of vaults) await page.getByRole('checkbox', { name: vault }).check()
  await button(tab, 'Continue').click()
  await button(tab, 'Continue').click()
  await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor()
}

it('compares every limit of every budget and of the agents themselves, and who is in which group', () => {
  const money = (amount: string) => ({ amount, currency: 'USD', scale: 6 })
  const budget = (kind: string, amount: string, more = {}) => ({
    activeWindows: [{ kind, limit: money(amount), startsAt: new Date().toISOString() }],
    ...{ perTransactionLimit: null, enforcement: 'hard', ...more },
  })
  const side = (budgets: object[], groups: string[], limits = {}) =>
    ({
      agent: {
        ...{ permissions: [], securityGroups: groups.map((name) => ({ groupId: name, name })) },
        ...{ expiresAt: null, networks: [], ...limits },
      },
      ...{ held: [], exposure: { vaults: [] }, budgets },
    }) as unknown as Compared
  const daily = budget('daily', '5000000')
  const rows = comparison(
    side([daily, budget('monthly', '90000000', { perTransactionLimit: money('2000000') })], ['on call']),
    side([daily], [], { expiresAt: new Date('2027-02-14T10:00:00Z'), networks: ['10.1.0.0/16', '10.0.0.0/16'] }),
  )
  expect(rows.map(({ kind, what, of, isSame }) => [kind, what, ...of, isSame])).toEqual([
    ['group', 'on call', 'yes', 'no', false],
    ['limit', 'When it expires', 'never', 'on 2027-02-14 at 10:00 UTC', false],
    ['limit', 'Networks it may be used from', 'every one', '10.0.0.0/16, 10.1.0.0/16', false],
    ['budget', 'What it may spend', '2.00 USD at once, 5.00 USD a day, 90.00 USD a month', '5.00 USD a day', false],
  ])
})

it('makes an agent by keyboard, whose bundle reads a secret elsewhere, and shows its first contact', async () => {
  const tab = await world.alice()
  const { page } = tab
  await visit(tab, '/agents')
  await pressOn(page, page.getByRole('link', { name: 'New agent' }))
  await tabTo(page, page.getByLabel('Name'))
  await page.keyboard.type('checkout-bot')
  await page.getByText('Another agent has this name.').waitFor()
  await expect.poll(() => button(tab, 'Continue').isDisabled()).toBe(true)
  await page.keyboard.type('-2')
  await page.keyboard.press('Enter')
  await pressOn(page, page.getByRole('checkbox', { name: 'prod' }), 'Space')
  await page.getByText('2 items with 3 environment variables in 1 vault; 2 items are marked restricted.').waitFor()
  await pressOn(page, button(tab, 'Continue'))
  await tabTo(page, page.getByLabel('Budget in US dollars'))
  await page.keyboard.type('25')
  await page.keyboard.press('Enter')
  await pressOn(page, button(tab, 'Make its key and create checkout-bot-2'))
  await button(tab, 'Download bundle').waitFor({ timeout: 60_000 })
  await expect.poll(() => button(tab, 'Continue').isDisabled()).toBe(true)
  // What the browser did not take is stored nowhere.
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new DOMException('refused', 'NotAllowedError'))
  })
  await pressOn(page, button(tab, 'Copy bundle'))
  await expect.poll(() => page.getByLabel('Copy it by hand').inputValue()).toMatch(/^srb1\./)
  await putAway(page.getByLabel('Copy it by hand'))
  await page.evaluate(() => Reflect.deleteProperty(navigator.clipboard, 'writeText'))
  expect(await button(tab, 'Continue').isDisabled()).toBe(true)
  const bundle = await downloadBy(page, () => pressOn(page, button(tab, 'Download bundle')))
  await pressOn(page, button(tab, 'Continue'))
  await pressOn(page, button(tab, 'Wrap 1 vault key'))
  await page.getByText('Waiting for checkout-bot-2').waitFor()
  expect(page.url()).not.toContain('srb1.')
  const bot = new Strongroom({ bundle: bundle.trim(), trustStore: memoryTrust(), cache: false })
  const env = await bot.secrets.env({ vault: 'prod' })
  expect(env.names).toContain('DATABASE_URL')
  await page.getByText('First contact').waitFor()
  await page.getByText(/from 127\.0\.0\.1 it read the variables of a vault/).waitFor()
  await pressOn(page, button(tab, 'MCP'))
  expect(JSON.parse((await page.locator('pre').textContent()) ?? '')).toEqual({
    mcpServers: { strongroom: { command: 'strongroom', args: ['mcp', '--profile', 'checkout-bot-2'] } },
  })
  await page.getByText('strongroom login --bundle checkout-bot-2.bundle --profile checkout-bot-2').waitFor()
  await pressOn(page, page.getByRole('link', { name: 'Go to checkout-bot-2' }))
  await page.getByText('fields it can decrypt').waitFor()
  await page.getByText('25.00 USD', { exact: true }).waitFor()
  expect(tab.problems).toEqual([])
  await tab.done()
})

it('says that the worker was ended, asks before a key is left behind, and archives an agent whose key is gone', async () => {
  const tab = await world.alice()
  const { page } = tab
  await planAgent(tab, 'lost-bot', [])
  await page.route('**/keys.worker-*', (route) => route.abort())
  await button(tab, 'Make its key and create lost-bot').click()
  await page.getByText('worker_ended').waitFor()
  await page.unrouteAll({ behavior: 'wait' })
  await button(tab, 'Try again').click()
  await button(tab, 'Download bundle').waitFor({ timeout: 60_000 })
  await page.getByRole('link', { name: 'Vaults' }).click()
  await page.getByRole('dialog', { name: 'Its key is not stored' }).waitFor()
  await button(tab, 'Stay').click()
  expect(page.url()).toContain('/agents/new')
  page.on('dialog', (asked) => void asked.accept())
  await page.reload()
  await unlock(tab)
  await page.getByText('Key not confirmed.').waitFor()
  await button(tab, 'Archive it and make another').click()
  await button(tab, 'Make its key and create lost-bot').waitFor()
  const agents = await world.demo.strongroom.agents.list().all()
  expect(agents.find(({ name }) => name === 'lost-bot')?.status).toBe('archived')
  await tab.done()
})

it('goes on with the vaults that could not be wrapped at first', async () => {
  const tab = await world.alice()
  const { page } = tab
  const { stagingId, prodId } = world.demo
  await planAgent(tab, 'resumed-bot', ['prod', 'staging'])
  await button(tab, 'Make its key and create resumed-bot').click()
  await page.getByRole('checkbox', { name: 'I stored it another way' }).check({ timeout: 60_000 })
  await button(tab, 'Continue').click()
  await page.route(`**/vault/${stagingId}/**`, (route) =>
    route.request().method() === 'GET'
      ? route.continue()
      : route.fulfill({ status: 403, json: { error: { code: 'vault_access_denied', message: 'not now' } } }),
  )
  await button(tab, 'Wrap 2 vault keys').click()
  await page.getByText('vault_access_denied').waitFor()
  await page.unroute(`**/vault/${stagingId}/**`)
  await button(tab, 'Resume').click()
  await page.getByText('Waiting for resumed-bot').waitFor()
  const held = await Promise.all([prodId, stagingId].map((id) => world.demo.strongroom.vaults.holders(id)))
  expect(held.map((holders) => holders.some(({ name }) => name === 'resumed-bot'))).toEqual([true, true])
  await tab.done()
})

it('limits an agent in time and to networks, says what that means, and says that it has expired', async () => {
  const tab = await world.alice()
  const { page } = tab
  await visit(tab, '/agents/new?name=night-bot&step=limits')
  const panel = page.getByRole('complementary', { name: 'What this means' })
  await panel.getByText('From every network, until you end it.').waitFor()
  await page.getByLabel('Networks it may be used from').fill('192.0.2.0/24\n10.1.2.3/8')
  await page.getByText('10.1.2.3/8 names one machine and a network at once; the network is 10.0.0.0/8.').waitFor()
  await expect.poll(() => button(tab, 'Continue').isDisabled()).toBe(true)
  await page.getByLabel('Networks it may be used from').fill('192.0.2.0/24\n2001:db8::/32')
  await page.getByLabel('Its keys expire').selectOption('on a day')
  await expect.poll(() => button(tab, 'Continue').isDisabled()).toBe(true)
  await page.getByLabel('Day', { exact: true }).fill('2020-01-01')
  await page.getByText('Choose a day that is still to come.').waitFor()
  await page.getByLabel('Day', { exact: true }).fill('2199-12-31')
  await panel.getByText('Only from 192.0.2.0/24, 2001:db8::/32, until 31 December 2199.').waitFor()
  await page.getByLabel('Its keys expire').selectOption('in 90 days')
  await panel.getByText('Only from 192.0.2.0/24, 2001:db8::/32, for 90 days.').waitFor()
  await panel.getByText('--expires 90d --network 192.0.2.0/24 --network 2001:db8::/32').waitFor()
  await button(tab, 'Continue').click()
  await page.getByRole('radio', { name: /Let the machine make it/ }).check()
  await button(tab, 'Enrol night-bot').click()
  await button(tab, 'Download enrolment').waitFor()
  const { agents } = world.demo.strongroom
  const find = async () => (await agents.list().all()).find(({ name }) => name === 'night-bot')
  const made = await find()
  expect(made?.networks).toEqual(['192.0.2.0/24', '2001:db8::/32'])
  expect(Math.round(((made?.expiresAt?.getTime() ?? 0) - Date.now()) / 86_400_000)).toBe(90)

  const agentId = made?.agentId ?? ''
  const answer = `**/api/v1/machine/agent/${agentId}`
  await page.route(answer, async (route) => {
    const response = await route.fetch()
    const { agent } = (await response.json()) as { agent: object }
    await route.fulfill({ response, json: { agent: { ...agent, expiresAt: '2026-01-01T00:00:00.000Z' } } })
  })
  await visit(tab, `/agents/${agentId}`)
  await page.getByText('expired', { exact: true }).waitFor()
  await page.getByText('its keys are refused. Edit it to give it more time').waitFor()
  await page.unroute(answer)
  await visit(tab, '/agents')
  await visit(tab, `/agents/${agentId}`)
  await page.getByText('192.0.2.0/24, 2001:db8::/32').waitFor()
  await button(tab, 'Edit').click()
  const form = page.getByRole('dialog', { name: 'Edit night-bot' })
  await form.getByLabel('Networks it may be used from').fill('')
  await form.getByLabel('Its keys expire').selectOption('never')
  await form.getByText('strongroom agent update night-bot --expires never --network any').waitFor()
  await form.getByRole('button', { name: 'Save' }).click()
  await form.waitFor({ state: 'detached' })
  expect(await find()).toMatchObject({ expiresAt: null, networks: [] })
  await page.getByText('every one').waitFor()
  expect(tab.problems).toEqual([])
  await tab.done()
})

/** What a machine does with its enrolment: keys of its own, and a request for a signature. */
async function requestFrom(enrolment: string, key: KeyName): Promise<string> {
  const text = Buffer.from(enrolment.trim().slice('sre1.'.length), 'base64url').toString()
  const { server, apiKey, agentId, trustAnchor, endorser } = JSON.parse(text) as Readonly<
    Record<'server' | 'apiKey' | 'agentId' | 'trustAnchor' | 'endorser', string>
  >
  const { provider } = await generateRuntimeKey({ principal: `agent:${agentId}`, material: keysOf(key) })
  const machine = new Strongroom({
    server,
    apiKey,
    agentId,
    trustAnchor,
    privateKey: provider,
    trustStore: memoryTrust(),
    cache: false,
  })
  return (await machine.agents.requestEndorsement(endorser)).keyId
}

it('signs for a key that the machine made, once its words are there to be compared', async () => {
  const tab = await world.alice()
  const { page } = tab
  await planAgent(tab, 'edge-7', ['staging'])
  await page.getByRole('radio', { name: /Let the machine make it/ }).check()
  await button(tab, 'Enrol edge-7').click()
  const enrolment = await downloadBy(page, () => button(tab, 'Download enrolment').click())
  await page.getByText('Waiting for the key of edge-7').waitFor()
  const keyId = await requestFrom(enrolment, 'carol')
  await page.getByText(keyWords(keyId)).waitFor()
  await button(tab, 'They are the same: sign for it').click()
  await button(tab, 'Wrap 1 vault key').click()
  await page.getByText('Waiting for edge-7').waitFor()
  const holders = await world.demo.strongroom.vaults.holders(world.demo.stagingId)
  expect(holders.find(({ name }) => name === 'edge-7')?.keyIds).toEqual([keyId])
  expect(tab.problems).toEqual([])
  await tab.done()
})

const pemOf = (spki: string): string =>
  `-----BEGIN PUBLIC KEY-----\n${Buffer.from(spki, 'base64url').toString('base64')}\n-----END PUBLIC KEY-----\n`

it('signs for a pasted public key and for no other', async () => {
  const tab = await world.alice()
  const { page } = tab
  const { key } = await openKeys('agent:pasted', keysOf('dave'))
  await planAgent(tab, 'module-1', [])
  await page.getByRole('radio', { name: /Paste a public key/ }).check()
  await page.getByRole('textbox', { name: 'Public key' }).fill('no key at all')
  await page.getByText('Paste one RSA public key').waitFor()
  await page.getByRole('textbox', { name: 'Public key' }).fill(pemOf(key.bundle.enc) + pemOf(key.bundle.sig))
  await page.getByText(keyWords(`agent:pasted:${deriveKeyId(key.bundle)}`)).waitFor()
  await button(tab, 'Enrol module-1').click()
  const variables = await downloadBy(page, () => button(tab, 'Download enrolment').click())
  const given = Object.fromEntries(variables.split('\n').map((line) => line.split(/=(.*)/).slice(0, 2)))
  const agents = await world.demo.strongroom.agents.list().all()
  const agentId = agents.find(({ name }) => name === 'module-1')?.agentId ?? ''
  const ask = async (name: KeyName): Promise<void> => {
    const { provider } = await generateRuntimeKey({ principal: `agent:${agentId}`, material: keysOf(name) })
    const machine = new Strongroom({
      server: given.STRONGROOM_SERVER,
      apiKey: given.STRONGROOM_API_KEY,
      trustAnchor: given.STRONGROOM_TRUST_ANCHOR,
      agentId,
      privateKey: provider,
      cache: false,
    })
    await machine.agents.requestEndorsement(world.server.founder.identity.kid)
  }
  await ask('mallory')
  await page.getByText('This is another key than the one you pasted.').waitFor()
  await expect.poll(() => button(tab, 'Sign for it').isDisabled()).toBe(true)
  await ask('dave')
  await page.getByText('It is the key you pasted').waitFor()
  await button(tab, 'Sign for it').click()
  await page.getByText('Waiting for module-1').waitFor()
  await tab.done()
})

it('rotates a private key with its bundle, ends it, and archives the agent by its name', async () => {
  const { strongroom, stagingId } = world.demo
  const made = await strongroom.agents.create({
    name: 'old-bot',
    keys: { material: keysOf('deployNext') },
    vaults: [{ vault: stagingId, role: 'read' }],
  })
  const tab = await world.alice()
  const { page } = tab
  await visit(tab, `/agents/${made.agent.agentId}/keys`)
  await button(tab, 'Rotate').click()
  await page.getByLabel('Its bundle').fill(made.bundle.reveal())
  const told: string[] = []
  page.on('request', (request) => void (request.method() !== 'GET' && told.push(new URL(request.url()).pathname)))
  await button(tab, 'Make the new key').click()
  await page.getByText('nobody has heard of it yet').waitFor({ timeout: 60_000 })
  await expect.poll(() => button(tab, 'Hand over the vault keys').isDisabled()).toBe(true)
  const next = await downloadBy(page, () => button(tab, 'Download the new bundle').click())
  expect(told).toEqual([])
  expect(await strongroom.transparency.keys(`agent:${made.agent.agentId}`)).toHaveLength(1)
  await button(tab, 'Hand over the vault keys').click()
  await page.getByText('1 vault key wrapped for it').waitFor()
  await button(tab, 'Close').last().click()
  const bot = new Strongroom({ bundle: next.trim(), trustStore: memoryTrust(), cache: false })
  expect((await bot.secrets.env({ vault: stagingId })).names).toContain('DATABASE_URL')
  await page.getByText('superseded').waitFor()
  await page.getByRole('button', { name: /^End / }).click()
  await page.getByRole('radio', { name: /Somebody else may have it/ }).check()
  await expect.poll(() => button(tab, 'End this key').isDisabled()).toBe(true)
  await page.getByLabel('Type old-bot to go on').fill('old-bot')
  await button(tab, 'End this key').click()
  await page.getByText('1 vault wants a new key').waitFor()
  await button(tab, 'Give them new keys').click()
  await page.getByRole('dialog').getByText('done', { exact: true }).waitFor()
  await button(tab, 'Close').last().click()
  await page.getByText('compromised').waitFor()
  await button(tab, 'Archive').click()
  await page.getByText('This cannot be undone.').waitFor()
  await expect.poll(() => button(tab, 'Archive for good').isDisabled()).toBe(true)
  await page.getByLabel('Type old-bot to go on').fill('old-bot')
  await button(tab, 'Archive for good').click()
  await page.getByText('archived', { exact: true }).waitFor()
  expect(tab.problems).toEqual([])
  await tab.done()
})

it('shows what one agent may and another may not, and keeps a filter under a name', async () => {
  const tab = await world.alice()
  const { page } = tab
  await visit(tab, '/agents')
  await page.getByLabel('Select checkout-bot', { exact: true }).check()
  await page.getByLabel('Select ci', { exact: true }).check()
  await page.getByRole('link', { name: 'Compare' }).click()
  const table = page.getByRole('table', { name: 'Two agents' })
  const cells = async (what: RegExp) => table.getByRole('row', { name: what }).getByRole('cell').allTextContents()
  await table.waitFor()
  expect((await cells(/prod/)).slice(1)).toEqual(['prod', 'read, holds the key', 'no', 'differs'])
  expect((await cells(/staging/)).slice(1)).toEqual(['staging', 'no', 'write, holds the key', 'differs'])
  expect((await cells(/machine\.vault\.write/)).slice(2)).toEqual(['no', 'yes', 'differs'])
  expect(await table.getByText('machine.vault.read').count()).toBe(0)
  await page.getByLabel('What is the same too').check()
  expect((await cells(/machine\.vault\.read/)).slice(2)).toEqual(['yes', 'yes', 'same'])
  expect(new URL(page.url()).searchParams.get('show')).toBe('all')

  await visit(tab, `/agents/${world.demo.agentId}/activity`)
  const events = page.getByRole('table', { name: 'Audit events of the agent' })
  await events.getByRole('link', { name: 'budget of checkout-bot' }).first().waitFor()
  expect(await events.innerText()).not.toMatch(/bud_|vlt_/)

  await visit(tab, '/agents')
  await page.getByLabel('Filter agents').fill('payments')
  await button(tab, 'Views').click()
  await page.getByRole('menuitem', { name: 'Save what is shown' }).click()
  await page.getByLabel('Name of the view').fill('the shop')
  await button(tab, 'Save').click()
  // It is there after the page was loaded anew, and holds nothing but the filter.
  await page.reload()
  await unlock(tab)
  await visit(tab, '/agents')
  await expect.poll(() => page.getByLabel('Filter agents').inputValue()).toBe('')
  await button(tab, 'Views').click()
  await page.getByRole('menuitem', { name: 'the shop' }).click()
  await expect.poll(() => page.getByLabel('Filter agents').inputValue()).toBe('payments')
  const kept = await page.evaluate(() => Object.entries(localStorage).filter(([key]) => key.startsWith('views ')))
  expect(kept.map(([, text]) => text)).toEqual(['[{"name":"the shop","search":{"filter":"payments"}}]'])
  await visit(tab, '/activity')
  await button(tab, 'Views').click()
  await page.getByRole('menuitem', { name: 'None yet: filter, then save it here' }).waitFor()
  expect(tab.problems).toEqual([])
  await tab.done()
})

it('tells what a call of an agent would be answered, why, and where to change it', async () => {
  const { agentId, otherAgentId, strongroom } = world.demo
  const tab = await world.alice()
  const { page } = tab
  await visit(tab, `/agents/${agentId}`)
  await button(tab, 'Simulate a call').click()
  const dialog = page.getByRole('dialog', { name: 'Simulate a call of checkout-bot' })
  const ask = () => dialog.getByRole('button', { name: 'Simulate', exact: true }).click()
  const checks = () => dialog.getByRole('list', { name: 'Checks' }).getByRole('listitem')
  await dialog.getByLabel('Vault').selectOption('prod')
  expect(await dialog.locator('code').textContent()).toBe(
    'strongroom agent simulate checkout-bot vaults.environmentFields --param vaultId=prod',
  )
  await ask()
  await dialog.getByText('It would be answered with 200.').waitFor()
  expect(await checks().allTextContents()).toEqual([
    'Has an API key that worksyes',
    'Its time is not overyes',
    'May come from thereyes',
    'Has the permissionyes',
    'Is well formedyes',
    'The service answers ityes',
  ])
  await dialog.getByLabel('Vault').selectOption('staging')
  await dialog.getByText('It would be answered with 200.').waitFor({ state: 'detached' })
  await ask()
  await dialog.getByText('vault_not_found').waitFor()
  await page.evaluate(AXE)
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }))
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`)).toEqual([])

  await dialog.getByLabel('Call').selectOption('Ask whether it could spend')
  await ask()
  await dialog.getByText('It lacks machine.billing.read.').waitFor()
  await dialog.getByLabel('Call').selectOption('items.version')
  await expect.poll(() => dialog.getByRole('button', { name: 'Simulate', exact: true }).isDisabled()).toBe(true)
  await dialog.getByLabel('Call').selectOption('setup.status')
  await ask()
  await dialog.getByText('Nothing that was tried refuses it; what was not tried may.').waitFor()
  await dialog.getByLabel('From address').fill('somewhere')
  await ask()
  await dialog.getByRole('alert').getByText('validation_failed').waitFor()
  await dialog.getByLabel('From address').fill('')
  await dialog.getByLabel('Call').selectOption('Read the environment of a vault')
  await ask()
  await dialog.getByRole('link', { name: 'Change what it may do under Access' }).click()
  await page.waitForURL(`**/agents/${agentId}/access`)

  await strongroom.agents.update(otherAgentId, { networks: ['10.1.0.0/16'] })
  await visit(tab, `/agents/${otherAgentId}`)
  await button(tab, 'Simulate a call').click()
  const other = page.getByRole('dialog', { name: 'Simulate a call of ci' })
  await other.getByLabel('From address').fill('192.0.2.1')
  await other.getByRole('button', { name: 'Simulate', exact: true }).click()
  await other.getByText('network_not_allowed').waitFor()
  await other.getByRole('button', { name: 'Edit its limits' }).click()
  await page.getByRole('dialog', { name: 'Edit ci' }).waitFor()
  expect(tab.problems).toEqual([])
  await tab.done()
})
