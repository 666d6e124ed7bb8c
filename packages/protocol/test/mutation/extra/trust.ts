import { orgGenesis } from '../../../src/directory/documents.ts'
import { verifyDirectory, verifyGenesis } from '../../../src/directory/resolve.ts'
import { toBase64url } from '../../../src/encoding/base64.ts'
import { canonical } from '../../../src/encoding/canonical.ts'
import { ProtocolError } from '../../../src/errors.ts'
import { addSignatures, documentHash, draftDocument, type Envelope } from '../../../src/identity/document.ts'
import type { Identity } from '../../../src/identity/private-keys.ts'
import { makeVerifierKey, NOTE_SIGNATURE } from '../../../src/log/note.ts'
import { type ProjectState, projectName, type VaultState, vaultName } from '../../../src/log/state.ts'
import { registerKey, requestEndorsement, rotateKey, verifyPendingKey } from '../../../src/runtime/runtime-key.ts'
import { parseTrustAnchor, type TrustAnchor } from '../../../src/trust/anchor.ts'
import { checkEvidence } from '../../../src/trust/check-evidence.ts'
import { makeEvidence } from '../../../src/trust/evidence.ts'
import { verifyForm } from '../../../src/trust/evidence-form.ts'
import { remember } from '../../../src/trust/remember.ts'
import { EMPTY_TRUST_STORE, orgTrustOf, parseTrustStore, pinAnchor, type TrustStore } from '../../../src/trust/store.ts'
import type { Dek } from '../../../src/values/dek.ts'
import { verifyVaultAnswer } from '../../../src/vault/answer.ts'
import { projectSet, vaultHead } from '../../../src/vault/documents.ts'
import { verifyProject } from '../../../src/vault/project.ts'
import { alterState, forge, logged, policyOf, vaultStateOf } from '../../attacks/powers.ts'
import { createProject, makeProjectChange, projectStateOf } from '../../world/acts.ts'
import { ORIGIN } from '../../world/log-host.ts'
import { sizeAndRoot } from '../../world/recovery.ts'
import { ORG, type World } from '../../world/world.ts'
import { extra } from '../extra-case.ts'

const HASH = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
const VKEY = makeVerifierKey(ORIGIN, NOTE_SIGNATURE, new Uint8Array(32)).vkey
const MEMBERS = { g: HASH, k: [VKEY], l: 'log.test', o: ORG, q: 'quorum none\n' }
const anchorOf = (change: object) => () => parseTrustAnchor(`vta1.${toBase64url(canonical({ ...MEMBERS, ...change }))}`)

const ANCHOR: TrustAnchor = { org: ORG, genesis: HASH, origin: ORIGIN, logVkeys: [VKEY], tlogPolicy: 'quorum none\n' }
const pinnedTwice = (change: Partial<TrustAnchor>) => () =>
  pinAnchor(pinAnchor(EMPTY_TRUST_STORE, ANCHOR, 'pinned'), { ...ANCHOR, ...change }, 'pinned')

const STORE = [
  extra('anchor-too-long', 'limit_exceeded', () => parseTrustAnchor('v'.repeat(70_000))),
  extra('anchor-of-no-form', 'malformed', () => parseTrustAnchor('anchor')),
  extra('anchor-of-other-version', 'alg_downgrade', () => parseTrustAnchor('vta2.AAAA')),
  extra('anchor-without-key', 'malformed', anchorOf({ k: [] })),
  extra('anchor-with-half-a-minimum', 'malformed', anchorOf({ s: 1 })),
  extra('store-of-no-object', 'malformed', () => parseTrustStore('{"version":1,"orgs":[]}')),
  extra('store-of-no-json', 'malformed', () => parseTrustStore('{'), 'not JSON'),
  extra('store-of-other-version', 'malformed', () => parseTrustStore('{"version":2,"orgs":{}}'), 'another version'),
  extra('store-pins-other-genesis', 'genesis_mismatch', pinnedTwice({ genesis: `B${HASH.slice(1)}` })),
  extra('store-pins-other-log', 'genesis_mismatch', pinnedTwice({ origin: 'log.other.test' })),
  extra('store-pins-other-log-of-one-size', 'log_fork', () => {
    const pinned = pinAnchor(EMPTY_TRUST_STORE, { ...ANCHOR, minimum: { size: 7, root: HASH } }, 'pinned')
    return pinAnchor(pinned, { ...ANCHOR, minimum: { size: 7, root: `B${HASH.slice(1)}` } }, 'pinned')
  }),
  extra('store-knows-no-such-organisation', 'genesis_mismatch', () => orgTrustOf(EMPTY_TRUST_STORE, ORG)),
  extra('evidence-of-no-code', 'malformed', async (open) => {
    const world = await open()
    const answer = await world.answer(world.prod, world.actors.deploy)
    const error = new ProtocolError('log_fork', 'a fork')
    const refusal = { error, org: ORG, vaultId: world.prod, trust: orgTrustOf(world.fresh(), ORG), answer }
    const evidence = makeEvidence({ ...refusal, now: world.now, maxStaleMs: 3_600_000 })
    return checkEvidence({ ...evidence, code: 'everything_is_fine' })
  }),
  extra('evidence-of-no-answer', 'malformed', async (open) => {
    const world = await open()
    return verifyForm('items')(null, world.prod, world.trust(world.fresh()))
  }),
]

/** Verifies against some pins and remembers in a store that may know more, as two reads at once do. */
async function readInto(
  world: World,
  store: TrustStore,
  options: { readonly pinned?: TrustStore } = {},
): Promise<TrustStore> {
  const { log, genesis, freshness } = world.trust(options.pinned ?? store)
  const have = log.seen?.size
  const answer = await world.vaultAnswer(world.prod, have === undefined ? {} : { have })
  const head = await verifyVaultAnswer(answer, world.prod, { log, genesis, freshness })
  return remember(store, { directory: head.vault.directory, heads: [head], now: world.now }).store
}

const raisedTo = (store: TrustStore, minimum: TrustAnchor['minimum']): TrustStore => {
  const { genesis, origin, logVkeys, tlogPolicy } = orgTrustOf(store, ORG)
  return pinAnchor(store, { org: ORG, genesis, origin, logVkeys, tlogPolicy, minimum }, 'pinned')
}

async function projectRead(world: World, store: TrustStore, projectId: string) {
  const { log, genesis, freshness } = world.trust(store)
  const names = { names: [projectName(projectId)], ...(log.seen && { have: log.seen.size }) }
  const head = await verifyVaultAnswer(await world.vaultAnswer(world.prod, names), world.prod, {
    log,
    genesis,
    freshness,
  })
  const { adminsHash, docHash } = projectStateOf(world, projectId)
  const response = { projectId, create: logged(world, adminsHash), adminsChain: [], set: logged(world, docHash) }
  return { head, response }
}

/** A second list of vaults under a version that is taken. */
async function forkProject(world: World, projectId: string): Promise<void> {
  const { docHash } = projectStateOf(world, projectId)
  const other = await forge(projectSet, logged(world, docHash), { vaults: [] }, world.actors.alice)
  alterState<ProjectState>(world, projectName(projectId), { docHash: documentHash(other) }, [other])
}

async function rememberProject(world: World, store: TrustStore, projectId: string): Promise<TrustStore> {
  const { head, response } = await projectRead(world, store, projectId)
  const { directory } = head.vault
  const project = await verifyProject(directory, response)
  return remember(store, { directory, heads: [], projects: [project], now: world.now }).store
}

const RACES = [
  extra('remember-other-organisation', 'genesis_mismatch', async (open) => {
    const world = await open()
    const { logVkeys, tlogPolicy } = orgTrustOf(world.fresh(), ORG)
    const other = pinAnchor(EMPTY_TRUST_STORE, { ...ANCHOR, logVkeys, tlogPolicy }, 'pinned')
    return readInto(world, other, { pinned: world.fresh() })
  }),
  extra('remember-two-logs-of-one-size', 'log_fork', async (open) => {
    const store = await readInto(...(await withStore(open)))
    const fork = await open()
    return readInto(fork, store, { pinned: fork.fresh() })
  }),
  extra('remember-without-link', 'missing_consistency', async (open) => {
    const [world, fresh] = await withStore(open)
    const store = await readInto(world, fresh)
    await world.write(world.staging, [], world.actors.bob)
    return readInto(world, store, { pinned: fresh })
  }),
  extra('remember-past-a-checkpoint-below-the-minimum', 'missing_consistency', async (open) => {
    const [world, fresh] = await withStore(open)
    const store = await readInto(world, fresh)
    await world.write(world.staging, [], world.actors.bob)
    return readInto(world, raisedTo(store, sizeAndRoot(world)))
  }),
  extra('remember-two-vaults-of-one-version', 'vault_fork', async (open) => {
    const [world, fresh] = await withStore(open)
    const other = await forge(vaultHead, logged(world, vaultStateOf(world).headHash), {}, world.actors.alice)
    const store = await readInto(world, fresh)
    alterState<VaultState>(world, vaultName(world.prod), { headHash: documentHash(other) }, [other])
    return readInto(world, store)
  }),
  extra('remember-older-vault', 'vault_rollback', async (open) => {
    const [world, fresh] = await withStore(open)
    const older = vaultStateOf(world)
    await world.write(world.prod, [], world.actors.bob)
    const store = await readInto(world, fresh)
    alterState<VaultState>(world, vaultName(world.prod), older)
    return readInto(world, store)
  }),
  extra('remember-older-project', 'project_rollback', async (open) => {
    const [world, fresh] = await withStore(open)
    const projectId = await createProject(world, [world.prod], world.actors.alice)
    const older = projectStateOf(world, projectId)
    await world.host.append(await makeProjectChange(world, projectId, {}, world.actors.alice), world.now)
    const store = await rememberProject(world, fresh, projectId)
    alterState<ProjectState>(world, projectName(projectId), older)
    return rememberProject(world, store, projectId)
  }),
  extra('remember-two-projects-of-one-version', 'project_mismatch', async (open) => {
    const [world, fresh] = await withStore(open)
    const projectId = await createProject(world, [world.prod], world.actors.alice)
    const store = await rememberProject(world, fresh, projectId)
    await forkProject(world, projectId)
    return rememberProject(world, store, projectId)
  }),
  extra('project-of-known-version', 'project_mismatch', async (open) => {
    const [world, fresh] = await withStore(open)
    const projectId = await createProject(world, [world.prod], world.actors.alice)
    const store = await rememberProject(world, fresh, projectId)
    await forkProject(world, projectId)
    const { head, response } = await projectRead(world, store, projectId)
    return verifyProject(head.vault.directory, response, orgTrustOf(store, ORG).projects[projectId])
  }),
]

async function withStore(open: () => Promise<World>): Promise<[World, TrustStore]> {
  const world = await open()
  return [world, world.fresh()]
}

/** A genesis by these founders, signed by those. */
async function genesisBy(founders: readonly Identity[], signers: readonly Identity[], world: World): Promise<Envelope> {
  const admins = founders.map(({ kid, key }) => ({ kid, key: key.bundle })).sort((a, b) => (a.kid < b.kid ? -1 : 1))
  const members = {
    org: ORG,
    at: 1,
    by: (signers[0] as Identity).kid,
    admins,
    policy: policyOf(world),
    salt: 'AAAAAAAAAAAAAAAAAAAAAA',
  }
  return addSignatures(draftDocument(orgGenesis, members), signers)
}

const founding =
  (founders: (world: World) => readonly Identity[], signers: (world: World) => readonly Identity[]) =>
  async (open: () => Promise<World>) => {
    const world = await open()
    const genesis = await genesisBy(founders(world), signers(world), world)
    return verifyGenesis(genesis, documentHash(genesis), ORG)
  }

const DIRECTORY = [
  extra(
    'genesis-without-a-founder',
    'missing_signature',
    founding(
      ({ actors }) => [actors.alice, actors.dave],
      ({ actors }) => [actors.alice],
    ),
  ),
  extra(
    'genesis-by-rsa-only-key',
    'not_authorised',
    founding(
      ({ actors }) => [actors.worker],
      ({ actors }) => [actors.worker],
    ),
  ),
  extra('directory-too-large', 'limit_exceeded', async (open) => {
    const world = await open()
    const { view } = (await world.head(world.prod)).vault.directory
    const records = Array.from({ length: 10_001 }, () => world.genesis)
    return verifyDirectory(
      view,
      { genesis: world.genesis, policies: [], records, capSets: [] },
      documentHash(world.genesis),
    )
  }),
]

const RUNTIME = [
  extra('registration-for-other-organisation', 'genesis_mismatch', async (open) => {
    const { alice, mallory } = (await open()).actors
    return verifyPendingKey('org_other', await registerKey({ org: ORG, caps: ['member'], at: 1 }, alice, mallory))
  }),
  extra('registration-for-more-than-an-agent', 'not_authorised', async (open) => {
    const { alice, deploy } = (await open()).actors
    const terms = { org: ORG, caps: ['agent', 'dir-admin'] as const, at: 1, endorser: alice.kid }
    return verifyPendingKey(ORG, await requestEndorsement(terms, deploy))
  }),
  extra('registration-with-false-signature', 'bad_signature', async (open) => {
    const { alice, mallory } = (await open()).actors
    const request = await requestEndorsement({ org: ORG, caps: ['member'], at: 1, endorser: alice.kid }, mallory)
    const [own] = request.signatures as [Envelope['signatures'][number]]
    return verifyPendingKey(ORG, { ...request, signatures: [{ ...own, sig: btoa('x'.repeat(64)) }] })
  }),
  extra('rotation-to-other-principal', 'key_substitution', async (open) => {
    const { deploy, worker } = (await open()).actors
    return rotateKey({ org: ORG, at: 1, held: [] }, deploy, worker)
  }),
  extra('rotation-too-large', 'limit_exceeded', async (open) => {
    const { deploy, deployNext } = (await open()).actors
    return rotateKey({ org: ORG, at: 1, held: Array.from({ length: 5000 }, () => ({}) as Dek) }, deploy, deployNext)
  }),
]

export const TRUST_CASES = [...STORE, ...RACES, ...DIRECTORY, ...RUNTIME]
