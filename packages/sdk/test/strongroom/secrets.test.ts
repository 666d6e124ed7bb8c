import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  AmbiguousReferenceError,
  ConflictError,
  NotCachedError,
  NotFoundError,
  ValidationError,
} from '../../src/strongroom/public-errors.ts'
import { StrongroomError } from '../../src/strongroom/strongroom-error.ts'
import { makeWire } from '../engine/server.ts'
import { errorOf, makeTwin, makeTwinField, memoryCache, startWorld, unique, type World } from './world.ts'

// Catches: a name that is believed before it is verified, a name that has moved on since, two items made of one reference by two
// writers, a version that is overwritten unseen, an environment that is older than allowed.
// Seen red: the names in the server's list believed, so that it could choose between two vaults of one name.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

async function vaultWith(items: Readonly<Record<string, Readonly<Record<string, string>>>>): Promise<string> {
  const name = unique('vault')
  await world.alice.vaults.create({ name })
  for (const [item, fields] of Object.entries(items))
    await world.alice.items.create(name, {
      name: item,
      fields: Object.entries(fields).map(([label, value]) => ({
        label,
        value,
        isEnvironmentVariable: label === label.toUpperCase(),
      })),
    })
  return name
}

it('sets, gets, changes and removes a secret by names', async () => {
  const vault = await vaultWith({})
  const ref = `sr://${vault}/stripe/SECRET_KEY`
  expect(await world.alice.secrets.set(ref, 'sk_1')).toEqual({ ref, version: 1, created: true })
  const { client } = world.device()
  const secret = await client.secrets.get(ref)
  expect([secret.reveal(), secret.version, secret.name, `${secret}`]).toEqual(['sk_1', 1, 'SECRET_KEY', `‹${ref}›`])
  expect(secret.receipt).toMatchObject({
    signerKeyId: world.founder.identity.kid,
    inclusion: 'verified',
    source: 'network',
  })
  expect(await client.secrets.set(ref, 'sk_2')).toEqual({ ref, version: 2, created: false })
  expect((await world.alice.secrets.get(ref)).reveal()).toBe('sk_2')
  const note = `sr://${vault}/stripe/note`
  await client.secrets.set(note, new Uint8Array([0, 255, 1]), { env: false })
  const bytes = await world.alice.secrets.get(note)
  expect([...bytes.bytes()]).toEqual([0, 255, 1])
  expect(() => bytes.reveal()).toThrow(expect.objectContaining({ code: 'secret_not_text' }))
  await world.alice.secrets.remove(ref)
  expect(await errorOf(client.secrets.get(ref))).toBeInstanceOf(NotFoundError)
  expect(await client.secrets.set(ref, 'again')).toMatchObject({ created: true })
  expect((await world.alice.secrets.get(ref)).reveal()).toBe('again')
})

it('gets by ids what it gets by names', async () => {
  const name = await vaultWith({ db: { URL: 'u', pin: '1' } })
  const { vaultId } = await world.alice.vaults.get(name)
  const item = await world.alice.items.get(vaultId, 'db')
  for (const { fieldId, label, secret } of item.fields) {
    const found = await world.device().client.secrets.get(`sr://${vaultId}/${item.itemId}/${fieldId}`)
    expect([found.name, found.reveal()]).toEqual([label, secret.reveal()])
  }
})

it('refuses a name that two vaults have, whatever the list calls them', async () => {
  const name = unique('twin')
  const bot = await world.agent('deploy', { permissions: ['machine.all'] })
  const first = await bot.client.vaults.create({ name })
  // Who does not see the first one can make a second.
  const access = [{ principal: bot.principal, role: 'ADMIN' }] as const
  const second = await world.alice.vaults.create({ name, access })
  const candidates = [first.vaultId, second.vaultId].sort()
  const sorted = (error: Record<string, unknown>) => [...(error.candidates as string[])].sort()
  expect(sorted(await errorOf(bot.again().secrets.env({ vault: name })))).toEqual(candidates)
  const { wire, fetch } = makeWire()
  wire.tamper = (asked, answer) => {
    if (asked !== 'GET /vault') return undefined
    const { data, ...rest } = answer as { data: { vaultId: string; name: string; status: string }[] }
    const hide = (row: { vaultId: string }) => (row.vaultId === first.vaultId ? { ...row, name: 'another' } : row)
    return { ...rest, data: data.map(hide) }
  }
  const steered = await errorOf(bot.again({ fetch }).secrets.env({ vault: name }))
  expect(steered).toBeInstanceOf(AmbiguousReferenceError)
  expect(sorted(steered)).toEqual(candidates)
  await bot.client.vaults.update(first.vaultId, { name: unique('other') })
  expect((await bot.again().secrets.env({ vault: name })).receipt?.vaultId).toBe(second.vaultId)
})

it('refuses a name that several things have, and names them by id', async () => {
  const vault = await vaultWith({ twin: { A: '1' } })
  await makeTwin(world, vault, 'twin', 'B', '2')
  const error = await errorOf(world.alice.secrets.get(`sr://${vault}/twin/A`))
  expect(error).toBeInstanceOf(AmbiguousReferenceError)
  expect(error.candidates).toHaveLength(2)
  expect(await errorOf(world.alice.secrets.set(`sr://${vault}/twin/A`, 'x'))).toBeInstanceOf(AmbiguousReferenceError)
  await world.alice.items.create(vault, { name: 'pair', fields: [{ label: 'same', value: '1' }] })
  await makeTwinField(world, vault, 'pair', 'same', '2')
  expect(await errorOf(world.alice.secrets.get(`sr://${vault}/pair/same`))).toMatchObject({
    code: 'ambiguous_reference',
  })
  const bot = await world.agent('deployNext', { permissions: ['machine.all'] })
  const access = [{ principal: world.founder.identity.key.principal, role: 'READ' }] as const
  await bot.client.vaults.create({ name: vault, access })
  const twice = await errorOf(world.device().client.secrets.get(`sr://${vault}/pair/x`))
  expect(twice).toMatchObject({ code: 'ambiguous_reference', candidates: [expect.any(String), expect.any(String)] })
})

it('says what is not there, and what is close to it', async () => {
  const vault = await vaultWith({ stripe: { KEY: '1' } })
  const { client } = world.device()
  expect(await errorOf(client.secrets.get(`sr://${vault}x/stripe/KEY`))).toMatchObject({
    code: 'vault_not_found',
    suggestions: expect.arrayContaining([vault]),
  })
  expect(await errorOf(client.secrets.get(`sr://${vault}/strpe/KEY`))).toMatchObject({
    code: 'vault_item_not_found',
    status: 404,
    suggestions: ['stripe'],
  })
  expect(await errorOf(client.secrets.get(`sr://${vault}/stripe/KEYS`))).toMatchObject({
    code: 'field_not_found',
    suggestions: ['KEY'],
  })
  expect(await errorOf(client.secrets.get('sr://only/two'))).toMatchObject({ code: 'reference_invalid' })
  expect(await errorOf(client.secrets.remove(`sr://${vault}/none/KEY`))).toBeInstanceOf(NotFoundError)
  expect(await errorOf(client.secrets.remove(`sr://${vault}/stripe/none`))).toBeInstanceOf(NotFoundError)
})

it('reads many of a vault in two requests at first, and in one when it knows the vault', async () => {
  const vault = await vaultWith({ one: { A: '1', B: '2' }, two: { C: '3' } })
  const { vaultId } = await world.alice.vaults.get(vault)
  const { client, wire } = world.device()
  const refs = { a: `sr://${vaultId}/one/A`, b: `sr://${vaultId}/one/B`, c: `sr://${vaultId}/two/C` }
  const all = await client.secrets.getAll(refs)
  expect([all.a.reveal(), all.b.reveal(), all.c.reveal()]).toEqual(['1', '2', '3'])
  expect(wire.asked).toHaveLength(2)
  await client.secrets.getAll(refs)
  expect(wire.asked).toHaveLength(3)
  await world.alice.items.update(vault, 'two', { name: 'three' })
  await world.alice.items.create(vault, { name: 'two', fields: [{ label: 'C', value: 'not exported' }] })
  expect((await client.secrets.getAll(refs)).c.reveal()).toBe('not exported')
})

it('gets all or nothing, or each by itself', async () => {
  const vault = await vaultWith({ one: { A: '1' } })
  const refs = { good: `sr://${vault}/one/A`, absent: `sr://${vault}/one/Z`, elsewhere: 'sr://nowhere/a/b', bad: 'x' }
  const { client } = world.device()
  expect(await errorOf(client.secrets.getAll(refs))).toBeInstanceOf(StrongroomError)
  const each = await client.secrets.tryGetAll(refs)
  expect(each.good.ok && each.good.secret.reveal()).toBe('1')
  expect([each.absent, each.elsewhere, each.bad].map((one) => !one.ok && one.error.code)).toEqual([
    'field_not_found',
    'vault_not_found',
    'reference_invalid',
  ])
})

it('writes only on the version that is expected', async () => {
  const vault = await vaultWith({})
  const ref = `sr://${vault}/a/B`
  await world.alice.secrets.set(ref, '1', { ifVersion: 0 })
  expect(await errorOf(world.alice.secrets.set(ref, '2', { ifVersion: 0 }))).toBeInstanceOf(ConflictError)
  expect(await errorOf(world.alice.secrets.set(ref, '2', { ifVersion: 5 }))).toMatchObject({ currentVersion: 1 })
  await world.alice.secrets.set(ref, '2', { ifVersion: 1 })
  expect((await world.alice.secrets.get(ref)).reveal()).toBe('2')
})

it('makes one item and one field of what many write at once', async () => {
  const vault = await vaultWith({})
  const writers = Array.from({ length: 6 }, () => world.device().client)
  await Promise.all(writers.map((client, i) => client.secrets.set(`sr://${vault}/shared/F${i % 3}`, String(i))))
  const items = await world.alice.items.list(vault)
  expect(items.map(({ name, labels }) => [name, [...labels].sort()])).toEqual([['shared', ['F0', 'F1', 'F2']]])
})

it('refuses a value that is too large, before anything is sent', async () => {
  const vault = await vaultWith({})
  const { client, wire } = world.device()
  expect(await errorOf(client.secrets.set(`sr://${vault}/a/B`, 'x'.repeat(70_000)))).toMatchObject({
    code: 'value_too_large',
  })
  const label = `sr://${vault}/a/${'L'.repeat(2000)}`
  expect(await errorOf(client.secrets.set(label, 'x'))).toBeInstanceOf(ValidationError)
  expect(wire.asked.filter((asked) => !asked.startsWith('GET'))).toEqual([])
})

it('sets no variable at all where one holds a NUL, which the system would cut', async () => {
  const vault = await vaultWith({ app: { A: 'whole', CUT: 'secret\0tail' } })
  const env = await world.device().client.secrets.env({ vault })
  const target: Record<string, string | undefined> = {}
  const refused = await errorOf((async () => env.applyTo(target))())
  expect([refused.code, refused.message, target]).toEqual([
    'value_not_expressible',
    'CUT holds a NUL, which no environment can',
    {},
  ])
})

it('gives the environment of a vault, applies it, and forgets it', async () => {
  const vault = await vaultWith({ app: { URL: 'postgres://x', TOKEN: 't-0123', note: 'n' } })
  const env = await world.device().client.secrets.env({ vault })
  expect([...env.names].sort()).toEqual(['TOKEN', 'URL'])
  const target: Record<string, string | undefined> = { TOKEN: 'mine' }
  expect(env.applyTo(target)).toEqual(['URL'])
  expect(target).toEqual({ TOKEN: 'mine', URL: 'postgres://x' })
  env.applyTo(target, { overwrite: true })
  expect(target).toEqual(env.toObject())
  expect(env.receipt).toMatchObject({ source: 'network' })
  const redactor = env.redactor()
  expect(redactor.write('got postgres://x') + redactor.end()).toBe('got ‹URL›')
  expect(JSON.stringify(env)).not.toContain('postgres')
  const token = env.get('TOKEN')
  env[Symbol.dispose]()
  expect(() => token?.reveal()).toThrow(expect.objectContaining({ code: 'secret_disposed' }))
  const refs = await world
    .device()
    .client.secrets.env({ refs: { DB: `sr://${vault}/app/URL`, N: `sr://${vault}/app/note` } })
  expect(refs.toObject()).toEqual({ DB: 'postgres://x', N: 'n' })
})

it('answers from the cache where the server is away, verified, and within the age it is given', async () => {
  const vault = await vaultWith({ app: { URL: 'u' } })
  const { vaultId } = await world.alice.vaults.get(vault)
  const cache = memoryCache()
  let isAway = false
  const through: typeof fetch = async (input, init) => {
    if (isAway) throw new TypeError('fetch failed')
    return fetch(input, init)
  }
  const { client } = world.device({ cache, fetch: through, maxRetries: 0 })
  expect(await errorOf(client.secrets.env({ vault: vaultId }, { offline: true }))).toBeInstanceOf(NotCachedError)
  await client.secrets.env({ vault: vaultId })
  isAway = true
  const env = await client.secrets.env({ vault: vaultId })
  expect([env.toObject(), env.receipt?.source]).toEqual([{ URL: 'u' }, 'cache'])
  expect((await client.secrets.env({ vault: vaultId }, { offline: true })).toObject()).toEqual({ URL: 'u' })
  expect(await errorOf(client.secrets.env({ vault: vaultId }, { offline: false }))).toMatchObject({
    code: 'connection_failed',
  })
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect(await errorOf(client.secrets.env({ vault: vaultId }, { offline: true, maxAge: '1ms' }))).toMatchObject({
    code: 'stale_view',
  })
})

it('does not believe a name that the server only claims', async () => {
  const real = await vaultWith({ app: { KEY: 'real' } })
  const fake = await vaultWith({ app: { KEY: 'fake' } })
  const { client, wire } = world.device()
  wire.tamper = (asked, answer) => {
    if (asked !== 'GET /vault') return undefined
    const { data } = answer as { data: { name: string }[] }
    const renamed = data
      .filter(({ name }) => name !== real)
      .map((one) => ({ ...one, name: one.name === fake ? real : one.name }))
    return { data: renamed }
  }
  expect(await errorOf(client.secrets.get(`sr://${real}/app/KEY`))).toMatchObject({ code: 'vault_not_found' })
  expect(await errorOf(client.secrets.set(`sr://${real}/app/KEY`, 'leak'))).toMatchObject({ code: 'vault_not_found' })
  expect(await errorOf(client.secrets.env({ vault: real }))).toMatchObject({ code: 'vault_not_found' })
})

it('follows a vault that was renamed, and another that took its name', async () => {
  const name = await vaultWith({ app: { KEY: 'old' } })
  const { client } = world.device()
  expect((await client.secrets.get(`sr://${name}/app/KEY`)).reveal()).toBe('old')
  await world.alice.vaults.update(name, { name: `${name}-before` })
  await world.alice.vaults.create({ name })
  await world.alice.secrets.set(`sr://${name}/app/KEY`, 'new')
  expect((await client.secrets.get(`sr://${name}/app/KEY`)).reveal()).toBe('new')
  await client.secrets.set(`sr://${name}/app/KEY`, 'newer')
  expect((await world.alice.secrets.get(`sr://${name}-before/app/KEY`)).reveal()).toBe('old')
})
