import { orgGenesis, type Policy } from '../../src/directory/documents.ts'
import { toBase64 } from '../../src/encoding/base64.ts'
import { utf8 } from '../../src/encoding/bytes.ts'
import type { JsonObject } from '../../src/encoding/canonical.ts'
import {
  claimedKind,
  documentHash,
  type Envelope,
  type Kind,
  makeDocument,
  messageOf,
  type PayloadOf,
  peekDocument,
} from '../../src/identity/document.ts'
import type { Identity, Signer } from '../../src/identity/private-keys.ts'
import { type KidState, kidName, type VaultState, vaultName } from '../../src/log/state.ts'
import type { Transparency } from '../../src/log/transparency.ts'
import type { LeafType } from '../../src/transition/transition.ts'
import type { EnvironmentAnswer } from '../../src/vault/answer.ts'
import type { BuiltCommit } from '../../src/vault/commit.ts'
import {
  type AclEntry,
  aclSet,
  type EnvRow,
  itemDetail,
  type VaultHeadPayload,
  vaultHead,
} from '../../src/vault/documents.ts'
import { identityOf } from '../world/actors.ts'
import { hashesOf } from '../world/log-host.ts'
import type { StoredVault, World } from '../world/world.ts'

// What attackers can do. Nothing here breaks cryptography: it signs with the keys it is given and logs with the log's own.

export type Writable<T> = T extends string | number | boolean | null | undefined
  ? T
  : { -readonly [K in keyof T]: Writable<T[K]> }

type ProvenState = Omit<Transparency['map'][number], 'state'> & { state: JsonObject | null }
export type WritableAnswer = Omit<Writable<Omit<EnvironmentAnswer, 'transparency'>>, 'fields'> & {
  fields: { row: Writable<EnvRow>; value: string }[]
  transparency: Writable<Omit<Transparency, 'map'>> & { map: ProvenState[] }
}

/** Leaves the proof of one state out of an answer. */
export function forgetState(copy: WritableAnswer, forgotten: string): void {
  copy.transparency.map = copy.transparency.map.filter(({ name }) => name !== forgotten)
}

/** A copy of an answer, changed on its way. */
export function tamper(answer: EnvironmentAnswer, change: (copy: WritableAnswer) => void): EnvironmentAnswer {
  const copy = structuredClone(answer) as unknown as WritableAnswer
  change(copy)
  return copy as unknown as EnvironmentAnswer
}

/** A false leaf: the server logs states that no rule allows, and proves them with the real log key. */
export function logFalse(
  world: World,
  docs: readonly Envelope[],
  states: Readonly<Record<string, object>>,
  t: LeafType = 'vault.commit',
): void {
  const updates = Object.entries(states)
    .map(([name, state]) => ({ name, state: state as JsonObject }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  world.host.appendFalse({ t, d: hashesOf(docs), updates }, docs, world.now)
}

/** A false leaf that changes members of one state. */
export function alterState<S extends object>(
  world: World,
  name: string,
  change: Partial<S>,
  docs: readonly Envelope[] = [],
): void {
  logFalse(world, docs, { [name]: { ...(world.host.state(name) as S), ...change } })
}

export const vaultStateOf = (world: World, vaultId = world.prod): VaultState =>
  world.host.state(vaultName(vaultId)) as VaultState

export const logged = (world: World, hash: string): Envelope => world.host.ledger.document(hash) as Envelope

/** The payload of a document without what signing adds anew. */
export function membersOf<N extends string, P>(
  kind: Kind<N, P>,
  envelope: Envelope,
): Omit<PayloadOf<Kind<N, P>>, 'v' | 't' | 'by'> {
  const { v: _v, t: _t, by: _by, ...members } = peekDocument(kind, envelope).payload as PayloadOf<Kind<string, object>>
  return members as never
}

/** The same document with other members, signed by whoever does it. */
export function forge<N extends string, P>(
  kind: Kind<N, P>,
  envelope: Envelope,
  change: Partial<PayloadOf<Kind<N, P>>>,
  ...signers: readonly [Signer, ...Signer[]]
): Promise<Envelope> {
  return makeDocument(kind, { ...membersOf(kind, envelope), ...change } as never, signers)
}

/** Signs any text as a document of any type: what a writer's own, broken or hostile, client could do. */
export async function signText(type: string, text: string, ...signers: readonly Signer[]): Promise<Envelope> {
  const envelope: Envelope = {
    payload: toBase64(utf8(text)),
    payloadType: `application/vnd.vault.v3.${type}+json`,
    signatures: [],
  }
  const signatures = []
  for (const signer of signers)
    signatures.push({ keyid: signer.kid, sig: toBase64(await signer.sign(messageOf(envelope))) })
  return { ...envelope, signatures }
}

/** A head that follows the current one, with other members. */
export async function nextHead(
  world: World,
  change: Partial<VaultHeadPayload>,
  signer: Signer,
  vaultId = world.prod,
): Promise<Envelope> {
  const { headVersion, headHash } = vaultStateOf(world, vaultId)
  const step = { headVersion: headVersion + 1, prev: headHash, changes: [], at: world.now }
  return forge(vaultHead, logged(world, headHash), { ...step, ...change }, signer)
}

/** A head that a colluding server logs, whoever signed it. */
export async function logHead(
  world: World,
  change: Partial<VaultHeadPayload>,
  signer: Signer,
  vaultId = world.prod,
): Promise<Envelope> {
  const head = await nextHead(world, change, signer, vaultId)
  const { headVersion, aclHash, aclVersion, dekVersion, dekCommit, oldestDek } = peekDocument(vaultHead, head).payload
  const terms = { headVersion, aclHash, aclVersion, dekVersion, dekCommit, oldestDek }
  const headIndex = world.host.leaves.length
  alterState<VaultState>(world, vaultName(vaultId), { ...terms, headHash: documentHash(head), headIndex }, [head])
  return head
}

/** The next access list, with other entries or members. */
export function nextAcl(
  world: World,
  change: Partial<PayloadOf<typeof aclSet>>,
  signer: Signer,
  vaultId = world.prod,
): Promise<Envelope> {
  const { aclVersion, aclHash } = vaultStateOf(world, vaultId)
  const step = { aclVersion: aclVersion + 1, prev: aclHash, at: world.now }
  return forge(aclSet, logged(world, aclHash), { ...step, ...change }, signer)
}

export const aclOf = (world: World, vaultId = world.prod): readonly AclEntry[] =>
  peekDocument(aclSet, logged(world, vaultStateOf(world, vaultId).aclHash)).payload.acl

/** An access list with some entries replaced, added, or removed where the role is null, in the order documents need. */
export function aclWith(
  world: World,
  change: Readonly<Record<string, AclEntry['role'] | null>>,
  vaultId = world.prod,
): AclEntry[] {
  const roles = new Map<string, AclEntry['role']>(aclOf(world, vaultId).map(({ p, role }) => [p, role]))
  for (const [principal, role] of Object.entries(change)) role ? roles.set(principal, role) : roles.delete(principal)
  return [...roles].map(([p, role]) => ({ p, role })).sort((a, b) => (a.p < b.p ? -1 : 1))
}

/** An access list and the head that goes with it, logged by a colluding server. */
export async function logAccess(
  world: World,
  acl: readonly AclEntry[],
  signer: Signer,
  more: { readonly docs?: readonly Envelope[]; readonly state?: Partial<VaultState> } = {},
): Promise<void> {
  const list = await nextAcl(world, { acl }, signer)
  const access = { aclVersion: vaultStateOf(world).aclVersion + 1, aclHash: documentHash(list) }
  const head = await nextHead(world, access, signer)
  const index = world.host.leaves.length
  const headState = { headVersion: vaultStateOf(world).headVersion + 1, headHash: documentHash(head), headIndex: index }
  alterState<VaultState>(world, vaultName(world.prod), { ...access, aclIndex: index, ...headState, ...more.state }, [
    list,
    head,
    ...(more.docs ?? []),
  ])
}

/** Takes one key's signature off a document. */
export const withoutSignature = (envelope: Envelope, kid: string): Envelope => ({
  ...envelope,
  signatures: envelope.signatures.filter(({ keyid }) => keyid !== kid),
})

/** The keys of one person under the name of another. */
export const namedAs = (identity: Identity, kid: string): Identity => ({ ...identity, kid: kid as Identity['kid'] })

/** Mallory's keys under Bob's name: if the directory let her in, she could write to the vault as Bob. */
export const impostor = (): Promise<Identity> => identityOf('mallory', 'user:ou_bob1')

/** Puts a key into the directory by a false leaf, on the strength of `record`. */
export function logKid(world: World, kid: string, record: Envelope, change: Partial<KidState> = {}): void {
  const entry: KidState = {
    kid,
    status: 'active',
    added: world.host.leaves.length,
    end: null,
    rec: documentHash(record),
    capSets: [],
  }
  logFalse(world, [record], { [kidName(kid)]: { ...entry, ...change } }, 'key.add')
}

export const kidStateOf = (world: World, kid: string): KidState => world.host.state(kidName(kid)) as KidState

/** The whole attack with a false directory entry: it signs a head as a writer, and the server logs that too. */
export async function logWriter(
  world: World,
  writer: Identity,
  record: Envelope,
  change: Partial<KidState> = {},
): Promise<void> {
  logKid(world, writer.kid, record, change)
  await logHead(world, {}, writer)
}

export const policyOf = (world: World): Policy => peekDocument(orgGenesis, world.genesis).payload.policy

/** A commit that the server takes without looking at its content; the transition rules still hold. */
export async function takeUnchecked(
  world: World,
  { commit, content }: BuiltCommit,
  vaultId = world.prod,
): Promise<void> {
  const stored = world.vaults.get(vaultId) as StoredVault
  const isContent = (envelope: Envelope): boolean => ['item-detail', 'asset-content'].includes(claimedKind(envelope))
  await world.host.append([commit.head, ...commit.docs.filter((envelope) => !isContent(envelope))], world.now)
  stored.content = content
  for (const envelope of commit.docs.filter((one) => claimedKind(one) === 'item-detail')) {
    const { payload, hash } = peekDocument(itemDetail, envelope)
    stored.items.set(payload.itemId, { detail: payload, hash, envelope })
  }
  for (const [fieldId, envelope] of Object.entries(commit.values)) stored.values.set(fieldId, envelope)
}
