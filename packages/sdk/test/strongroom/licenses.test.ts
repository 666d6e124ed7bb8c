import { money } from '@strongroom/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { LicenseVerificationError, verifyLicense } from '../../src/license-key.ts'
import type { Strongroom } from '../../src/strongroom/strongroom.ts'
import { keysOf, makeWire } from '../engine/server.ts'
import { type Bot, errorOf, startWorld, unique, type World } from './world.ts'

// Licences by the SDK, on a server as an operator runs it: the sandbox catalogue, the built-in issuer, work in the background. Catches: an
// organisation that cannot buy after set-up, a credential that goes where nobody asked, one that is taken twice, variables of another item,
// money that is held for what cannot be handed over, a key that verifies although it is forged.
// Seen red: `setUp` with the plain policy; the place of a purchase not compared; the mark of an item not compared; the vault not looked at
// before it is bought into; nothing sealed anew; waited for ever where nobody seals it anew; the signature of a licence key not checked.

let world: World
let bot: Bot
beforeAll(async () => {
  world = await startWorld()
  await world.alice.licenses.testCredit()
  bot = await world.agent('deploy', { permissions: ['machine.all'] })
})
afterAll(() => world.close())

const available = async (): Promise<bigint> => BigInt((await world.alice.billing.balance()).available.amount)

const bought = async (client: Strongroom = bot.client, license = 'sandbox-once') => {
  const vault = unique('bought')
  const purchase = await client.licenses.buy({ license, vault: { create: vault } })
  return { vault, purchase, instance: await purchase.wait() }
}

it('buys into a new vault in an organisation as set-up makes it, and gives the credential to the environment', async () => {
  const before = await available()
  const states: string[] = []
  const [offer] = await bot.client.licenses.search('sandbox-monthly')
  expect(offer).toMatchObject({ licenseId: 'sandbox-monthly', price: money(12_500_000n), term: 'month' })
  const order = { license: 'sandbox-monthly', vault: { create: 'mailer' }, ...(offer && { maxPrice: offer.price }) }
  const purchase = await bot.client.licenses.buy(order)
  expect(purchase).toMatchObject({ state: 'reserved', license: 'sandbox-monthly', price: money(12_500_000n) })
  const instance = await purchase.wait({ onProgress: ({ state }) => states.push(state), pollMs: 20 })
  expect([states[0], states.at(-1)]).toEqual(['reserved', 'completed'])
  expect(new Set(states).size).toBe(states.length)
  expect(await available()).toBe(before - 12_500_000n)
  const { itemId, vaultId, licenseInstanceId } = instance
  expect(await bot.client.vaults.get('mailer')).toMatchObject({ vaultId, itemCount: 1 })
  const env = await bot.client.licenses.env(licenseInstanceId)
  expect(env.names).toEqual(['SANDBOX_LICENSE_KEY'])
  expect(env.receipt).toMatchObject({ vaultId, inclusion: 'verified' })
  const key = env.get('SANDBOX_LICENSE_KEY')?.reveal() ?? ''
  const keys = await bot.client.licenses.issuerKeys()
  expect(await verifyLicense(key, { keys, sku: 'sandbox-monthly' })).toMatchObject({ licenseInstanceId, seats: 1 })
  expect((await bot.client.secrets.env({ license: 'sandbox-monthly' })).get('SANDBOX_LICENSE_KEY')?.reveal()).toBe(key)
  expect(await bot.client.licenses.list().all()).toMatchObject([{ licenseInstanceId, itemId, status: 'active' }])
  expect(await bot.client.licenses.purchase(purchase.id)).toMatchObject({ state: 'completed', itemId })
  expect(await errorOf(purchase.handOff())).toMatchObject({ code: 'handoff_already_completed', status: 409 })
})

it('buys into a vault that is there, and not into one that has such a variable', async () => {
  const vault = unique('shared')
  const { vaultId } = await bot.client.vaults.create({ name: vault })
  const order = { license: 'sandbox-once', vault: { existing: vault } }
  const instance = await (await bot.client.licenses.buy(order)).wait({ pollMs: 20 })
  expect(instance.vaultId).toBe(vaultId)
  const item = await bot.client.items.get(vault, instance.itemId ?? '')
  expect(item.fields.map(({ label }) => label).sort()).toEqual(['Licence number', 'SANDBOX_ONCE_KEY'])
  const before = await available()
  expect(await errorOf(bot.client.licenses.buy(order))).toMatchObject({ name: 'ValidationError' })
  expect(await available()).toBe(before)
})

it('goes on with what was begun and left, and makes one item of it however many do so', async () => {
  const vault = unique('left')
  const begun = await bot.client.licenses.buy({ license: 'sandbox-once', vault: { create: vault } })
  const ended = new AbortController()
  const waiting = begun.wait({ onProgress: () => ended.abort(), signal: ended.signal })
  expect(await errorOf(waiting)).toMatchObject({ code: 'aborted' })
  expect((await begun.wait({ handOff: false, pollMs: 20 })).itemId).toBeNull()
  const many = await Promise.all(
    [1, 2, 3].map(async () => (await bot.again().licenses.purchase(begun.id)).wait({ pollMs: 20 })),
  )
  const { itemId } = await begun.refresh()
  expect(new Set(many.map((one) => one.itemId))).toEqual(new Set([itemId]))
  expect((await bot.client.items.list(vault)).map((item) => item.itemId)).toEqual([itemId])
})

it('refuses what cannot be bought, and holds nothing for it', async () => {
  const poor = await world.agent('deployNext', { permissions: ['machine.all'] })
  const daily = [{ kind: 'daily' as const, limit: money(5n) }]
  await world.alice.budgets.create({ subjectType: 'agent', subjectId: poor.agent.agentId, windows: daily })
  const vault = { create: unique('none') }
  const before = await available()
  const license = 'sandbox-once'
  expect([
    (await errorOf(bot.client.licenses.buy({ license: 'nothing-such', vault }))).code,
    (await errorOf(bot.client.licenses.buy({ license, vault, maxPrice: money(1n) }))).code,
    (await errorOf(bot.client.licenses.buy({ license, vault, quantity: 1000 }))).code,
    (await errorOf(poor.client.licenses.buy({ license, vault }))).name,
    (await errorOf(bot.client.licenses.buy({ license, vault: { existing: 'nowhere' } }))).code,
    (await errorOf(bot.client.licenses.purchase('pur_nowhere'))).code,
    (await errorOf(bot.client.licenses.env('nothing-such'))).code,
    (await errorOf(world.alice.licenses.testCredit())).code,
  ]).toEqual([
    'license_not_found',
    'quote_expired',
    'insufficient_credit',
    'BudgetExceededError',
    'vault_not_found',
    'purchase_not_found',
    'license_instance_not_found',
    'sandbox_credit_granted',
  ])
  expect(await available()).toBe(before)
  expect(await bot.client.licenses.search('nothing-such')).toEqual([])
  expect(await world.alice.licenses.enable()).toMatchObject({ isNew: false })
})

/** The agent with somebody between it and the server. */
const watched = () => {
  const { wire, fetch } = makeWire()
  return { wire, client: bot.again({ fetch }) }
}

it('takes nothing over for another place, of another provisioner, or with other fields', async () => {
  const { wire, client } = watched()
  const vault = unique('asked')
  const purchase = await client.licenses.buy({ license: 'sandbox-once', vault: { create: vault } })
  await purchase.wait({ handOff: false, pollMs: 20 })
  type Status = Record<string, unknown> & { handoff: Record<string, unknown> & { schema: Record<string, unknown>[] } }
  const lies: ((status: Status) => unknown)[] = [
    (status) => ({ ...status, vault: { mode: 'new', name: 'theirs', vaultId: null } }),
    (status) => ({ ...status, licenseInstanceId: 'lic_another' }),
    ({ handoff, ...rest }) => ({ ...rest, handoff: { ...handoff, schema: handoff.schema.slice(1) } }),
    ({ handoff, ...rest }) => {
      const { kid, key } = handoff.provisioner as { kid: string; key: object }
      return { ...rest, handoff: { ...handoff, provisioner: { kid: kid.replace(/^agent:../, 'agent:xx'), key } } }
    },
  ]
  for (const lie of lies) {
    wire.tamper = (asked, answer) => (asked.endsWith('/status') ? lie(answer as Status) : undefined)
    const error = await errorOf(purchase.handOff())
    expect(['IntegrityError', 'SignerUntrustedError'], String(error.code)).toContain(error.name)
  }
  wire.tamper = undefined
  expect((await purchase.refresh()).state).toBe('awaiting_handoff')
  expect((await purchase.wait()).itemId).not.toBeNull()
})

it('takes nothing over into a place that a server has put in place of the one it was asked for', async () => {
  const vault = unique('mine')
  const { vaultId } = await bot.client.vaults.create({ name: unique('theirs') })
  const rerouting: typeof fetch = (input, init) => {
    const isOrder = String(input).endsWith('/licenses/purchase')
    const body = { ...JSON.parse(isOrder ? String(init?.body) : '{}'), vault: { mode: 'existing', vaultId } }
    return fetch(input, isOrder ? { ...init, body: JSON.stringify(body) } : init)
  }
  const client = bot.again({ fetch: rerouting })
  const purchase = await client.licenses.buy({ license: 'sandbox-once', vault: { create: vault } })
  expect(await errorOf(purchase.wait({ pollMs: 20 }))).toMatchObject({ name: 'IntegrityError', code: 'wrap_context' })
  expect(await bot.client.items.list(vaultId)).toEqual([])
})

it('stops waiting where nothing more comes of it, and says what can be done', async () => {
  const { wire, client } = watched()
  const purchase = await client.licenses.buy({ license: 'sandbox-once', vault: { create: unique('stopped') } })
  const waitSeeing = async (status: string, retryable: boolean, more: object = {}) => {
    wire.tamper = (asked, answer) =>
      asked.endsWith('/status')
        ? { ...(answer as object), status, retryable, statusReason: 'provider_refused', handoff: undefined, ...more }
        : undefined
    return errorOf(purchase.wait({ pollMs: 20 }))
  }
  const failed = await waitSeeing('failed', true)
  expect(failed).toMatchObject({ code: 'purchase_failed', retryable: true })
  expect(failed.hint).toContain(purchase.id)
  expect(await waitSeeing('in_review', false)).toMatchObject({ code: 'purchase_in_review', retryable: false })
  const unsealed = await waitSeeing('awaiting_handoff', false, { nextAction: { type: 'contact_support' } })
  expect(unsealed).toMatchObject({ code: 'purchase_in_review', hint: expect.stringContaining(purchase.id) })
  expect(await waitSeeing('cancelled', false)).toMatchObject({ code: 'purchase_cancelled' })
  wire.tamper = undefined
  await purchase.wait()
})

it('takes over with new keys what was sealed to those before', async () => {
  const other = await world.agent('dave', { permissions: ['machine.all'] })
  const vault = unique('rotated')
  const purchase = await other.client.licenses.buy({ license: 'sandbox-once', vault: { create: vault } })
  await purchase.wait({ handOff: false, pollMs: 20 })
  await other.client.agents.rotateRuntimeKey({ keys: { material: keysOf('carol') }, save: () => undefined })
  const instance = await (await other.client.licenses.purchase(purchase.id)).wait({ pollMs: 20 })
  expect((await other.client.items.list(vault)).map(({ itemId }) => itemId)).toEqual([instance.itemId])
})

it('gives no variables of another item for those of a licence', async () => {
  const [mine, other] = [await bought(), await bought()]
  const { wire, client } = watched()
  const [id, otherId] = [mine.instance.licenseInstanceId, other.instance.licenseInstanceId]
  let kept: unknown
  wire.tamper = (asked, answer) => {
    if (!asked.includes('/environment')) return undefined
    if (asked.includes(otherId)) kept = answer
    return kept
  }
  expect((await client.licenses.env(otherId)).names).toEqual(['SANDBOX_ONCE_KEY'])
  expect(await errorOf(client.licenses.env(id))).toMatchObject({ name: 'IntegrityError', code: 'item_swap' })
  wire.tamper = undefined
  expect((await client.licenses.env(id)).names).toEqual(['SANDBOX_ONCE_KEY'])
  expect(await errorOf(client.licenses.env('sandbox-once'))).toMatchObject({ code: 'ambiguous_reference' })
  await bot.client.items.update(mine.vault, mine.instance.itemId ?? '', { website: '' })
  expect(await errorOf(client.licenses.env(id))).toMatchObject({ code: 'license_item_unmarked' })
  expect(await errorOf(client.licenses.env(id, { offline: true }))).toMatchObject({ code: 'not_cached' })
})

it('ends a licence, gives back what is left of it, and ends it once', async () => {
  const before = await available()
  const { instance, vault } = await bought(bot.client, 'sandbox-monthly')
  const states: string[] = []
  const termination = await bot.client.licenses.terminate(instance.licenseInstanceId, { reason: 'not needed' })
  const ending = await termination.wait({ onProgress: ({ state }) => states.push(state), pollMs: 20 })
  expect(states.at(-1)).toBe('completed')
  expect(ending.licenseInstanceId).toBe(instance.licenseInstanceId)
  expect(BigInt(ending.refund?.amount ?? 0)).toBe((await available()) - before + 12_500_000n)
  expect(await bot.client.licenses.termination(termination.id)).toMatchObject({ state: 'completed' })
  expect([
    (await errorOf(bot.client.licenses.terminate(instance.licenseInstanceId))).code,
    (await errorOf(bot.client.licenses.env(instance.licenseInstanceId))).code,
    (await errorOf(bot.client.licenses.terminate(vault))).code,
    (await errorOf(termination.resume())).code,
  ]).toEqual(['license_terminated', 'license_terminated', 'license_instance_not_found', 'termination_not_resumable'])
})

it('waits for a termination at the end of a period until its day is known', async () => {
  const { instance } = await bought(bot.client, 'sandbox-monthly')
  const { licenseInstanceId: id } = instance
  const termination = await bot.client.licenses.terminate(id, { effective: 'period_end' })
  const { effectiveAt } = await termination.wait({ pollMs: 20 })
  expect(effectiveAt?.getTime()).toBeGreaterThan(Date.now())
  expect((await bot.client.licenses.env(id)).names).toEqual(['SANDBOX_LICENSE_KEY'])
  expect(await errorOf(bot.client.licenses.terminate(id))).toMatchObject({ code: 'termination_in_progress' })
})

it('verifies licence keys without a server, and none that was changed, forged or is over', async () => {
  const { instance } = await bought(bot.client, 'sandbox-monthly')
  const env = await bot.client.licenses.env(instance.licenseInstanceId)
  const key = env.get('SANDBOX_LICENSE_KEY')?.reveal() ?? ''
  const keys = await bot.client.licenses.issuerKeys()
  const { expiresAt } = await verifyLicense(key, { keys })
  const problemOf = async (...given: Parameters<typeof verifyLicense>): Promise<string> => {
    const error = await errorOf(verifyLicense(...given))
    return error instanceof LicenseVerificationError ? error.problem : String(error)
  }
  const [body = '', signature = ''] = key.slice(4).split('.')
  const payload = JSON.parse(Buffer.from(body, 'base64url').toString())
  const forged = Buffer.from(JSON.stringify({ ...payload, seats: 1000 })).toString('base64url')
  expect([
    await problemOf(`key/${forged}.${signature}`, { keys }),
    await problemOf(key, { keys: keys.map((one) => ({ ...one, kid: 'another' })) }),
    await problemOf(key, { keys, now: new Date(expiresAt ?? 0) }),
    await problemOf(key, { keys, now: new Date(0) }),
    await problemOf(key, { keys, sku: 'another' }),
    await problemOf(key.slice(0, -1), { keys }),
    await problemOf(`key/${Buffer.from('[]').toString('base64url')}.${signature}`, { keys }),
  ]).toEqual(['bad_signature', 'unknown_key', 'expired', 'not_yet_valid', 'other_product', 'malformed', 'malformed'])
})
