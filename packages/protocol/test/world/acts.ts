import { assetRowOf, makeAssetCheckpoint } from '../../src/attachments/checkpoint.ts'
import type { AssetPlace } from '../../src/attachments/content-key.ts'
import { encryptAttachment } from '../../src/attachments/transfer.ts'
import { type Cap, capsSet, keyRecover, keyRevoke, type Policy, policySet } from '../../src/directory/documents.ts'
import { type Bytes, concat } from '../../src/encoding/bytes.ts'
import { documentHash, type Envelope, makeDocument, peekDocument } from '../../src/identity/document.ts'
import { principalOf } from '../../src/identity/identifiers.ts'
import type { Identity, Signer } from '../../src/identity/private-keys.ts'
import {
  type KidState,
  kidName,
  POLICY_NAME,
  type PolicyState,
  type ProjectState,
  projectName,
  type VaultState,
  vaultName,
} from '../../src/log/state.ts'
import { registerKey, rotateKey } from '../../src/runtime/runtime-key.ts'
import { deriveProjectId } from '../../src/vault/authority.ts'
import { buildCommit, termsOf } from '../../src/vault/commit.ts'
import { type AclEntry, aclSet, projectAdmins, projectCreate, projectSet } from '../../src/vault/documents.ts'
import { type ChangeAccessInput, changeAccess } from '../../src/vault/lifecycle.ts'
import { ORG, type StoredVault, type World } from './world.ts'

// What the members of the organisation do besides writing items: each act is honest and goes through the transition rules.

type Signers = readonly [Signer, ...Signer[]]

const place = (world: World) => ({ org: ORG, at: world.now })
const submit = async (world: World, ...docs: readonly Envelope[]): Promise<void> => {
  await world.host.append(docs, world.now)
}

export const addKey = async (world: World, who: Identity, caps: readonly Cap[], endorser: Signer): Promise<void> =>
  submit(world, await registerKey({ ...place(world), caps }, endorser, who))

export const makeRevocation = (
  world: World,
  kid: string,
  reason: 'superseded' | 'removed' | 'compromised',
  by: Signer,
): Promise<Envelope> => makeDocument(keyRevoke, { ...place(world), kid, reason }, [by])

export const revokeKey = async (
  world: World,
  kid: string,
  reason: 'superseded' | 'removed' | 'compromised',
  by: Signer,
): Promise<void> => submit(world, await makeRevocation(world, kid, reason, by))

export const makeCaps = (world: World, kid: string, caps: readonly Cap[], signers: Signers): Promise<Envelope> => {
  const prev = (world.host.state(kidName(kid)) as KidState | undefined)?.capSets.at(-1)?.docHash ?? ''
  return makeDocument(capsSet, { ...place(world), kid, caps, prev }, signers)
}

export const setCaps = async (world: World, kid: string, caps: readonly Cap[], signers: Signers): Promise<Envelope> => {
  const envelope = await makeCaps(world, kid, caps, signers)
  await submit(world, envelope)
  return envelope
}

export const makePolicy = async (world: World, policy: Policy, signers: Signers): Promise<Envelope> => {
  const { policyVersion, policyHash } = world.host.state(POLICY_NAME) as PolicyState
  const members = { ...place(world), policyVersion: policyVersion + 1, policy, prev: policyHash }
  return makeDocument(policySet, members, signers)
}

export const setPolicy = async (world: World, policy: Policy, signers: Signers): Promise<void> =>
  submit(world, await makePolicy(world, policy, signers))

/** Every active key of everyone on an access list. */
const recipientsOf = (world: World, acl: readonly AclEntry[]) => {
  const readers = new Set(acl.map(({ p }) => p))
  return Object.values(world.actors as unknown as Record<string, Identity>)
    .filter(({ kid }) => readers.has(principalOf(kid)))
    .filter(({ kid }) => (world.host.state(kidName(kid)) as KidState | undefined)?.status === 'active')
    .map(({ key }) => key)
}

type AccessChange = Partial<Omit<ChangeAccessInput, 'head' | 'content' | 'at' | 'rotate'>> & {
  readonly rotate?: 'member-removed' | 'key-compromised' | 'scheduled' | 'repair'
}

export const makeAccessChange = async (world: World, change: AccessChange, by: Signer, vaultId = world.prod) => {
  const { content } = world.vaults.get(vaultId) as StoredVault
  const state = world.host.state(vaultName(vaultId)) as VaultState
  const current = peekDocument(aclSet, world.host.ledger.document(state.aclHash) as Envelope).payload.acl
  const { rotate, ...rest } = change
  const rotation = rotate && { reason: rotate, recipients: recipientsOf(world, change.acl ?? current) }
  const head = await world.head(vaultId)
  return changeAccess({ ...rest, head, content, at: world.now, ...(rotation && { rotate: rotation }) }, by)
}

/** Changes the access list, rotates the vault key, or both. */
export const changeVault = async (world: World, change: AccessChange, by: Signer, vaultId = world.prod) => {
  const made = await makeAccessChange(world, change, by, vaultId)
  await world.commit(vaultId, made.commit)
  const stored = world.vaults.get(vaultId) as StoredVault
  if (made.dek) stored.dek = made.dek
}

/** The agent `deploy` rotates to its next key; `held` are the vault keys it has. */
export const rotateAgent = async (world: World): Promise<void> => {
  const { deploy, deployNext } = world.actors
  const held = [...world.vaults.values()].map(({ dek }) => dek)
  const { event, replacements } = await rotateKey({ ...place(world), held }, deploy, deployNext)
  await submit(world, event, ...replacements)
}

export const makeRecovery = (
  world: World,
  next: Identity,
  oldKids: readonly string[],
  reason: 'lost' | 'compromised',
  signers: Signers,
): Promise<Envelope> =>
  makeDocument(
    keyRecover,
    { ...place(world), principal: principalOf(next.kid), oldKids, kid: next.kid, key: next.key.bundle, reason },
    signers,
  )

export const projectStateOf = (world: World, projectId: string): ProjectState =>
  world.host.state(projectName(projectId)) as ProjectState

export async function makeProject(world: World, vaults: readonly string[], by: Signer) {
  const admins = [principalOf(by.kid)]
  const create = await makeDocument(projectCreate, { ...place(world), admins, salt: 'AAAAAAAAAAAAAAAAAAAAAA' }, [by])
  const projectId = deriveProjectId(documentHash(create))
  const members = { projectId, projectVersion: 1, slug: 'payments', name: 'Payments', status: 'active', prev: '' }
  const set = await makeDocument(projectSet, { ...place(world), ...members, vaults: [...vaults].sort() } as never, [by])
  return { projectId, create, set }
}

export async function createProject(world: World, vaults: readonly string[], by: Signer): Promise<string> {
  const { projectId, create, set } = await makeProject(world, vaults, by)
  await submit(world, create, set)
  return projectId
}

type ProjectChange = { readonly vaults?: readonly string[]; readonly admins?: readonly string[] }

/** The next version of a project, with its admin document if admins change. */
export async function makeProjectChange(world: World, projectId: string, change: ProjectChange, by: Signer) {
  const state = projectStateOf(world, projectId)
  const { v: _v, t: _t, by: _by, ...members } = peekDocument(projectSet, documentOf(world, state.docHash)).payload
  const step = { at: world.now, projectVersion: state.projectVersion + 1, prev: state.docHash }
  const vaults = change.vaults ? { vaults: [...change.vaults].sort() } : {}
  const set = await makeDocument(projectSet, { ...members, ...step, ...vaults }, [by])
  const { adminsHash, adminsIndexes } = state
  const docs = change.admins && [
    await makeDocument(
      projectAdmins,
      { ...place(world), projectId, adminsVersion: adminsIndexes.length + 1, admins: change.admins, prev: adminsHash },
      [by],
    ),
  ]
  return [set, ...(docs ?? [])]
}

const documentOf = (world: World, hash: string): Envelope => world.host.ledger.document(hash) as Envelope

export interface Attached {
  readonly envelope: Envelope
  readonly ciphertext: Bytes
  readonly place: AssetPlace
}

export const ASSET_ID = 'ast_certificate'
export const ASSET_ITEM = 'itm_database'

/** Encrypts a file for the production vault and signs its checkpoint; nothing is committed yet. */
export async function sealAsset(
  world: World,
  plaintext: Uint8Array,
  by: Signer,
  options: { readonly assetId?: string; readonly assetVersion?: number; readonly vaultId?: string } = {},
): Promise<Attached> {
  const { assetId = ASSET_ID, assetVersion = 1, vaultId = world.prod } = options
  const { dek } = world.vaults.get(vaultId) as StoredVault
  const at: AssetPlace = { org: ORG, vaultId, assetId, assetVersion }
  const source = (async function* () {
    yield plaintext
  })()
  const made = await encryptAttachment({ dek, place: at, source, name: 'ca.pem', mediaType: 'text/plain' })
  const chunks: Uint8Array[] = []
  for await (const chunk of made.ciphertext) chunks.push(chunk)
  const input = { place: at, itemId: ASSET_ITEM, content: made.content(), at: world.now }
  return { envelope: await makeAssetCheckpoint(input, by), ciphertext: concat(...chunks), place: at }
}

/** Commits attachments to their vault. */
export async function attach(world: World, assets: readonly Attached[], by: Signer): Promise<void> {
  const vaultId = world.prod
  const head = await world.head(vaultId)
  const { content } = world.vaults.get(vaultId) as StoredVault
  const rows = assets.map(({ envelope, place: at }) => ({
    envelope,
    row: assetRowOf(envelope, { place: at, itemId: ASSET_ITEM }),
  }))
  const { commit } = await buildCommit(
    { org: ORG, vaultId, base: head, content, terms: termsOf(head.payload), assets: rows, at: world.now },
    by,
  )
  await world.commit(vaultId, commit)
}
