import { documentHash, type Envelope, peekDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { type VaultState, vaultName } from '../../src/log/state.ts'
import { type Dek, makeDek } from '../../src/values/dek.ts'
import { type AclEntry, type Role, vaultHead } from '../../src/vault/documents.ts'
import { createVault } from '../../src/vault/lifecycle.ts'
import { wrapDek } from '../../src/wraps/wrapped-key.ts'
import { type Chronicle, ORG, openChronicle, sign, T0 } from './chronicle.ts'
import { addOf, genesisOf } from './directory.ts'

// Sections 3.6, 4.7 and 6.1: the documents that follow the current state of a vault, by whomever and with whatever changed.

export interface Desk extends Chronicle {
  readonly vaultId: string
  readonly dek: Dek
}

export const entry = ({ key }: Identity, role: Role): AclEntry => ({ p: key.principal, role })
const sorted = (acl: readonly AclEntry[]): AclEntry[] => [...acl].sort((a, b) => (a.p < b.p ? -1 : 1))
export const stateOf = ({ host, vaultId }: Desk): VaultState => host.state(vaultName(vaultId)) as VaultState

export function headNow(desk: Desk) {
  const envelope = desk.host.ledger.document(stateOf(desk).headHash) as Envelope
  return peekDocument(vaultHead, envelope).payload
}

/** The head after the current one; what else a commit changes is in `change`. */
export const nextHead = (desk: Desk, by: Identity, change: object = {}): Promise<Envelope> => {
  const { headVersion, headHash } = stateOf(desk)
  return sign(
    'vault-head',
    { ...headNow(desk), by: by.kid, headVersion: headVersion + 1, prev: headHash, ...change },
    by,
  )
}

export const nextAcl = (desk: Desk, by: Identity, acl: readonly AclEntry[], change: object = {}): Promise<Envelope> => {
  const { vaultId, aclVersion, aclHash } = stateOf(desk)
  return sign('acl.set', { vaultId, aclVersion: aclVersion + 1, prev: aclHash, acl: sorted(acl), ...change }, by)
}

export const nextAdmins = (
  desk: Desk,
  by: Identity,
  admins: readonly string[],
  change: object = {},
): Promise<Envelope> => {
  const { vaultId, adminsIndexes, adminsHash } = stateOf(desk)
  const members = { vaultId, adminsVersion: adminsIndexes.length + 1, admins: [...admins].sort(), prev: adminsHash }
  return sign('vault.admins', { ...members, ...change }, by)
}

/** An access list with its head. */
export async function withAcl(
  desk: Desk,
  by: Identity,
  acl: readonly AclEntry[],
  change: object = {},
): Promise<Envelope[]> {
  const list = await nextAcl(desk, by, acl, change)
  const terms = { aclVersion: stateOf(desk).aclVersion + 1, aclHash: documentHash(list) }
  return [await nextHead(desk, by, terms), list]
}

export interface EpochInput {
  readonly acl?: Envelope
  readonly recipients: readonly Identity[]
  readonly change?: object
  readonly head?: object
}

/** A new vault key with its grants and its head, and an access list if there is a new one. */
export async function withEpoch(desk: Desk, by: Identity, { acl, recipients, change = {}, head = {} }: EpochInput) {
  const { vaultId, dekVersion: prevDekVersion, aclVersion, aclHash } = stateOf(desk)
  const access = acl ? { aclVersion: aclVersion + 1, aclHash: documentHash(acl) } : { aclVersion, aclHash }
  const dek = makeDek({ org: ORG, vaultId, dekVersion: prevDekVersion + 1 })
  const { dekVersion, dekCommit } = dek
  const members = { vaultId, dekVersion, dekCommit, prevDekVersion, reason: 'scheduled', ...access, ...change }
  const wraps = []
  for (const { key } of recipients) wraps.push(await wrapDek(dek, key, by, T0))
  const epoch = await sign('epoch.new', members, by)
  const docs = [await nextHead(desk, by, { ...access, dekVersion, dekCommit, ...head }), epoch, ...wraps]
  return { dek, docs: acl ? [...docs, acl] : docs }
}

/** Admins, access list and head in one commit. */
export async function promotion(
  desk: Desk,
  by: Identity,
  admins: readonly Identity[],
  change: object = {},
): Promise<Envelope[]> {
  const readers = [desk.bob, desk.carol].filter((who) => !admins.includes(who))
  const acl = [...admins.map((who) => entry(who, 'admin')), ...readers.map((who) => entry(who, 'read'))]
  const names = admins.map(({ key }) => key.principal)
  return [...(await withAcl(desk, by, acl)), await nextAdmins(desk, by, names, change)]
}

export const META = { name: 'Payments', classification: 'confidential', status: 'active' } as const

/** alice administers, bob writes, carol reads; dave and the RSA-only agent are in the directory and not in the vault. */
export async function openVaultDesk(): Promise<Desk> {
  const c = await openChronicle()
  const { alice, bob, carol, dave, worker } = c
  await c.act('the founding of this log', await genesisOf([alice]))
  for (const who of [bob, carol, dave])
    await c.act(`the key of ${who.key.principal}`, await addOf(alice, who, ['member']))
  await c.act('an agent with RSA only', await addOf(alice, worker, ['agent']))
  const acl = [entry(alice, 'admin'), entry(bob, 'write'), entry(carol, 'read')]
  const recipients = [alice, bob, carol].map(({ key }) => key)
  const { commit, dek, vaultId } = await createVault({ org: ORG, meta: META, acl, recipients, at: T0 }, alice)
  await c.act('a vault with its access list, its key and its first head', commit.head, ...commit.docs)
  return { ...c, vaultId, dek }
}
