import { afterAll, beforeAll, expect, it } from 'vitest'
import { ConflictError, NotFoundError } from '../../src/strongroom/public-errors.ts'
import type { Strongroom } from '../../src/strongroom/strongroom.ts'
import { errorOf, makeTwin, startWorld, unique, type World } from './world.ts'

// Catches: a writer that goes on with what a name meant before, in the item, in the vault or in the field; a name that cannot be
// written again after what had it was archived, renamed or relabelled; an answer from memory about what others have changed since.
// Seen red: a plan carried over to a newer head instead of made anew; a name of a vault checked on the first head only; ids that
// follow from names used again although something has them; absence and versions told from memory; a change of an item that is no
// longer in sight not looked for again; a new field in the environment whatever its name.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

interface Writers {
  readonly vault: string
  /** Has written the vault once and remembers it. */
  readonly first: Strongroom
  readonly second: Strongroom
}

/** Two devices; the first has written `refs` and hears nothing of what the second does. */
async function writersOf(...refs: readonly string[]): Promise<Writers> {
  const vault = unique('vault')
  const [first, second] = [world.device().client, world.device().client]
  await first.vaults.create({ name: vault })
  for (const ref of refs) await first.secrets.set(`sr://${vault}/${ref}`, 'old')
  return { vault, first, second }
}

/** What somebody reads who remembers nothing. */
async function read(vault: string, ref: string): Promise<string> {
  return (await world.device().client.secrets.get(`sr://${vault}/${ref}`)).reveal()
}

const plain = (label: string, value: string) => ({ label, value, isEnvironmentVariable: false })

it('writes the item that has the name now, not the one that had it', async () => {
  const { vault, first, second } = await writersOf('stripe/KEY')
  await second.items.update(vault, 'stripe', { name: 'stripe-2025' })
  await second.items.create(vault, { name: 'stripe', fields: [plain('KEY', 'new')] })
  expect(await first.secrets.set(`sr://${vault}/stripe/KEY`, 'rotated')).toMatchObject({ created: false, version: 2 })
  expect([await read(vault, 'stripe/KEY'), await read(vault, 'stripe-2025/KEY')]).toEqual(['rotated', 'old'])
})

it('writes the field that has the label now, and makes no second one of a label', async () => {
  const { vault, first, second } = await writersOf('i/ONE')
  const item = await second.items.update(vault, 'i', { add: [plain('p q', 'theirs')] })
  expect(await first.secrets.set(`sr://${vault}/i/p q`, 'mine', { env: false })).toMatchObject({ created: false })
  expect(await read(vault, 'i/p q')).toBe('mine')
  const [swapped] = item.fields.filter(({ label }) => label === 'p q')
  await second.items.update(vault, 'i', { edit: [{ fieldId: String(swapped?.fieldId), label: 'before' }] })
  await second.items.update(vault, 'i', { add: [plain('p q', 'another')] })
  await first.secrets.set(`sr://${vault}/i/p q`, 'again')
  expect([await read(vault, 'i/p q'), await read(vault, 'i/before')]).toEqual(['again', 'mine'])
  expect((await second.items.get(vault, 'i')).fields).toHaveLength(3)
})

it('writes the vault that has the name now, whether the other was renamed or archived', async () => {
  const { vault, first, second } = await writersOf('i/F')
  const ref = `sr://${vault}/i/F`
  await second.vaults.update(vault, { name: `${vault}-old` })
  await second.vaults.create({ name: vault })
  await second.secrets.set(ref, 'theirs')
  await first.secrets.set(ref, 'mine')
  expect([await read(vault, 'i/F'), await read(`${vault}-old`, 'i/F')]).toEqual(['mine', 'old'])
  const { vaultId } = await second.vaults.get(vault)
  await second.vaults.archive(vault)
  expect(await errorOf(first.secrets.set(ref, 'nowhere'))).toMatchObject({ code: 'vault_not_found' })
  await second.vaults.create({ name: vault })
  expect(await first.secrets.set(ref, 'third')).toMatchObject({ created: true })
  expect([await read(vault, 'i/F'), await read(vaultId, 'i/F')]).toEqual(['third', 'mine'])
})

it('writes the vault that has the name now where the other was taken away', async () => {
  const { second } = await writersOf()
  const bot = await world.agent('worker', { permissions: ['machine.all'] })
  const access = [{ principal: bot.principal, role: 'WRITE' }] as const
  const [shared, own] = [unique('shared'), unique('own')]
  await second.vaults.create({ name: shared, access })
  await bot.client.secrets.set(`sr://${shared}/i/F`, 'bot')
  await second.permissions.revoke({ vault: shared }, bot.principal)
  await second.vaults.create({ name: own, access })
  expect(await errorOf(bot.client.secrets.set(`sr://${shared}/i/F`, 'x'))).toMatchObject({ code: 'vault_not_found' })
  await second.vaults.update(shared, { name: unique('kept') })
  await second.vaults.update(own, { name: shared })
  await bot.client.secrets.set(`sr://${shared}/i/F`, 'anew')
  expect(await read(shared, 'i/F')).toBe('anew')
})

it('removes what has the name now, and nothing that had it', async () => {
  const { vault, first, second } = await writersOf('a/ONE', 'b/TWO')
  await second.items.update(vault, 'a', { name: 'a-keep' })
  expect(await errorOf(first.secrets.remove(`sr://${vault}/a/ONE`))).toMatchObject({ code: 'vault_item_not_found' })
  expect(await read(vault, 'a-keep/ONE')).toBe('old')
  await second.items.update(vault, 'b', { name: 'b-keep' })
  await second.items.create(vault, { name: 'b', fields: [plain('TWO', 'x'), plain('three', 'y')] })
  await first.secrets.remove(`sr://${vault}/b/TWO`)
  expect(await read(vault, 'b-keep/TWO')).toBe('old')
  expect((await second.items.get(vault, 'b')).fields.map(({ label }) => label)).toEqual(['three'])
})

it('makes an item anew where the one that had the name has left for a vault that is out of sight', async () => {
  const bot = await world.agent('carol', { permissions: ['machine.all'] })
  const [vault, away] = [unique('vault'), unique('away')]
  await world.alice.vaults.create({ name: vault, access: [{ principal: bot.principal, role: 'WRITE' }] })
  await world.alice.vaults.create({ name: away })
  await bot.client.secrets.set(`sr://${vault}/i/F`, 'old')
  await world.alice.items.move(vault, 'i', { vault: away })
  expect(await bot.client.secrets.set(`sr://${vault}/i/F`, 'new')).toMatchObject({ created: true })
  expect([await read(vault, 'i/F'), await read(away, 'i/F')]).toEqual(['new', 'old'])
})

it('writes a name again after what had it was archived, renamed or relabelled', async () => {
  const { vault, first, second } = await writersOf('app/TOKEN', 'k/F2', 'r/R')
  const [token, field] = [`sr://${vault}/app/TOKEN`, `sr://${vault}/k/F2`]
  for (const value of ['once', 'twice']) {
    await first.items.archive(vault, 'app')
    expect(await first.secrets.set(token, value)).toMatchObject({ created: true, version: 1 })
    expect(await read(vault, 'app/TOKEN')).toBe(value)
  }
  for (const label of ['F3', 'F4']) {
    const [stored] = (await first.items.get(vault, 'k')).fields.filter((one) => one.label === 'F2')
    await first.items.update(vault, 'k', { edit: [{ fieldId: String(stored?.fieldId), label }] })
    expect(await first.secrets.set(field, `after ${label}`)).toMatchObject({ created: true, version: 1 })
  }
  expect(await Promise.all(['k/F2', 'k/F3', 'k/F4'].map((ref) => read(vault, ref)))).toEqual([
    'after F4',
    'old',
    'after F3',
  ])
  await second.items.update(vault, 'r', { name: 'r-before' })
  expect(await first.secrets.set(`sr://${vault}/r/R`, 'new', { env: false })).toMatchObject({ created: true })
  expect([await read(vault, 'r/R'), await read(vault, 'r-before/R')]).toEqual(['new', 'old'])
})

it('makes one item of what many write at once, also where an archived one had the name', async () => {
  const { vault, first } = await writersOf('shared/F0')
  await first.items.archive(vault, 'shared')
  const writers = Array.from({ length: 6 }, () => world.device().client)
  await Promise.all(writers.map((client, i) => client.secrets.set(`sr://${vault}/shared/F${i % 3}`, String(i))))
  const items = await world.device().client.items.list(vault)
  expect(items.map(({ name, labels }) => [name, [...labels].sort()])).toEqual([['shared', ['F0', 'F1', 'F2']]])
})

it('asks before it says that something is absent, has another version or is there twice', async () => {
  const { vault, first, second } = await writersOf('i/F')
  const ref = `sr://${vault}/i/F`
  await second.secrets.set(`sr://${vault}/i/G`, 'theirs')
  await first.secrets.remove(`sr://${vault}/i/G`)
  expect(await errorOf(second.secrets.remove(`sr://${vault}/i/G`))).toBeInstanceOf(NotFoundError)
  await second.secrets.set(`sr://${vault}/j/H`, 'theirs')
  await first.secrets.remove(`sr://${vault}/j/H`)
  await second.secrets.set(ref, 'second')
  expect(await first.secrets.set(ref, 'third', { ifVersion: 2 })).toMatchObject({ version: 3 })
  const late = await errorOf(second.secrets.set(ref, 'lost', { ifVersion: 2 }))
  expect([late, late.currentVersion]).toEqual([expect.any(ConflictError), 3])
  expect(await errorOf(first.secrets.set(ref, 'lost', { ifVersion: 0 }))).toMatchObject({ currentVersion: 3 })
  expect(await read(vault, 'i/F')).toBe('third')
  await first.items.create(vault, { name: 'twin', fields: [plain('T', '1')] })
  const other = await makeTwin(world, vault, 'twin', 'T', '2')
  expect(await errorOf(first.secrets.set(`sr://${vault}/twin/T`, 'x'))).toMatchObject({ code: 'ambiguous_reference' })
  await second.items.update(vault, other, { name: 'single' })
  await first.secrets.set(`sr://${vault}/twin/T`, 'x')
  expect([await read(vault, 'twin/T'), await read(vault, 'single/T')]).toEqual(['x', '2'])
})

it('writes on what it remembers in one request', async () => {
  const { client, wire } = world.device()
  const { vault } = await writersOf('i/F')
  await client.secrets.set(`sr://${vault}/i/F`, '1')
  const before = wire.asked.length
  await client.secrets.set(`sr://${vault}/i/F`, '2')
  await client.secrets.set(`sr://${vault}/i/G`, '3')
  await client.secrets.set(`sr://${vault}/new/H`, '4')
  expect(wire.asked.length - before).toBe(3)
})

it('keeps a new field out of the environment whose name no process should get, unless it is told to', async () => {
  const { vault, first } = await writersOf('i/PLAIN')
  for (const label of ['a=b', 'PATH', 'node_options']) await first.secrets.set(`sr://${vault}/i/${label}`, 'value')
  const { client } = world.device()
  expect((await client.secrets.env({ vault })).names).toEqual(['PLAIN'])
  expect(await read(vault, 'i/PATH')).toBe('value')
  await first.secrets.set(`sr://${vault}/i/LD_PRELOAD`, 'meant', { env: true })
  expect(await errorOf(world.device().client.secrets.env({ vault }))).toMatchObject({ code: 'env_name_refused' })
})
