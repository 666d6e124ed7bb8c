import { afterAll, beforeAll, expect, it } from 'vitest'
import { errorOf, startWorld, unique, type World } from './world.ts'

// What a compromised key signed last is refused to everybody, until it is signed anew. Catches: a vault that nobody can read or write any more
// after its last writer was found to be compromised; what was reviewed taken for sound by who did not review it.
// Seen red: items not signed anew; the head not signed where no item is to be; the list of access left as it was, and the keys of the vault;
// every read a review; other vaults not found by name any more.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

async function vaultWith(role: 'WRITE' | 'ADMIN') {
  const vault = unique('vault')
  const { client } = world.device()
  await client.vaults.create({ name: vault })
  for (const name of ['db', 'other'])
    await client.items.create(vault, { name, fields: [{ label: name, value: name, isEnvironmentVariable: true }] })
  const bot = await world.agent('deploy', { permissions: ['machine.all'] })
  await client.permissions.grant({ vault }, { principal: bot.principal, role })
  const [key] = await world.alice.transparency.keys(bot.principal)
  const keyId = String(key?.keyId)
  return { vault, bot, keyId, compromise: () => world.alice.agents.revokeKey(keyId, 'compromised') }
}

const fresh = () => world.device().client
const readAll = async (vault: string) => (await fresh().secrets.env({ vault })).toObject()

it('gives a vault back to everybody whose last writer was compromised, with what was written', async () => {
  const { vault, bot, keyId, compromise } = await vaultWith('WRITE')
  const ref = `sr://${vault}/db/db`
  await bot.client.secrets.set(ref, 'theirs')
  expect(await fresh().vaults.review(vault)).toMatchObject({ head: null, access: null, items: [] })
  await compromise()
  const { client } = world.device()
  const db = (await client.vaults.review(vault)).items
  expect(await client.vaults.review(vault)).toMatchObject({
    ...{ name: vault, head: keyId, access: null },
    items: [{ name: 'db', by: keyId }],
  })
  // To have looked at it makes nothing of it sound.
  for (const work of [
    () => client.secrets.set(ref, 'mine'),
    () => client.secrets.get(ref),
    () => client.secrets.get(`sr://${vault}/other/other`),
    () => readAll(vault),
  ])
    expect(await errorOf(work())).toMatchObject({ code: 'signer_compromised' })
  expect((await client.vaults.attest(vault)).items).toEqual(db)
  expect((await client.secrets.get(ref)).reveal()).toBe('theirs')
  expect((await fresh().items.get(vault, 'db')).receipt.signerKeyId).toBe(world.founder.identity.kid)
  const known = await fresh().vaults.get(vault)
  expect(await fresh().vaults.attest(vault)).toMatchObject({ head: null, access: null, items: [] })
  expect((await fresh().vaults.get(vault)).headVersion).toBe(known.headVersion)
  await fresh().secrets.set(ref, 'mine')
  await fresh().vaults.rotateKey(vault, { reason: 'key-compromised' })
  expect(await readAll(vault)).toEqual({ db: 'mine', other: 'other' })
})

it('signs the head alone where nothing else is to be signed', async () => {
  const { vault, bot, keyId, compromise } = await vaultWith('WRITE')
  const elsewhere = unique('vault')
  await world.alice.vaults.create({ name: elsewhere })
  await world.alice.permissions.grant({ vault: elsewhere }, { principal: bot.principal, role: 'WRITE' })
  await bot.client.items.move(vault, 'other', { vault: elsewhere })
  await compromise()
  expect(await fresh().vaults.attest(vault)).toMatchObject({ head: keyId, access: null, items: [] })
  expect(await readAll(vault)).toEqual({ db: 'db' })
  expect(await errorOf(readAll(elsewhere))).toMatchObject({ code: 'signer_compromised' })
})

it('renews the list of access that a compromised administrator signed, and every key they wrapped', async () => {
  const { vault, bot, keyId, compromise } = await vaultWith('ADMIN')
  const reader = await world.agent('worker', { permissions: ['machine.all'] })
  await bot.client.permissions.grant({ vault }, { principal: reader.principal, role: 'READ' })
  const ref = `sr://${vault}/db/db`
  expect((await reader.client.secrets.get(ref)).reveal()).toBe('db')
  await compromise()
  expect(await errorOf(reader.client.secrets.get(ref))).toMatchObject({ code: 'signer_compromised' })
  expect(await fresh().vaults.attest(vault)).toMatchObject({ head: keyId, access: keyId, items: [] })
  expect((await reader.client.secrets.get(ref)).reveal()).toBe('db')
  expect(await fresh().vaults.review(vault)).toMatchObject({ head: null, access: null, items: [] })
})
