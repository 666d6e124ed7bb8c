import { expect } from 'vitest'
import { platform } from '#platform'
import {
  type Cap,
  capsSet,
  keyAdd,
  keyRecover,
  keyRevoke,
  orgGenesis,
  type Policy,
  policySet,
} from '../../src/directory/documents.ts'
import { toBase64url } from '../../src/encoding/base64.ts'
import type { ProtocolErrorCode } from '../../src/errors.ts'
import { documentHash, type Envelope, type Kind, makeDocument, peekDocument } from '../../src/identity/document.ts'
import { type Principal, principalOf } from '../../src/identity/identifiers.ts'
import type { CheckedKey } from '../../src/identity/key-bundle.ts'
import { decodePem, type Identity, openKeys, type Signer } from '../../src/identity/private-keys.ts'
import {
  type KidState,
  kidName,
  POLICY_NAME,
  type PolicyState,
  type VaultState,
  vaultName,
} from '../../src/log/state.ts'
import { registerKey } from '../../src/runtime/runtime-key.ts'
import { type Transition, transition } from '../../src/transition/transition.ts'
import { type Dek, makeDek } from '../../src/values/dek.ts'
import {
  type AclEntry,
  aclSet,
  epochNew,
  type VaultHeadPayload,
  vaultAdmins,
  vaultHead,
} from '../../src/vault/documents.ts'
import { wrapDek } from '../../src/wraps/wrapped-key.ts'
import keysFile from '../../vectors/keys.json' with { type: 'json' }
import { refusal } from '../log/refusal.ts'
import { ORG, type StoredVault, type World } from '../world/world.ts'

// What the suites of the transition rules share: acts that are tried without being appended, and documents made by hand.

export const salt = (): string => toBase64url(platform.randomBytes(16))

/** A new identity at once: an Ed25519 key of its own beside an RSA key that others use too. */
export async function newIdentity(principal: Principal): Promise<Identity> {
  return openKeys(principal, { ...decodePem(keysFile.keys.alice), sig: await platform.makeEd25519() })
}

/** A document of this organisation, signed now by the given people; the first is its author. */
export const sign = <N extends string, P>(
  world: World,
  kind: Kind<N, P>,
  members: Omit<P, 'org' | 'at'>,
  ...signers: readonly [Signer, ...Signer[]]
): Promise<Envelope> => makeDocument(kind, { org: ORG, at: world.now, ...members } as never, signers)

/** What would follow from an act, without appending it. */
export const apply = (world: World, docs: readonly Envelope[], at = world.now): Promise<Transition> =>
  transition(world.host.ledger, world.host.leaves.length, { docs, at })

/** The updates of an act by the names of the states they write. */
export async function updatesOf(world: World, docs: readonly Envelope[], at = world.now) {
  const { updates } = await apply(world, docs, at)
  return Object.fromEntries(updates.map(({ name, state }) => [name, state]))
}

/** Everything a log holds, in one text: equal before and after an act that was refused. */
export const fingerprint = ({ host }: World): string =>
  `${host.leaves.length} ${host.ledger.size()} ${toBase64url(host.ledger.map.root())} ${[...host.ledger.names()].length}`

/** The act is refused with this code, and nothing at all has changed. */
export async function refuses(
  world: World,
  docs: readonly Envelope[],
  code: ProtocolErrorCode,
  at = world.now,
): Promise<void> {
  const before = fingerprint(world)
  expect(await refusal(() => world.host.append(docs, at))).toBe(code)
  expect(fingerprint(world)).toBe(before)
}

export const kidStateOf = (world: World, kid: string): KidState => world.host.state(kidName(kid)) as KidState
export const vaultStateOf = (world: World, vaultId = world.prod): VaultState =>
  world.host.state(vaultName(vaultId)) as VaultState
export const policyStateOf = (world: World): PolicyState => world.host.state(POLICY_NAME) as PolicyState

// Acts on the directory.

export const register = (
  world: World,
  who: Signer,
  caps: readonly Cap[],
  ...endorsers: readonly [Signer, ...Signer[]]
) => sign(world, keyAdd, { kid: who.kid, key: who.key.bundle, caps: [...caps].sort() }, ...endorsers, who)

export async function join(world: World, who: Signer, caps: readonly Cap[], by: Signer = world.actors.alice) {
  await world.host.append([await registerKey({ org: ORG, caps: [...caps].sort(), at: world.now }, by, who)], world.now)
}

export const revoke = (
  world: World,
  kid: string,
  reason: 'superseded' | 'removed' | 'compromised',
  by: Signer = world.actors.alice,
) => sign(world, keyRevoke, { kid, reason }, by)

export const setCaps = (world: World, kid: string, caps: readonly Cap[], ...by: readonly [Signer, ...Signer[]]) =>
  sign(
    world,
    capsSet,
    { kid, caps: [...caps].sort(), prev: kidStateOf(world, kid).capSets.at(-1)?.docHash ?? '' },
    ...by,
  )

export const recover = (
  world: World,
  next: Identity,
  oldKids: readonly string[],
  reason: 'lost' | 'compromised',
  ...signers: readonly [Signer, ...Signer[]]
) =>
  sign(
    world,
    keyRecover,
    { principal: principalOf(next.kid), oldKids: [...oldKids].sort(), kid: next.kid, key: next.key.bundle, reason },
    ...signers,
  )

export const setPolicy = (world: World, change: object, ...by: readonly [Signer, ...Signer[]]) => {
  const { policyVersion, policyHash } = policyStateOf(world)
  const policy = { ...policyOf(world), ...change } as Policy
  return sign(world, policySet, { policyVersion: policyVersion + 1, policy, prev: policyHash }, ...by)
}

/** The policy in force, from the genesis or from the last policy.set. */
function policyOf(world: World): Policy {
  const { policyHash, policyVersion } = policyStateOf(world)
  const envelope = documentOf(world, policyHash)
  return (policyVersion === 1 ? peekDocument(orgGenesis, envelope) : peekDocument(policySet, envelope)).payload.policy
}

// Acts on a vault, document by document.

const documentOf = (world: World, docHash: string): Envelope => world.host.ledger.document(docHash) as Envelope

export const aclOf = (world: World, vaultId = world.prod): readonly AclEntry[] =>
  peekDocument(aclSet, documentOf(world, vaultStateOf(world, vaultId).aclHash)).payload.acl

/** The access list with some roles changed, and people taken off where the role is null. */
export function aclWith(
  world: World,
  change: Readonly<Record<string, AclEntry['role'] | null>>,
  vaultId = world.prod,
): AclEntry[] {
  const roles = new Map<string, AclEntry['role']>(aclOf(world, vaultId).map(({ p, role }) => [p, role]))
  for (const [principal, role] of Object.entries(change)) role ? roles.set(principal, role) : roles.delete(principal)
  return [...roles].map(([p, role]) => ({ p, role })).sort((a, b) => (a.p < b.p ? -1 : 1))
}

export interface CommitPlan {
  readonly vaultId?: string
  /** Signs everything that names no other signer. */
  readonly by?: Identity
  readonly acl?: readonly AclEntry[]
  readonly deferRotation?: boolean
  readonly admins?: readonly string[]
  readonly rotate?: 'member-removed' | 'key-compromised' | 'scheduled' | 'repair'
  /** Whom the new vault key is wrapped for; the readers of the resulting list by default. */
  readonly recipients?: readonly CheckedKey[]
  /** Wraps of the key in hand for people who join. */
  readonly grants?: readonly { readonly dek: Dek; readonly to: CheckedKey }[]
  readonly head?: Partial<VaultHeadPayload>
}

export interface CommitDocs {
  readonly admins: readonly Envelope[]
  readonly acl: readonly Envelope[]
  readonly epoch: readonly Envelope[]
  readonly wraps: readonly Envelope[]
  readonly head: Envelope
  readonly dek: Dek | undefined
  readonly all: readonly Envelope[]
}

/** Every active key of the people on a list, as far as the world knows them. */
export const activeKeysOf = (world: World, acl: readonly AclEntry[]): CheckedKey[] => {
  const readers = new Set(acl.map(({ p }) => p))
  return Object.values(world.actors as unknown as Record<string, Identity>)
    .filter(({ kid }) => readers.has(principalOf(kid)) && kidStateOf(world, kid)?.status === 'active')
    .map(({ key }) => key)
}

/** The documents of one commit that fit together; a test takes one of them and puts another in its place. */
export async function commitDocs(world: World, plan: CommitPlan = {}): Promise<CommitDocs> {
  const { vaultId = world.prod, by = world.actors.alice } = plan
  const state = vaultStateOf(world, vaultId)
  const admins = plan.admins && [
    await sign(
      world,
      vaultAdmins,
      { vaultId, adminsVersion: state.adminsIndexes.length + 1, admins: plan.admins, prev: state.adminsHash },
      by,
    ),
  ]
  const list =
    plan.acl &&
    (await sign(
      world,
      aclSet,
      {
        vaultId,
        aclVersion: state.aclVersion + 1,
        prev: state.aclHash,
        acl: plan.acl,
        ...(plan.deferRotation !== undefined && { deferRotation: plan.deferRotation }),
      },
      by,
    ))
  const access = list
    ? { aclVersion: state.aclVersion + 1, aclHash: documentHash(list) }
    : { aclVersion: state.aclVersion, aclHash: state.aclHash }
  const dek = plan.rotate && makeDek({ org: ORG, vaultId, dekVersion: state.dekVersion + 1 })
  const epoch = dek && [
    await sign(
      world,
      epochNew,
      {
        vaultId,
        dekVersion: dek.dekVersion,
        dekCommit: dek.dekCommit,
        prevDekVersion: state.dekVersion,
        reason: plan.rotate as string,
        ...access,
      } as never,
      by,
    ),
  ]
  const recipients = plan.recipients ?? activeKeysOf(world, plan.acl ?? aclOf(world, vaultId))
  const granted = [...(plan.grants ?? []), ...(dek ? recipients.map((to) => ({ dek, to })) : [])]
  const wraps = await Promise.all(granted.map((grant) => wrapDek(grant.dek, grant.to, by, world.now)))
  const key = dek && { dekVersion: dek.dekVersion, dekCommit: dek.dekCommit }
  const head = await nextHead(world, { ...access, ...key, ...plan.head }, by, vaultId)
  const parts = { admins: admins ?? [], acl: list ? [list] : [], epoch: epoch ?? [], wraps }
  return { ...parts, head, dek, all: [...parts.admins, ...parts.acl, ...parts.epoch, ...wraps, head] }
}

/** A head that follows the current one. */
export function nextHead(
  world: World,
  change: Partial<VaultHeadPayload> = {},
  by: Signer = world.actors.alice,
  vaultId = world.prod,
): Promise<Envelope> {
  const { headHash } = vaultStateOf(world, vaultId)
  const { by: _by, t: _t, v: _v, ...current } = peekDocument(vaultHead, documentOf(world, headHash)).payload
  const members = { ...current, headVersion: current.headVersion + 1, prev: headHash, changes: [], salt: salt() }
  return makeDocument(vaultHead, { ...members, at: world.now, ...change }, [by])
}

/** Appends a commit and keeps its vault key. */
export async function commit(world: World, plan: CommitPlan = {}): Promise<CommitDocs> {
  const made = await commitDocs(world, plan)
  await world.host.append(made.all, world.now)
  const stored = world.vaults.get(plan.vaultId ?? world.prod) as StoredVault
  if (made.dek) stored.dek = made.dek
  return made
}

export const dekOf = (world: World, vaultId = world.prod): Dek => (world.vaults.get(vaultId) as StoredVault).dek

/** Puts one more person into the world, so that its answers and commits know the key. */
export function admit(world: World, name: string, identity: Identity): Identity {
  Object.assign(world.actors, { [name]: identity })
  return identity
}
