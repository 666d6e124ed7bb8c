import type { ProtocolErrorCode } from '../../src/errors.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { makeDek } from '../../src/values/dek.ts'
import { deriveVaultId } from '../../src/vault/authority.ts'
import type { Role } from '../../src/vault/documents.ts'
import { wrapDek } from '../../src/wraps/wrapped-key.ts'
import { ORG, SALT, sign, T0 } from './chronicle.ts'
import { addOf } from './directory.ts'
import type { VectorFile } from './file.ts'
import { base64url, sha256, utf8 } from './reference.ts'
import {
  type Desk,
  type EpochInput,
  entry,
  META,
  nextAcl,
  nextAdmins,
  nextHead,
  openVaultDesk,
  promotion,
  stateOf,
  withAcl,
  withEpoch,
} from './vault-desk.ts'

// Sections 3.6, 4.7 and 6.1 as the log sees them: heads, access lists, admins and vault keys.

const OTHER = base64url(sha256(utf8('other')))

async function refuseHeads(desk: Desk): Promise<void> {
  const { alice, bob, carol, dave, worker, mallory } = desk
  const head = (change: object, by = bob) => nextHead(desk, by, change)
  desk.no('a head by a reader', 'not_authorised', [await head({}, carol)])
  desk.no('a head by somebody without access', 'not_authorised', [await head({}, dave)])
  desk.no('a head by an agent without access', 'not_authorised', [await head({}, worker)])
  desk.no('a head by a stranger', 'unknown_signer', [await head({}, mallory)])
  desk.no('a head in the name of somebody else', 'missing_signature', [await head({ by: alice.kid })])
  desk.no('a head that skips a version', 'head_conflict', [await head({ headVersion: 3 })])
  desk.no('a head of the current version', 'head_conflict', [await head({ headVersion: 1 })])
  desk.no('a head with another predecessor', 'head_conflict', [await head({ prev: OTHER })])
  desk.no('a head without predecessor', 'head_conflict', [await head({ prev: '' })])
  desk.no('a head under another access list', 'head_mismatch', [await head({ aclHash: OTHER })])
  desk.no('a head under another version of the access list', 'head_mismatch', [await head({ aclVersion: 2 })])
  desk.no('a head under another vault key', 'head_mismatch', [await head({ dekCommit: OTHER })])
  desk.no('a head under another version of the vault key', 'head_mismatch', [await head({ dekVersion: 2 })])
  desk.no('a head that retires the current key', 'head_mismatch', [await head({ oldestDek: 2 })])
  desk.no('a head of a vault that is not there', 'bad_transition', [await head({ vaultId: `v${'a'.repeat(32)}` })])
  desk.no('a head with changes in another order', 'malformed', [
    await head({ changes: ['itm_b', 'itm_a'].map((id) => ({ op: 'put', id, version: 1 })) }),
  ])
  desk.no('a head with an unknown classification', 'malformed', [
    await head({ meta: { ...META, classification: 'secret' } }),
  ])
  desk.no('a head without the root of the attachments', 'malformed', [await head({ assets: null })])
  desk.no('two heads of one vault', 'bad_transition', [await head({}), await head({}, alice)])
  desk.no('a head and a key', 'bad_transition', [await head({}), await addOf(alice, mallory, ['member'])])
  desk.no('a head and an item detail', 'bad_transition', [await head({}), await sign('item-detail', {}, bob)])
}

interface CreateInput {
  readonly by?: Identity
  readonly admins?: readonly string[]
  readonly head?: object
  readonly recipients?: readonly Identity[]
  readonly reason?: string
  readonly without?: string
}

/** The documents of a new vault, of which one thing may be wrong. */
async function creation(
  desk: Desk,
  { by = desk.alice, admins, head = {}, recipients = [by], reason = 'create', without }: CreateInput,
) {
  const acl = [entry(by, 'admin')]
  const create = await sign('vault.create', { admins: admins ?? acl.map(({ p }) => p), salt: SALT }, by)
  const vaultId = deriveVaultId(documentHash(create))
  const list = await sign('acl.set', { vaultId, aclVersion: 1, prev: '', acl }, by)
  const dek = makeDek({ org: ORG, vaultId, dekVersion: 1 })
  const terms = { aclVersion: 1, aclHash: documentHash(list), dekVersion: 1, dekCommit: dek.dekCommit }
  const epoch = await sign('epoch.new', { vaultId, prevDekVersion: 0, reason, ...terms }, by)
  const wraps = []
  for (const { key } of recipients) wraps.push(await wrapDek(dek, key, by, T0))
  const empty = { root: base64url(Buffer.alloc(32)), count: 0 }
  const trees = { items: empty, env: empty, assets: empty, changes: [] }
  const members = { vaultId, headVersion: 1, prev: '', meta: META, ...terms, oldestDek: 1, ...trees, salt: SALT }
  const all = { head: await sign('vault-head', { ...members, ...head }, by), create, list, epoch }
  const kept = Object.entries(all).flatMap(([name, envelope]) => (name === without ? [] : [envelope]))
  return { vaultId, docs: [...kept, ...wraps] }
}

async function creations(desk: Desk): Promise<void> {
  const { alice, bob, worker } = desk
  const no = async (name: string, code: ProtocolErrorCode, input: CreateInput) =>
    desk.no(name, code, (await creation(desk, input)).docs)
  await desk.ok('a further vault', (await creation(desk, { by: bob })).docs)
  await no('a vault by a key with RSA only', 'not_authorised', { by: worker })
  await no('a vault whose creator is not among its admins', 'admin_chain', { admins: [bob.key.principal] })
  await no('a vault with an admin who has no key', 'signer_not_active', { admins: ['user:ou_alice', 'user:ou_nobody'] })
  await no('a vault with an admin who has RSA only', 'not_authorised', { admins: ['agent:ag_worker', 'user:ou_alice'] })
  await no('a vault whose access list shows other admins', 'acl_mismatch', {
    admins: ['user:ou_alice', 'user:ou_bob1'],
  })
  await no('a vault under another id', 'vault_swap', { head: { vaultId: `v${'a'.repeat(32)}` } })
  await no('a vault without an access list', 'bad_transition', { without: 'list' })
  await no('a vault without a key', 'bad_transition', { without: 'epoch' })
  await no('a vault without its creation', 'bad_transition', { without: 'create' })
  await no('a vault without a head', 'bad_transition', { without: 'head' })
  await no('a vault whose key nobody gets', 'incomplete_batch', { recipients: [] })
  await no('a vault whose key somebody else gets', 'not_authorised', { recipients: [alice, bob] })
  await no('a vault whose first key gives another reason', 'bad_transition', { reason: 'scheduled' })
  await no('a vault whose first head is its second', 'head_conflict', { head: { headVersion: 2 } })
}

export async function makeHead(): Promise<VectorFile> {
  const desk = await openVaultDesk()
  const { alice, bob } = desk
  await creations(desk)
  await desk.ok('a head by an admin', [await nextHead(desk, alice)])
  await refuseHeads(desk)
  const change = { changes: [{ op: 'put', id: 'itm_database', version: 1 }], items: { root: OTHER, count: 1 } }
  const first = await nextHead(desk, bob, change)
  await desk.act('a head by a writer', first)
  desk.no('the same head again', 'head_conflict', [first])
  const second = await creation(desk, {})
  await desk.act('a second vault', ...second.docs)
  const other: Desk = { ...desk, vaultId: second.vaultId }
  await desk.ok('a move: two heads by one writer', [await nextHead(desk, alice), await nextHead(other, alice)])
  desk.no('a move by two writers', 'bad_transition', [await nextHead(desk, bob), await nextHead(other, alice)])
  desk.no('a move into a vault without access', 'not_authorised', [
    await nextHead(desk, bob),
    await nextHead(other, bob),
  ])
  desk.no('a vault that exists is created again', 'bad_transition', second.docs)
  await desk.act('the writer’s key ends', await sign('key.revoke', { kid: bob.kid, reason: 'removed' }, alice))
  desk.no('a head by a key that has ended', 'signer_not_active', [await nextHead(desk, bob)])
  const due = stateOf(desk).rotationDue as { at: number }
  await desk.ok('a head while rotation is due, within the grace', [await nextHead(desk, alice)], due.at + 86_400_000)
  desk.no('a head after the grace', 'rotation_due', [await nextHead(desk, alice)], due.at + 86_400_001)
  const { docs } = await withEpoch(desk, alice, {
    recipients: [alice, desk.carol],
    change: { reason: 'member-removed' },
  })
  await desk.ok('a new vault key after the grace', docs, due.at + 86_400_001)
  return desk.file({
    vectors: 'head',
    section: '6.1',
    comment:
      'A log with vaults: which heads follow which, who may sign them, and what must be committed together with a head.',
  })
}

async function refuseAccess(desk: Desk): Promise<void> {
  const { alice, bob, carol, dave } = desk
  const now = [entry(alice, 'admin'), entry(bob, 'write'), entry(carol, 'read')]
  const more = [...now, entry(dave, 'read')]
  const no = async (name: string, code: ProtocolErrorCode, docs: Promise<readonly Envelope[]>) =>
    desk.no(name, code, await docs)
  await no('an access list by a writer', 'not_authorised', withAcl(desk, bob, more))
  await no('an access list by a reader', 'not_authorised', withAcl(desk, carol, more))
  await no('an access list by somebody without access', 'not_authorised', withAcl(desk, dave, more))
  await no('an access list that skips a version', 'bad_transition', withAcl(desk, alice, more, { aclVersion: 3 }))
  await no('an access list with another predecessor', 'bad_transition', withAcl(desk, alice, more, { prev: OTHER }))
  await no(
    'an access list of another vault',
    'vault_swap',
    withAcl(desk, alice, more, { vaultId: `v${'a'.repeat(32)}` }),
  )
  await no(
    'an access list with an admin whom no admin made one',
    'acl_mismatch',
    withAcl(desk, alice, [...now.slice(0, 1), entry(bob, 'admin'), entry(carol, 'read')]),
  )
  await no(
    'an access list without its admin',
    'acl_mismatch',
    withAcl(desk, alice, [entry(alice, 'write'), ...now.slice(1)]),
  )
  await no('a reader leaves without a new key', 'rotation_due', withAcl(desk, alice, now.slice(0, 2)))
  await no('somebody twice', 'malformed', withAcl(desk, alice, [...now, entry(carol, 'write')]))
  await no('an unknown role', 'malformed', withAcl(desk, alice, [...now, { p: 'user:ou_dave', role: 'owner' as Role }]))
  desk.no('an access list without a head', 'bad_transition', [await nextAcl(desk, alice, more)])
  desk.no('a head that does not know of the new access list', 'head_mismatch', [
    await nextHead(desk, alice),
    await nextAcl(desk, alice, more),
  ])
}

async function refuseAdmins(desk: Desk): Promise<void> {
  const { alice, bob, dave, worker } = desk
  const no = async (name: string, code: ProtocolErrorCode, docs: Promise<readonly Envelope[]>) =>
    desk.no(name, code, await docs)
  await no('a writer makes himself admin', 'not_authorised', promotion(desk, bob, [alice, bob]))
  await no('an admin who has RSA only', 'not_authorised', promotion(desk, alice, [alice, worker]))
  await no('no admin', 'bad_transition', promotion(desk, alice, []))
  await no('admins that skip a version', 'bad_transition', promotion(desk, alice, [alice, dave], { adminsVersion: 3 }))
  await no('admins with another predecessor', 'bad_transition', promotion(desk, alice, [alice, dave], { prev: OTHER }))
  desk.no('admins without an access list', 'bad_transition', [
    await nextHead(desk, alice),
    await nextAdmins(desk, alice, ['user:ou_alice', 'user:ou_dave']),
  ])
}

async function refuseEpochs(desk: Desk): Promise<void> {
  const { alice, bob, carol, dave, mallory } = desk
  const all = [alice, bob, carol]
  const no = async (name: string, code: ProtocolErrorCode, by: Identity, input: EpochInput) =>
    desk.no(name, code, (await withEpoch(desk, by, input)).docs)
  await no('a new key by a writer', 'not_authorised', bob, { recipients: all })
  await no('a new key that a reader does not get', 'incomplete_batch', alice, { recipients: [alice, bob] })
  await no('a new key that somebody without access gets', 'not_authorised', alice, { recipients: [...all, dave] })
  await no('a new key that a stranger gets', 'unknown_signer', alice, { recipients: [...all, mallory] })
  await no('a new key that skips a version', 'bad_transition', alice, {
    recipients: all,
    change: { prevDekVersion: 0 },
  })
  await no('a new key for another access list', 'acl_mismatch', alice, { recipients: all, change: { aclHash: OTHER } })
  await no('a new key of another vault', 'vault_swap', alice, {
    recipients: all,
    change: { vaultId: `v${'a'.repeat(32)}` },
  })
  await no('a new key that is the first', 'bad_transition', alice, { recipients: all, change: { reason: 'create' } })
  await no('a new key under another commitment than its wraps', 'dek_commitment', alice, {
    recipients: all,
    change: { dekCommit: OTHER },
    head: { dekCommit: OTHER },
  })
  await no('a new key that the head does not know', 'head_mismatch', alice, {
    recipients: all,
    head: { dekVersion: 1 },
  })
  desk.no('a grant to somebody without access', 'not_authorised', [await wrapDek(desk.dek, dave.key, alice, T0)])
  desk.no('a grant by a writer', 'not_authorised', [await wrapDek(desk.dek, carol.key, bob, T0)])
  desk.no('a grant of a key that is not in use', 'dek_commitment', [
    await wrapDek(makeDek({ org: ORG, vaultId: desk.vaultId, dekVersion: 1 }), carol.key, alice, T0),
  ])
  desk.no('a grant of a vault that is not there', 'bad_transition', [
    await wrapDek(makeDek({ org: ORG, vaultId: `v${'a'.repeat(32)}`, dekVersion: 1 }), carol.key, alice, T0),
  ])
}

export async function makeAcl(): Promise<VectorFile> {
  const desk = await openVaultDesk()
  const { alice, bob, carol, dave } = desk
  const now = [entry(alice, 'admin'), entry(bob, 'write'), entry(carol, 'read')]
  await refuseAccess(desk)
  await refuseAdmins(desk)
  await refuseEpochs(desk)
  await desk.ok(
    'a reader leaves and the rotation is deferred openly',
    await withAcl(desk, alice, now.slice(0, 2), { deferRotation: true }),
  )
  await desk.ok('a grant again', [await wrapDek(desk.dek, carol.key, alice, T0 + 1)])
  await desk.act(
    'a reader joins, with a grant of the key in use',
    ...(await withAcl(desk, alice, [...now, entry(dave, 'read')])),
    await wrapDek(desk.dek, dave.key, alice, T0),
  )
  await desk.act('a second admin', ...(await secondAdmin(desk)))
  await desk.ok(
    'the second admin changes the list',
    await withAcl(desk, dave, [entry(alice, 'admin'), entry(bob, 'read'), entry(carol, 'read'), entry(dave, 'admin')]),
  )
  const left = await nextAcl(desk, dave, [entry(alice, 'admin'), entry(bob, 'write'), entry(dave, 'admin')])
  const rotated = await withEpoch(desk, dave, {
    acl: left,
    recipients: [alice, bob, dave],
    change: { reason: 'member-removed' },
  })
  await desk.act('a reader leaves with a new key: the older one drains', ...rotated.docs)
  desk.no('the reader who left gets the new key', 'not_authorised', [await wrapDek(rotated.dek, carol.key, dave, T0)])
  await desk.ok('a head that retires the older key', [await nextHead(desk, bob, { oldestDek: 2 })])
  desk.no('a head that goes back to it', 'malformed', [await nextHead(desk, bob, { oldestDek: 0 })])
  return desk.file({
    vectors: 'acl',
    section: '4.7',
    comment:
      'A log with a vault: who may change its access list, its admins and its key, and which of these must go together.',
  })
}

async function secondAdmin(desk: Desk): Promise<Envelope[]> {
  const { alice, bob, carol, dave } = desk
  const acl = [entry(alice, 'admin'), entry(bob, 'write'), entry(carol, 'read'), entry(dave, 'admin')]
  return [...(await withAcl(desk, alice, acl)), await nextAdmins(desk, alice, ['user:ou_alice', 'user:ou_dave'])]
}
