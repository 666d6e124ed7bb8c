import {
  type AssetPlace,
  type ContentKey,
  makeContentKey,
  sealAssetMeta,
  wrapContentKey,
} from '../../src/attachments/content-key.ts'
import { encryptStream } from '../../src/attachments/floe-stream.ts'
import { acceptInvite, makeInvite, parseInviteLink } from '../../src/directory/invite.ts'
import { concat } from '../../src/encoding/bytes.ts'
import { ProtocolError } from '../../src/errors.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import { decodePem } from '../../src/identity/private-keys.ts'
import { registerKey } from '../../src/runtime/runtime-key.ts'
import { makeEvidence } from '../../src/trust/evidence.ts'
import { remember } from '../../src/trust/remember.ts'
import { orgTrustOf, serialiseTrustStore, type TrustStore } from '../../src/trust/store.ts'
import { formatDeviceSecret, formatRecoveryCode, makeDeviceSecret, makeRecoveryCode } from '../../src/user/codes.ts'
import { makeKdf } from '../../src/user/kdf-floor.ts'
import { type BundlePlace, deriveUnlockKey, sealPrivateBundle, type UnlockKey } from '../../src/user/private-bundle.ts'
import type { Dek } from '../../src/values/dek.ts'
import {
  type EnvironmentAnswer,
  type OpenedEnvironment,
  openEnvironment,
  type ReaderTrust,
} from '../../src/vault/answer.ts'
import { buildCommit, type Commit, termsOf } from '../../src/vault/commit.ts'
import { planItem, signItem } from '../../src/vault/edit.ts'
import keysFile from '../../vectors/keys.json' with { type: 'json' }
import { item, MINUTE, ORG, openWorld, type StoredVault, type World } from '../world/world.ts'
import { type Sample, sampleDocuments } from './documents.ts'
import { withStillPlatform } from './still-platform.ts'

// Everything valid that mutations start from: a small organisation, what its honest server answered, and what its members
// wrote. Made anew in each run, the same in every run.

export const FLOE_PARAMETERS = { segmentBytes: 64, rotationBits: 1 }
export const FLOE_KEY: Uint8Array = new Uint8Array(32).fill(7)
export const FLOE_CONTEXT: Uint8Array = new Uint8Array(10).fill(1)

export interface FloeSample {
  readonly plaintext: Uint8Array
  readonly ciphertext: Uint8Array
}

export interface Fixtures {
  readonly world: World
  readonly documents: readonly Sample[]
  /** The honest answer that is altered, and others to replay parts from: older, of another vault, for another reader. */
  readonly answer: EnvironmentAnswer
  readonly others: readonly EnvironmentAnswer[]
  readonly opened: OpenedEnvironment
  /** What a reader knows who has read the honest answer before. */
  readonly trust: ReaderTrust
  readonly store: TrustStore
  readonly storeText: string
  readonly evidence: readonly object[]
  readonly commit: Commit
  readonly acts: readonly (readonly Envelope[])[]
  readonly inviteLink: string
  readonly invite: Envelope
  /** The half of a registration that somebody with the invite link has made. */
  readonly acceptance: Envelope
  readonly bundle: BundleSample
  readonly asset: AssetSample
  readonly deviceSecret: string
  readonly recoveryCode: string
  readonly floe: readonly FloeSample[]
}

/** The private keys of alice as the server keeps them, and what opens them. */
export interface BundleSample {
  readonly key: UnlockKey
  readonly place: BundlePlace
  readonly text: string
}

async function bundleSample(kid: string): Promise<BundleSample> {
  const version = { org: ORG, orgUserId: 'ou_alice', bundleVersion: 1 }
  const deviceSecret = makeDeviceSecret()
  const key = deriveUnlockKey({ exportKey: new Uint8Array(64).fill(5), deviceSecret }, version)
  const place = { ...version, kid, phcParams: makeKdf('argon2id').phc }
  return { key, place, text: await sealPrivateBundle(key, place, decodePem(keysFile.keys.alice)) }
}

/** The two sealed members of an attachment's checkpoint, and the place they belong to. */
export interface AssetSample {
  readonly dek: Dek
  readonly place: AssetPlace
  readonly key: ContentKey
  readonly cek: string
  readonly meta: string
}

async function assetSample(dek: Dek): Promise<AssetSample> {
  const place = { org: ORG, vaultId: dek.vaultId, assetId: 'ast_1234', assetVersion: 1 }
  const key = makeContentKey()
  const meta = await sealAssetMeta(key, place, { name: 'Schlüssel.pem', mediaType: 'text/plain' })
  return { dek, place, key, cek: await wrapContentKey(dek, place, key), meta }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function floeSample(length: number): Promise<FloeSample> {
  const plaintext = Uint8Array.from({ length }, (_, i) => i & 255)
  const chunks: Uint8Array[] = []
  const stream = encryptStream(FLOE_KEY, FLOE_CONTEXT, once(plaintext), { parameters: FLOE_PARAMETERS })
  for await (const chunk of stream) chunks.push(chunk)
  return { plaintext, ciphertext: concat(...chunks) }
}

async function evidenceOf(world: World, store: TrustStore, answer: EnvironmentAnswer): Promise<object> {
  const trust = world.trust(store, world.prod)
  const error = await openEnvironment(answer, world.prod, trust, world.actors.deploy).catch((one: unknown) => one)
  if (!(error instanceof ProtocolError)) throw new Error('an answer that should be refused was accepted')
  const { now, maxStaleMs } = trust.freshness
  const refusal = { error, org: ORG, vaultId: world.prod, trust: orgTrustOf(store, ORG), answer, now, maxStaleMs }
  return JSON.parse(JSON.stringify(makeEvidence(refusal))) as object
}

/** A commit that the server has not seen yet. */
async function pendingCommit(world: World): Promise<Commit> {
  const stored = world.vaults.get(world.prod) as StoredVault
  const { bob } = world.actors
  const head = await world.head(world.prod)
  const place = { org: ORG, vaultId: world.prod, at: world.now }
  const edits = [
    item('itm_stripe', 'Stripe', { STRIPE_KEY: 'sk_live_52' }),
    item('itm_mail', 'Mail', { MAIL_KEY: 'm' }),
  ]
  const items = []
  for (const edit of edits)
    items.push(await signItem(await planItem(stored.dek, stored.items.get(edit.itemId), edit), place, bob))
  const input = { ...place, base: head, content: stored.content, terms: termsOf(head.payload), items }
  return (await buildCommit(input, bob)).commit
}

async function makeFixtures(): Promise<Fixtures> {
  const world = await openWorld()
  const { alice, bob, deploy, worker, mallory } = world.actors
  const older = await world.answer(world.prod, deploy)
  const note = { ...item('itm_note', 'Note', { NOTE: 'n' }), fields: [] }
  world.now += MINUTE
  await world.write(world.prod, [note], bob)
  const answer = await world.answer(world.prod, deploy)
  const trusted = world.trust(world.fresh())
  const opened = await openEnvironment(answer, world.prod, trusted, deploy)
  const directory = opened.head.vault.directory
  const { store } = remember(world.fresh(), { directory, heads: [opened.head], now: world.now })
  const commit = await pendingCommit(world)
  const genesis = documentHash(world.genesis)
  const terms = { org: ORG, genesis, caps: ['member'] as const, expires: world.now + 1, note: '', at: world.now }
  const foreign = await world.answer(world.staging, deploy)
  const invited = await makeInvite(terms, alice)
  return {
    world,
    documents: await sampleDocuments(world.actors),
    answer,
    others: [older, foreign, await world.answer(world.prod, worker)],
    opened,
    trust: world.trust(store, world.prod),
    store,
    storeText: serialiseTrustStore(store),
    evidence: [await evidenceOf(world, store, older), await evidenceOf(world, store, { ...answer, fields: [] })],
    commit,
    acts: [[commit.head], [await registerKey({ org: ORG, caps: ['member'], at: world.now }, alice, mallory)]],
    inviteLink: invited.link,
    invite: invited.envelope,
    acceptance: await acceptInvite(parseInviteLink(invited.link), invited.envelope, mallory, world.now),
    bundle: await bundleSample(alice.kid),
    asset: await assetSample([...opened.keys.values()][0] as Dek),
    deviceSecret: formatDeviceSecret(makeDeviceSecret()),
    recoveryCode: formatRecoveryCode(makeRecoveryCode()),
    floe: [await floeSample(0), await floeSample(20), await floeSample(32), await floeSample(150)],
  }
}

let made: Promise<Fixtures> | undefined
export const fixtures = (): Promise<Fixtures> => {
  made ??= withStillPlatform(makeFixtures)
  return made
}
