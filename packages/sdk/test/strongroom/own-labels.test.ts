import { afterAll, beforeAll, expect, it } from 'vitest'
import { AmbiguousReferenceError } from '../../src/strongroom/public-errors.ts'
import { errorOf, makeTwinField, startWorld, unique, type World } from './world.ts'

// Catches: a second field of one label in an item, and a reference that gives one of two without a word.
// Seen red: labels of new fields not compared; those of the item not looked at, nor those of a version that comes back; looked at in memory
// only, and only on the first head; a field outside of the environment given before the one in it; an item that has two from before which
// nobody can change any more.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const plain = (label: string, value = 'x') => ({ label, value })
const variable = (label: string, value = 'x') => ({ label, value, isEnvironmentVariable: true })

async function vaultWith(name: string, ...fields: readonly ReturnType<typeof plain>[]) {
  const { client } = world.device()
  const vault = unique('vault')
  await client.vaults.create({ name: vault })
  const item = await client.items.create(vault, { name, fields })
  const idOf = (label: string): string => item.fields.find((field) => field.label === label)?.fieldId ?? ''
  return { client, vault, idOf }
}

it('refuses a second field of a label in one item, however it would come in, and nothing changes', async () => {
  const { client, vault, idOf } = await vaultWith('i', variable('A'), plain('b'))
  const before = (await client.items.get(vault, 'i')).receipt.headVersion
  const many = Array.from({ length: 600 }, (_, i) => ({ name: `many ${i}`, fields: [plain('a')] }))
  for (const refused of [
    () => client.items.create(vault, { name: 'j', fields: [plain('c'), variable('c')] }),
    () => client.items.import(vault, [...many, { name: 'j', fields: [plain('c'), plain('c')] }]),
    () => client.items.update(vault, 'i', { add: [plain('c'), plain('c')] }),
    () => client.items.update(vault, 'i', { add: [plain('A')] }),
    () => client.items.update(vault, 'i', { edit: [{ fieldId: idOf('A'), label: 'b' }] }),
    () => client.items.update(vault, 'i', { add: [plain('c')], edit: [{ fieldId: idOf('A'), label: 'c' }] }),
  ])
    expect(await errorOf(refused())).toMatchObject({ name: 'ConflictError', code: 'name_taken', status: 409 })
  expect((await client.items.get(vault, 'i')).receipt.headVersion).toBe(before)
  // Labels that are exchanged, given up or taken along are those of one field each.
  const swap = [
    { fieldId: idOf('A'), label: 'b' },
    { fieldId: idOf('b'), label: 'A' },
  ]
  await client.items.update(vault, 'i', { edit: swap })
  await client.items.update(vault, 'i', { remove: [idOf('A')], add: [plain('b')] })
  const { fields } = await client.items.update(vault, 'i', { edit: [{ fieldId: idOf('b'), label: 'A', value: 'y' }] })
  expect(fields.map(({ label }) => label).sort()).toEqual(['A', 'b'])
})

it('goes by the fields that the item has now', async () => {
  const { client: second, vault, idOf } = await vaultWith('i', plain('a'))
  const { client: first, wire } = world.device()
  await first.items.get(vault, 'i')
  const lists: string[] = []
  wire.before = async (asked) => {
    if (!/^GET .*\/items$/.test(asked)) return
    lists.push(asked)
    // After the list by which the item was found, before the one that the change is built on.
    if (lists.length === 2) await second.items.update(vault, 'i', { edit: [{ fieldId: idOf('a'), label: 'given up' }] })
  }
  await first.items.update(vault, 'i', { add: [plain('a')] })
  const ended = await Promise.all(
    [first, second, world.device().client, world.device().client].map((client) =>
      client.items.update(vault, 'i', { add: [plain('wanted')] }).then(
        () => 'made',
        (error: { code: string }) => error.code,
      ),
    ),
  )
  expect(ended.sort()).toEqual(['made', 'name_taken', 'name_taken', 'name_taken'])
})

it('gives neither of two fields of one label, and names both; but the one that is in the environment if one is', async () => {
  const { client, vault, idOf } = await vaultWith('i', variable('A', 'env'), plain('b', 'first'), variable('ONLY', 'o'))
  const twins = [
    await makeTwinField(world, vault, 'i', 'A', 'twin'),
    await makeTwinField(world, vault, 'i', 'b', 'twin'),
  ]
  const candidates = (label: string, twin?: string) => expect.arrayContaining([idOf(label), twin])
  const [a, b] = [`sr://${vault}/i/A`, `sr://${vault}/i/b`]
  // The second time with what it remembers.
  for (const reader of [client, world.device().client])
    for (const _ of ['read', 'again']) {
      for (const [label, twin, work] of [
        ['b', twins[1], () => reader.secrets.get(b)],
        ['b', twins[1], () => reader.secrets.getAll({ b })],
        ['b', twins[1], () => reader.secrets.env({ refs: { b } })],
        ['b', twins[1], () => reader.secrets.set(b, 'x')],
        ['b', twins[1], () => reader.secrets.remove(b)],
        ['A', twins[0], () => reader.secrets.set(a, 'x')],
        ['A', twins[0], () => reader.secrets.remove(a)],
      ] as const) {
        const error = await errorOf(work())
        expect(error).toBeInstanceOf(AmbiguousReferenceError)
        expect(error.candidates).toEqual(candidates(label, twin))
      }
      const { ref, other } = await reader.secrets.tryGetAll({ ref: b, other: a })
      expect([ref.ok, other.ok && other.secret.reveal()]).toEqual([false, 'env'])
      expect((await reader.secrets.get(`sr://${vault}/i/${idOf('A')}`)).reveal()).toBe('env')
      expect((await reader.secrets.get(`sr://${vault}/i/${twins[0]}`)).reveal()).toBe('twin')
      expect((await reader.secrets.env({ vault })).toObject()).toEqual({ A: 'env', ONLY: 'o' })
    }
  // What another client has made can be written, and put right.
  await client.items.update(vault, 'i', { website: 'https://i.example' })
  await client.items.update(vault, 'i', { edit: [{ fieldId: twins[1] ?? '', value: 'newer' }] })
  await client.items.update(vault, 'i', { edit: [{ fieldId: twins[0] ?? '', label: 'A 2' }], remove: [idOf('b')] })
  expect([(await client.secrets.get(a)).reveal(), (await client.secrets.get(b)).reveal()]).toEqual(['env', 'newer'])
})

it('brings no version back that had two fields of one label', async () => {
  const { client, vault, idOf } = await vaultWith('i', plain('b', 'first'))
  const twin = await makeTwinField(world, vault, 'i', 'b', 'twin')
  await client.items.update(vault, 'i', { remove: [twin] })
  expect(await errorOf(client.items.restoreVersion(vault, 'i', 2))).toMatchObject({ code: 'name_taken' })
  expect((await client.items.get(vault, 'i')).fields.map(({ fieldId }) => fieldId)).toEqual([idOf('b')])
})
