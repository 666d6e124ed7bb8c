import { afterAll, beforeAll, expect, it } from 'vitest'
import { errorOf, startWorld, unique, type World } from './world.ts'

// Catches: a version that says of itself that something was changed and has nothing new; a change that is taken for none because of what
// is remembered; a value that cannot be written again.
// Seen red: everything written (`ensureChanged` not asked); nothing written because of the content in hand; a field that is gone taken for
// one that stays as it is; a value that is the same left as it was; a vault whose name is the same written again.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

async function start() {
  const vault = unique('vault')
  const { client, wire } = world.device()
  await client.vaults.create({ name: vault })
  const fields = [
    { label: 'KEY', value: 'k', isEnvironmentVariable: true },
    { label: 'pin', value: '1234' },
  ]
  const item = await client.items.create(vault, { name: 'db', website: 'https://db.example', fields })
  const fieldId = String(item.fields.find(({ label }) => label === 'KEY')?.fieldId)
  wire.asked.length = 0
  return { vault, client, fieldId, item, sent: () => wire.asked.filter((asked) => !asked.startsWith('GET')) }
}

it('writes no version that says what the one before it says', async () => {
  const { vault, client, fieldId, item, sent } = await start()
  for (const change of [
    {},
    { add: [], edit: [], remove: [] },
    { name: 'db', website: 'https://db.example' },
    { edit: [{ fieldId }] },
    { edit: [{ fieldId, label: 'KEY', isEnvironmentVariable: true }] },
  ]) {
    const same = await client.items.update(vault, 'db', change)
    expect([change, same.version, same.receipt.headVersion]).toEqual([change, 1, item.receipt.headVersion])
  }
  expect(sent()).toEqual([])
  const unknown = { edit: [{ fieldId: 'fld_00000000000000000000000000' }] }
  expect(await errorOf(client.items.update(vault, 'db', unknown))).toMatchObject({ code: 'field_not_found' })
  for (const [i, change] of [
    { website: '' },
    { edit: [{ fieldId, isEnvironmentVariable: false }] },
    { edit: [{ fieldId, label: 'OTHER' }] },
    { remove: [fieldId] },
  ].entries())
    expect(await client.items.update(vault, 'db', change)).toMatchObject({ version: i + 2 })
})

it('signs no vault anew that is called as before', async () => {
  const { vault, client, sent } = await start()
  const { headVersion, classification } = await client.vaults.get(vault)
  for (const change of [{}, { name: vault }, { classification }, { name: vault, classification }])
    expect([change, (await client.vaults.update(vault, change)).headVersion]).toEqual([change, headVersion])
  expect(sent()).toEqual([])
  const other = classification === 'restricted' ? 'internal' : 'restricted'
  expect(await client.vaults.update(vault, { name: vault, classification: other })).toMatchObject({
    ...{ name: vault, classification: other, headVersion: headVersion + 1 },
  })
  // Somebody else has given it another name since: the one that this client remembers is new again.
  const { vaultId } = await client.vaults.get(vault)
  await world.device().client.vaults.update(vaultId, { name: unique('vault') })
  expect(await client.vaults.update(vaultId, { name: vault })).toMatchObject({
    name: vault,
    headVersion: headVersion + 3,
  })
})

it('says that nothing changes only of the item as it is now', async () => {
  const { vault, client } = await start()
  const { client: first, wire } = world.device()
  await first.items.get(vault, 'db')
  const lists: string[] = []
  wire.before = async (asked) => {
    if (!asked.startsWith('GET ') || !asked.includes('/items')) return
    lists.push(asked)
    // After the list by which the item was found, before the one that the change is built on.
    if (lists.length === 2) await client.items.update(vault, 'db', { website: 'https://other.example' })
  }
  expect(await first.items.update(vault, 'db', { website: 'https://db.example' })).toMatchObject({
    website: 'https://db.example',
    version: 3,
  })
})

it('writes a value again that is the same, also that of a writer whose key was found to be compromised', async () => {
  const { vault, client, fieldId } = await start()
  const ref = `sr://${vault}/db/KEY`
  expect(await client.secrets.set(ref, 'k')).toMatchObject({ version: 2, created: false })
  expect(await client.items.update(vault, 'db', { edit: [{ fieldId, value: 'k' }] })).toMatchObject({ version: 3 })
  const bot = await world.agent('deploy', { permissions: ['machine.all'] })
  await client.permissions.grant({ vault }, { principal: bot.principal, role: 'WRITE' })
  await bot.client.secrets.set(ref, 'theirs')
  await client.items.get(vault, 'db')
  const [key] = await world.alice.transparency.keys(bot.principal)
  await world.alice.agents.revokeKey(String(key?.keyId), 'compromised')
  expect(await errorOf(client.items.get(vault, 'db'))).toMatchObject({ code: 'signer_compromised' })
  expect(await errorOf(client.items.update(vault, 'db', {}))).toMatchObject({ code: 'signer_compromised' })
  await client.secrets.set(ref, 'theirs')
  const { version, receipt } = await client.items.get(vault, 'db')
  expect([version, receipt.signerKeyId]).toEqual([5, world.founder.identity.kid])
})
