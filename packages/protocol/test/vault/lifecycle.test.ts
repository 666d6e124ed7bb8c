// Catches: vaults whose members cannot read, or whose former members still can; rotations that never come to an end.
// Seen red: grants of joiners not committed; the old access list announced in the new epoch; admins not handed over, or not named
// anew; the old versions of a rotated vault not delivered to a reader who needs them.
import { beforeEach, describe, expect, it } from 'vitest'
import { type Envelope, peekDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { grantName } from '../../src/log/state.ts'
import { valueText } from '../../src/values/field.ts'
import { openEnvironment } from '../../src/vault/answer.ts'
import { EMPTY_CONTENT } from '../../src/vault/content.ts'
import { aclSet, type VaultMeta } from '../../src/vault/documents.ts'
import { type ChangeAccessInput, changeAccess, createVault } from '../../src/vault/lifecycle.ts'
import { roleOf } from '../../src/vault/vault.ts'
import { openDirectory, openVault } from '../directory/full.ts'
import { refusal } from '../log/refusal.ts'
import { aclOf, aclWith, activeKeysOf, admit, join, newIdentity, revoke, vaultStateOf } from '../transition/desk.ts'
import { identityOf } from '../world/actors.ts'
import { item, ORG, openWorld, type World } from '../world/world.ts'
import { build, codeOf, readAll, rewrite, signEdits, storedOf } from './desk.ts'

let world: World
let alice: Identity
let bob: Identity
beforeEach(async () => {
  world = await openWorld()
  ;({ alice, bob } = world.actors)
})

/** A member changes access as the product would, and the server takes it or refuses. */
async function change(input: Omit<ChangeAccessInput, 'head' | 'content' | 'at'>, by: Identity = alice): Promise<void> {
  const stored = storedOf(world)
  const head = await world.head(world.prod)
  const made = await changeAccess({ ...input, head, content: stored.content, at: world.now }, by)
  await world.commit(world.prod, made.commit)
  if (made.dek) stored.dek = made.dek
}
const rotated = (reason: 'member-removed' | 'scheduled' | 'key-compromised', acl = aclOf(world)) => ({
  reason,
  recipients: activeKeysOf(world, acl),
})
const environmentOf = async (reader: Identity): Promise<Record<string, string>> => {
  const answer = await world.answer(world.prod, reader)
  const { fields } = await openEnvironment(answer, world.prod, world.trust(world.fresh()), reader)
  return Object.fromEntries(fields.map(({ row, value }) => [row.label, valueText(value)]))
}
const VALUES = { DATABASE_URL: 'postgres://u:p@db/prod', DATABASE_CA: 'pem', STRIPE_KEY: 'sk_live_51H' }

describe('createVault', () => {
  const META: VaultMeta = { name: 'New', classification: 'restricted', status: 'active' }

  it('makes a vault that each of its members reads at once, in the roles they were given', async () => {
    const { carol, deploy } = world.actors
    const acl = [
      { p: carol.key.principal, role: 'read' },
      { p: bob.key.principal, role: 'admin' },
      { p: deploy.key.principal, role: 'write' },
    ] as const
    const recipients = [carol, bob, deploy].map(({ key }) => key)
    const made = await createVault({ org: ORG, meta: META, acl, recipients, at: world.now }, bob)
    expect(made.content).toEqual(EMPTY_CONTENT)
    const stored = { content: EMPTY_CONTENT, items: new Map(), values: new Map(), documents: new Map(), dek: made.dek }
    world.vaults.set(made.vaultId, stored)
    await world.commit(made.vaultId, made.commit)
    const { vault, payload } = await world.head(made.vaultId)
    expect(payload).toMatchObject({ headVersion: 1, meta: META, dekVersion: 1, oldestDek: 1 })
    expect([bob, carol, deploy, alice].map(({ key }) => roleOf(vault, key.principal))).toEqual([
      'admin',
      'read',
      'write',
      undefined,
    ])
    await world.write(made.vaultId, [item('itm_first', 'First', { FIRST: 'one' })], bob)
    for (const reader of [bob, carol, deploy]) {
      const answer = await world.answer(made.vaultId, reader)
      const { fields } = await openEnvironment(answer, made.vaultId, world.trust(world.fresh()), reader)
      expect(fields.map(({ value }) => valueText(value))).toEqual(['one'])
    }
  })

  it('gives two vaults of the same content two ids and two keys', async () => {
    const input = {
      org: ORG,
      meta: META,
      acl: [{ p: bob.key.principal, role: 'admin' as const }],
      recipients: [bob.key],
    }
    const [one, two] = [
      await createVault({ ...input, at: world.now }, bob),
      await createVault({ ...input, at: world.now }, bob),
    ]
    expect(one.vaultId).not.toBe(two.vaultId)
    expect(one.dek.dekCommit).not.toBe(two.dek.dekCommit)
  })

  it('is not for an RSA-only key', async () => {
    const { worker } = world.actors
    const input = { org: ORG, meta: META, acl: [{ p: worker.key.principal, role: 'admin' as const }] }
    const run = () => createVault({ ...input, recipients: [worker.key], at: world.now }, worker)
    expect(await refusal(run)).toBe('not_authorised')
  })
})

describe('changeAccess', () => {
  it('lets somebody join with grants of every version in use, who then reads old and new values', async () => {
    const { dave } = world.actors
    const first = storedOf(world).dek
    await change({ rotate: rotated('scheduled') })
    await world.write(world.prod, [item('itm_new1', 'New', { NEW_KEY: 'two' })], bob)
    const grants = [first, storedOf(world).dek].map((dek) => ({ dek, to: dave.key }))
    await change({ acl: aclWith(world, { 'user:ou_dave': 'read' }), grants })
    expect(await environmentOf(dave)).toEqual({ ...VALUES, NEW_KEY: 'two' })
  })

  it('who joins with the current version alone is told which version is missing', async () => {
    const { dave } = world.actors
    await change({ rotate: rotated('scheduled') })
    await change({
      acl: aclWith(world, { 'user:ou_dave': 'read' }),
      grants: [{ dek: storedOf(world).dek, to: dave.key }],
    })
    expect(await refusal(() => environmentOf(dave))).toBe('unwrapped_key_missing')
  })

  it('lets somebody leave with a new key that he never sees, while everybody else goes on', async () => {
    const { carol, deploy, hybrid, worker } = world.actors
    const acl = aclWith(world, { 'user:ou_carol': null })
    await change({ acl, rotate: rotated('member-removed', acl) })
    expect(await refusal(() => environmentOf(carol))).toBe('unwrapped_key_missing')
    for (const reader of [alice, bob, deploy, hybrid, worker]) expect(await environmentOf(reader)).toEqual(VALUES)
    expect(vaultStateOf(world)).toMatchObject({ dekVersion: 2, rotationDue: null })
  })

  it('of somebody who leaves needs a rotation, or says openly that it is deferred', async () => {
    const acl = aclWith(world, { 'user:ou_carol': null })
    expect(await refusal(() => change({ acl }))).toBe('rotation_due')
    await change({ acl, deferRotation: true })
    expect(vaultStateOf(world).rotationDue).not.toBeNull()
    const list = world.host.ledger.document(vaultStateOf(world).aclHash) as Envelope
    expect(peekDocument(aclSet, list).payload.deferRotation).toBe(true)
    expect((await openVault(world, world.prod)).state.rotationDue).not.toBeNull()
  })

  it('hands administration over, and the new admin acts while the old one cannot', async () => {
    const acl = aclWith(world, { 'user:ou_bob1': 'admin', 'user:ou_alice': 'read' })
    await change({ acl })
    const { chain } = await openVault(world, world.prod)
    expect(chain.sets.map(({ admins }) => [...admins])).toEqual([['user:ou_alice'], ['user:ou_bob1']])
    expect(await refusal(() => change({ rotate: rotated('scheduled') }))).toBe('not_authorised')
    await change({ rotate: rotated('scheduled') }, bob)
    expect(await environmentOf(alice)).toEqual(VALUES)
  })

  it('that changes no admin writes no admin document', async () => {
    await change({ acl: aclWith(world, { 'user:ou_dave': 'read' }) })
    expect(vaultStateOf(world).adminsIndexes).toHaveLength(1)
  })

  it('names the same admins anew where whoever named them is not to be believed any more', async () => {
    await change({ acl: aclOf(world), renewAdmins: true })
    expect(vaultStateOf(world).adminsIndexes).toHaveLength(2)
    expect(roleOf((await world.head(world.prod)).vault, alice.key.principal)).toBe('admin')
  })

  it('wraps for both keys of a member who has two', async () => {
    const bob2 = admit(world, 'bob2', await newIdentity(bob.key.principal))
    await join(world, bob2, ['member'])
    expect(await refusal(() => environmentOf(bob2))).toBe('unwrapped_key_missing')
    const grants = [{ dek: storedOf(world).dek, to: bob2.key }]
    await change({ grants })
    await change({ rotate: rotated('scheduled') })
    expect(await environmentOf(bob2)).toEqual(VALUES)
    expect(await environmentOf(bob)).toEqual(VALUES)
  })

  it('leaves out a member whose only key has ended, and nobody waits for him', async () => {
    const { carol } = world.actors
    await world.host.append([await revoke(world, carol.kid, 'compromised')], world.now)
    await change({ rotate: rotated('key-compromised') })
    expect(world.host.state(grantName(world.prod, carol.kid, 2))).toBeUndefined()
    expect(vaultStateOf(world).rotationDue).toBeNull()
  })

  it('rotates under an RSA-only key of nobody', async () => {
    const rsaOnly = await identityOf('worker', alice.key.principal)
    const head = await world.head(world.prod)
    const input = { head, content: storedOf(world).content, at: world.now, rotate: rotated('scheduled') }
    expect(await refusal(() => changeAccess(input, rsaOnly))).toBe('not_authorised')
  })
})

describe('after a rotation', () => {
  it('values are encrypted again when they are written, and the rest in batches, until one version is left', {
    timeout: 30_000,
  }, async () => {
    const before = await readAll(world, bob)
    await change({ rotate: rotated('scheduled') })
    const versions = (): number[] =>
      [...storedOf(world).items.values()].flatMap(({ detail }) => detail.fields.map(({ dekVersion }) => dekVersion))
    expect(new Set(versions())).toEqual(new Set([1]))
    expect(await readAll(world, bob)).toEqual(before)

    // Lazily: what is written anew is under the new key, what is kept is not.
    await world.write(world.prod, [await rewrite(world, 'itm_stripe', bob)], bob)
    expect([...versions()].sort()).toEqual([1, 1, 1, 2])
    expect(vaultStateOf(world)).toMatchObject({ oldestDek: 1, dekVersion: 2 })

    // Eagerly: the last batch retires the old version.
    const items = await signEdits(world, [await rewrite(world, 'itm_database', bob)], bob)
    const { commit } = await build(world, { items, terms: { oldestDek: 2 } }, bob)
    expect(await codeOf(world, commit)).toBe('accepted')
    await world.commit(world.prod, commit)
    expect(vaultStateOf(world)).toMatchObject({ oldestDek: 2, dekVersion: 2, draining: [] })
    expect(await readAll(world, bob)).toEqual(before)
    expect(await environmentOf(world.actors.deploy)).toEqual(VALUES)
    for (const { kid } of [alice, bob, world.actors.carol])
      expect(world.host.state(grantName(world.prod, kid, 1))).toMatchObject({ wrapHash: '' })
  })

  it('a reader is served the old versions as long as values are under them', async () => {
    await change({ rotate: rotated('scheduled') })
    await change({ rotate: rotated('scheduled') })
    await world.write(world.prod, [await rewrite(world, 'itm_stripe', bob)], bob)
    const answer = await world.answer(world.prod, world.actors.deploy)
    expect(answer.wrappedKeys).toHaveLength(3)
    expect(await environmentOf(world.actors.deploy)).toEqual(VALUES)
  })

  it('the vault of a directory in which nothing else happened is still verified', async () => {
    await change({ rotate: rotated('scheduled') })
    const directory = await openDirectory(world)
    expect((await openVault(world, world.staging, directory)).state.dekVersion).toBe(1)
  })
})
