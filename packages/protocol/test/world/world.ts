import { assetContent } from '../../src/attachments/checkpoint.ts'
import { defaultPolicy, orgGenesis } from '../../src/directory/documents.ts'
import { claimedKind, documentHash, type Envelope, makeDocument, peekDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import {
  grantName,
  type KidState,
  kidName,
  POLICY_NAME,
  type PolicyState,
  type VaultState,
  vaultName,
} from '../../src/log/state.ts'
import { registerKey } from '../../src/runtime/runtime-key.ts'
import { EMPTY_TRUST_STORE, logPinOf, orgTrustOf, pinAnchor, type TrustStore } from '../../src/trust/store.ts'
import type { Dek } from '../../src/values/dek.ts'
import { textValue } from '../../src/values/field.ts'
import type { EnvironmentAnswer, ReaderTrust, VaultAnswer } from '../../src/vault/answer.ts'
import { verifyVaultAnswer } from '../../src/vault/answer.ts'
import { checkCommit } from '../../src/vault/check-commit.ts'
import { buildCommit, type Commit, termsOf } from '../../src/vault/commit.ts'
import { EMPTY_CONTENT, type VaultContent } from '../../src/vault/content.ts'
import { type AclEntry, vaultAdmins } from '../../src/vault/documents.ts'
import { type ItemBase, type ItemEdit, planItem, signItem } from '../../src/vault/edit.ts'
import { createVault } from '../../src/vault/lifecycle.ts'
import type { VerifiedHead } from '../../src/vault/vault.ts'
import { wrappedDek } from '../../src/wraps/wrapped-key.ts'
import { type Actors, openActors } from './actors.ts'
import { type LogHost, ORIGIN, openLogHost } from './log-host.ts'

// A small organisation with an honest server, all in memory: every suite starts from it, and attacks alter its answers.

export const ORG = 'org_acme'
export const T0 = 1_767_225_600_000
export const MINUTE = 60_000

export interface StoredVault {
  content: VaultContent
  items: Map<string, ItemBase & { envelope: Envelope }>
  values: Map<string, string>
  documents: Map<string, Envelope>
  dek: Dek
}

export interface World {
  readonly actors: Actors
  readonly host: LogHost
  readonly genesis: Envelope
  readonly vaults: Map<string, StoredVault>
  /** The production vault; alice admin, bob writer, carol and the agents readers. */
  readonly prod: string
  readonly staging: string
  now: number
  /** A trust store that pins the organisation and has seen nothing yet. */
  fresh(): TrustStore
  trust(store: TrustStore, vaultId?: string): ReaderTrust
  vaultAnswer(vaultId: string, options?: AnswerOptions): Promise<VaultAnswer>
  answer(vaultId: string, reader: Identity, options?: AnswerOptions): Promise<EnvironmentAnswer>
  commit(vaultId: string, commit: Commit): Promise<void>
  /** The current head, verified as a stateless reader would. */
  head(vaultId: string): Promise<VerifiedHead>
  write(vaultId: string, edits: readonly ItemEdit[], by: Identity): Promise<void>
}

export interface AnswerOptions {
  readonly have?: number
  readonly at?: number
  /** Names to prove besides those the answer needs. */
  readonly names?: readonly string[]
}

export const item = (
  itemId: string,
  name: string,
  fields: Record<string, string>,
  hidden: Record<string, string> = {},
): ItemEdit => ({
  itemId,
  name,
  website: 'https://example.test',
  status: 'active',
  fields: [
    ...Object.entries(fields).map(([label, value]) => ({
      fieldId: `fld_${itemId}_${label}`,
      label,
      env: true,
      value: textValue(value),
    })),
    ...Object.entries(hidden).map(([label, value]) => ({
      fieldId: `fld_${itemId}_${label}`,
      label,
      env: false,
      value: textValue(value),
    })),
  ],
  assets: [],
})

export async function openWorld(): Promise<World> {
  const actors = await openActors()
  const { alice, bob, carol, dave, deploy, worker, hybrid } = actors
  const host = await openLogHost(ORG)
  const genesis = await makeDocument(
    orgGenesis,
    {
      org: ORG,
      at: T0,
      admins: [{ kid: alice.kid, key: alice.key.bundle }],
      policy: defaultPolicy(1),
      salt: 'AAAAAAAAAAAAAAAAAAAAAA',
    },
    [alice],
  )
  await host.append([genesis], T0)
  for (const who of [bob, carol])
    await host.append([await registerKey({ org: ORG, caps: ['member'], at: T0 }, alice, who)], T0)
  await host.append([await registerKey({ org: ORG, caps: ['dir-admin', 'member'], at: T0 }, alice, dave)], T0)
  for (const who of [deploy, worker, hybrid])
    await host.append([await registerKey({ org: ORG, caps: ['agent'], at: T0 }, alice, who)], T0)

  const vaults = new Map<string, StoredVault>()
  const world: World = {
    actors,
    host,
    genesis,
    vaults,
    prod: '',
    staging: '',
    now: T0 + MINUTE,
    fresh: () =>
      pinAnchor(
        EMPTY_TRUST_STORE,
        {
          org: ORG,
          genesis: documentHash(genesis),
          origin: ORIGIN,
          logVkeys: [host.logVkey],
          tlogPolicy: host.tlogPolicy,
        },
        'pinned',
      ),
    trust: (store, vaultId) => {
      const org = orgTrustOf(store, ORG)
      const vaultPin = vaultId ? org.vaults[vaultId] : undefined
      return {
        log: logPinOf(ORG, org),
        genesis: org.genesis,
        freshness: { now: world.now, maxStaleMs: 60 * MINUTE },
        ...(vaultPin && { vaultPin }),
      }
    },
    vaultAnswer: (vaultId, options) => vaultAnswer(world, vaultId, options),
    answer: (vaultId, reader, options) => environmentAnswer(world, vaultId, reader, options),
    commit: (vaultId, commit) => applyCommit(world, vaultId, commit),
    head: async (vaultId) => verifyVaultAnswer(await vaultAnswer(world, vaultId), vaultId, world.trust(world.fresh())),
    write: (vaultId, edits, by) => writeItems(world, vaultId, edits, by),
  }
  const acl: AclEntry[] = [
    { p: alice.key.principal, role: 'admin' },
    { p: bob.key.principal, role: 'write' },
    { p: carol.key.principal, role: 'read' },
    { p: deploy.key.principal, role: 'read' },
    { p: worker.key.principal, role: 'read' },
    { p: hybrid.key.principal, role: 'read' },
  ]
  const names = { prod: 'Payments prod', staging: 'Payments staging' }
  const made: Record<string, string> = {}
  for (const [key, name] of Object.entries(names)) {
    const recipients = [alice, bob, carol, deploy, worker, hybrid].map((who) => who.key)
    const change = await createVault(
      { org: ORG, meta: { name, classification: 'confidential', status: 'active' }, acl, recipients, at: T0 },
      alice,
    )
    vaults.set(change.vaultId, {
      content: EMPTY_CONTENT,
      items: new Map(),
      values: new Map(),
      documents: new Map(),
      dek: change.dek,
    })
    await world.commit(change.vaultId, change.commit)
    made[key] = change.vaultId
  }
  Object.assign(world, made)
  await world.write(
    world.prod,
    [
      item(
        'itm_database',
        'Database',
        { DATABASE_URL: 'postgres://u:p@db/prod', DATABASE_CA: 'pem' },
        { note: 'rotate in june' },
      ),
      item('itm_stripe', 'Stripe', { STRIPE_KEY: 'sk_live_51H' }),
    ],
    bob,
  )
  await world.write(
    world.staging,
    [item('itm_sdatabase', 'Database', { DATABASE_URL: 'postgres://u:p@db/staging' })],
    bob,
  )
  return world
}

async function writeItems(world: World, vaultId: string, edits: readonly ItemEdit[], by: Identity): Promise<void> {
  const stored = world.vaults.get(vaultId) as StoredVault
  const head = await world.head(vaultId)
  const at = world.now
  const items = []
  for (const edit of edits)
    items.push(
      await signItem(await planItem(stored.dek, stored.items.get(edit.itemId), edit), { org: ORG, vaultId, at }, by),
    )
  const { commit } = await buildCommit(
    { org: ORG, vaultId, base: head, content: stored.content, terms: termsOf(head.payload), items, at },
    by,
  )
  await world.commit(vaultId, commit)
}

/** What the server does with a commit: re-check, append, store. */
async function applyCommit(world: World, vaultId: string, commit: Commit): Promise<void> {
  const stored = world.vaults.get(vaultId) as StoredVault
  const keyOf = async (kid: string) => keyFromLedger(world, kid)
  const checked = await checkCommit(
    {
      org: ORG,
      vaultId,
      content: stored.content,
      item: async (itemId) => stored.items.get(itemId),
      oldestDek: async (but) => oldestDekOf(stored, but),
      keyOf,
    },
    commit,
  )
  await world.host.append(checked.acts, world.now)
  stored.content = checked.content
  for (const { detail, hash } of checked.items) {
    const envelope = commit.docs.find((candidate) => documentHash(candidate) === hash) as Envelope
    stored.items.set(detail.itemId, { detail, hash, envelope })
  }
  for (const [fieldId, envelope] of Object.entries(commit.values)) stored.values.set(fieldId, envelope)
  for (const envelope of commit.docs) stored.documents.set(documentHash(envelope), envelope)
}

/** The oldest vault key version that anything in a vault is under, but for some items and attachments. */
export function oldestDekOf(
  { items, content, documents }: StoredVault,
  but: { items: ReadonlySet<string>; assets: ReadonlySet<string> },
): number | undefined {
  const versions = [
    ...[...items.values()].filter(({ detail }) => !but.items.has(detail.itemId)).flatMap(({ detail }) => detail.fields),
    ...[...content.assets.values()]
      .filter(({ assetId }) => !but.assets.has(assetId))
      .map(({ docHash }) => peekDocument(assetContent, documents.get(docHash)).payload),
  ].map(({ dekVersion }) => dekVersion)
  return versions.length > 0 ? versions.reduce((a, b) => Math.min(a, b)) : undefined
}

async function keyFromLedger(world: World, kid: string) {
  const known = Object.values(world.actors).find((who: Identity) => who.kid === kid) as Identity | undefined
  return known && world.host.state(kidName(kid)) ? known.key : undefined
}

const documentOf = (world: World, hash: string): Envelope => world.host.ledger.document(hash) as Envelope

/** The kids an answer needs: signers, their endorsers and predecessors, up to the genesis. */
function closure(world: World, kids: Iterable<string>): { kids: string[]; records: Envelope[]; capSets: Envelope[] } {
  const seen = new Set<string>()
  const records = new Map<string, Envelope>()
  const capSets = new Map<string, Envelope>()
  const visit = (kid: string): void => {
    const state = world.host.state(kidName(kid)) as KidState | undefined
    if (seen.has(kid) || !state) return
    seen.add(kid)
    const record = documentOf(world, state.rec)
    if (claimedKind(record) !== 'org.genesis') records.set(state.rec, record)
    for (const { keyid } of record.signatures) visit(keyid)
    for (const { docHash } of state.capSets) {
      capSets.set(docHash, documentOf(world, docHash))
      for (const { keyid } of documentOf(world, docHash).signatures) visit(keyid)
    }
  }
  for (const kid of kids) visit(kid)
  return { kids: [...seen], records: [...records.values()], capSets: [...capSets.values()] }
}

interface VaultDocs {
  readonly create: Envelope
  readonly adminsChain: Envelope[]
  readonly acl: Envelope
  readonly head: Envelope
}

function vaultDocs(world: World, state: VaultState): VaultDocs {
  const chain: Envelope[] = []
  let envelope = documentOf(world, state.adminsHash)
  while (claimedKind(envelope) === 'vault.admins') {
    chain.unshift(envelope)
    envelope = documentOf(world, peekDocument(vaultAdmins, envelope).payload.prev)
  }
  return {
    create: envelope,
    adminsChain: chain,
    acl: documentOf(world, state.aclHash),
    head: documentOf(world, state.headHash),
  }
}

async function vaultAnswer(
  world: World,
  vaultId: string,
  options: AnswerOptions = {},
  extra: readonly Envelope[] = [],
  names: readonly string[] = [],
): Promise<VaultAnswer> {
  const state = world.host.state(vaultName(vaultId)) as VaultState
  const docs = vaultDocs(world, state)
  const policy = world.host.state(POLICY_NAME) as PolicyState
  const policies = [...world.host.leaves]
    .flatMap((leaf) => leaf.docs)
    .filter((envelope) => claimedKind(envelope) === 'policy.set')
  const signers = [docs.create, ...docs.adminsChain, docs.acl, docs.head, ...extra, ...policies].flatMap((envelope) =>
    envelope.signatures.map(({ keyid }) => keyid),
  )
  const needed = closure(world, signers)
  const proven = [POLICY_NAME, vaultName(vaultId), ...needed.kids.map(kidName), ...names, ...(options.names ?? [])]
  return {
    vaultId,
    genesis: world.genesis,
    policies: policies.slice(0, policy.policyVersion - 1),
    records: needed.records,
    capSets: needed.capSets,
    ...docs,
    transparency: await world.host.transparency([...new Set(proven)], { at: world.now, ...options }),
  }
}

async function environmentAnswer(
  world: World,
  vaultId: string,
  reader: Identity,
  options: AnswerOptions = {},
): Promise<EnvironmentAnswer> {
  const state = world.host.state(vaultName(vaultId)) as VaultState
  const stored = world.vaults.get(vaultId) as StoredVault
  const versions = [...state.draining.map((old) => old.dekVersion), state.dekVersion]
  const grants = versions.map((version) => grantName(vaultId, reader.kid, version))
  const wrappedKeys = grants.flatMap((name) => {
    const hash = (world.host.state(name) as { wrapHash: string } | undefined)?.wrapHash
    return hash ? [documentOf(world, hash)] : []
  })
  const recipients = wrappedKeys.map((envelope) => kidName(peekDocument(wrappedDek, envelope).payload.to))
  const answer = await vaultAnswer(
    world,
    vaultId,
    options,
    [...wrappedKeys, ...ownRecord(world, reader)],
    [...grants, ...recipients],
  )
  const fields = [...stored.content.env.values()].map((row) => ({
    row,
    value: stored.values.get(row.fieldId) as string,
  }))
  return { ...answer, wrappedKeys, fields }
}

/** A rotated reader needs its own record, to see that its former key may have wrapped for it. */
function ownRecord(world: World, reader: Identity): Envelope[] {
  const state = world.host.state(kidName(reader.kid)) as KidState | undefined
  return state ? [documentOf(world, state.rec)] : []
}
