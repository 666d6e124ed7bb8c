import { keyRotate } from '../../src/directory/documents.ts'
import { canonical, type JsonObject, parseStrict } from '../../src/encoding/canonical.ts'
import type { ProtocolErrorCode } from '../../src/errors.ts'
import { documentHash, makeDocument } from '../../src/identity/document.ts'
import { kidName, type VaultState, vaultName } from '../../src/log/state.ts'
import { registerKey } from '../../src/runtime/runtime-key.ts'
import { identityOf } from '../world/actors.ts'
import { changeVault, revokeKey, rotateAgent } from '../world/acts.ts'
import { ORG, type World } from '../world/world.ts'
import type { Attack, Honest } from './attack.ts'
import { audit, readStateless } from './auditor.ts'
import { makeDaveAdmin, nextAdmins } from './authority.ts'
import {
  aclWith,
  alterState,
  impostor,
  kidStateOf,
  logAccess,
  logFalse,
  logged,
  logHead,
  logKid,
  vaultStateOf,
} from './powers.ts'
import { rotation } from './succession.ts'

// Row 30 and its relatives: leaves that only add to the log and that no rule allows. Witnesses cosign them, because they
// only look at growth. A client with memory refuses what it knows better; a client without can only be protected by an
// auditor, who replays every leaf and does not cosign.

const MALLORY = 'user:ou_mallory'
const DAVE = 'user:ou_dave'

/** A lie that only adds a leaf. */
export interface FalseLeaf {
  readonly id: string
  readonly row: number
  readonly title: string
  /** What the auditor finds. */
  readonly code: ProtocolErrorCode
  lie(world: World): Promise<void>
}

/** Accepted by a client without memory where only append-only witnesses cosign, and by nobody where an auditor does. */
export const RESIDUAL: readonly FalseLeaf[] = [
  {
    id: 'older-state',
    row: 30,
    title: 'the vault set back to an older, authentic state',
    code: 'head_conflict',
    lie: async (world) => {
      const older = vaultStateOf(world)
      await world.write(world.prod, [], world.actors.bob)
      alterState<VaultState>(world, vaultName(world.prod), older, [logged(world, older.headHash)])
    },
  },
  {
    id: 'older-state-without-documents',
    row: 30,
    title: 'the same, by a leaf that names no document at all',
    code: 'bad_transition',
    lie: async (world) => {
      const older = vaultStateOf(world)
      await world.write(world.prod, [], world.actors.bob)
      alterState<VaultState>(world, vaultName(world.prod), older)
    },
  },
  {
    id: 'key-revived',
    row: 16,
    title: 'a removed key shown as active, and what it signs',
    code: 'signer_not_active',
    lie: async (world) => {
      const { alice, bob } = world.actors
      const alive = kidStateOf(world, bob.kid)
      await revokeKey(world, bob.kid, 'removed', alice)
      const head = await logHead(world, {}, bob)
      logFalse(world, [head], { [kidName(bob.kid)]: alive })
    },
  },
  {
    id: 'duty-suppressed',
    row: 15,
    title: 'the duty to rotate taken out of the state',
    code: 'bad_transition',
    lie: async (world) => {
      const { alice } = world.actors
      await changeVault(world, { acl: aclWith(world, { 'user:ou_carol': null }), deferRotation: true }, alice)
      alterState<VaultState>(world, vaultName(world.prod), { rotationDue: null })
    },
  },
  {
    id: 'list-dated-back',
    row: 14,
    title: 'a removed admin’s access list, dated back to the leaf that removed her',
    code: 'not_authorised',
    lie: async (world) => {
      const { alice, dave } = world.actors
      await makeDaveAdmin(world)
      await changeVault(world, { acl: aclWith(world, { [DAVE]: null }), rotate: 'member-removed' }, alice)
      const { aclIndex } = vaultStateOf(world)
      await logAccess(world, aclWith(world, { [MALLORY]: 'read' }), dave, { state: { aclIndex, headIndex: aclIndex } })
    },
  },
  {
    id: 'admin-chain-forked',
    row: 14,
    title: 'a removed admin who signs another successor of the set she was in',
    code: 'bad_transition',
    lie: async (world) => {
      const { alice, dave } = world.actors
      await makeDaveAdmin(world)
      const takeover = await nextAdmins(world, { admins: [DAVE, MALLORY] }, dave)
      const adminsIndexes = [...vaultStateOf(world).adminsIndexes, world.host.leaves.length]
      await changeVault(world, { acl: aclWith(world, { [DAVE]: null }), rotate: 'member-removed' }, alice)
      const roles = { 'user:ou_alice': null, [DAVE]: 'admin', [MALLORY]: 'admin' } as const
      const state = { adminsHash: documentHash(takeover), adminsIndexes }
      await logAccess(world, aclWith(world, roles), dave, { docs: [takeover], state })
    },
  },
  {
    id: 'endorsement-dated-back',
    row: 16,
    title: 'an endorsement by a removed admin, dated back to when he was one',
    code: 'signer_not_active',
    lie: async (world) => {
      const { alice, dave } = world.actors
      const added = kidStateOf(world, dave.kid).added + 1
      await revokeKey(world, dave.kid, 'removed', alice)
      const ghost = await impostor()
      const record = await registerKey({ org: ORG, caps: ['member'], at: world.now }, dave, ghost)
      logKid(world, ghost.kid, record, { added })
      await logHead(world, {}, ghost)
    },
  },
  {
    id: 'second-rotation',
    row: 16,
    title: 'a stolen, superseded key that rotates again in the leaf of its true rotation',
    code: 'signer_not_active',
    lie: async (world) => {
      const { alice, deploy, deployNext } = world.actors
      await rotateAgent(world)
      await changeVault(world, { acl: aclWith(world, { 'agent:ag_deploy': 'write' }) }, alice)
      const ghost = await identityOf('mallory', 'agent:ag_deploy')
      const record = await makeDocument(keyRotate, rotation(world, deploy, ghost), [deploy, ghost])
      logKid(world, ghost.kid, record, { added: kidStateOf(world, deployNext.kid).added })
      await logHead(world, {}, ghost)
    },
  },
]

/** A leaf of the log with other members than its documents ask for. */
const leafAltered =
  (change: (leaf: JsonObject) => JsonObject) =>
  async (world: World): Promise<void> => {
    const leaves = world.host.leaves.map((one, i) =>
      i === world.host.leaves.length - 1
        ? { ...one, made: { bytes: canonical(change(parseStrict(one.made.bytes) as JsonObject)) } }
        : one,
    )
    await audit(world, leaves)
  }

type Update = readonly [string, string, string]
const updated = (change: (update: Update) => Update) =>
  leafAltered((leaf) => ({ ...leaf, u: (leaf.u as unknown as readonly Update[]).map(change) }) as unknown as JsonObject)

const HASH = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

export const FALSE_LEAVES_HONEST: readonly Honest[] = [
  {
    id: 'false-leaves-honest-log',
    theme: 'false leaves',
    title: 'an auditor replays an honest log and cosigns, and a stateless runner reads',
    run: async (world) => {
      const { alice } = world.actors
      await makeDaveAdmin(world)
      await rotateAgent(world)
      await changeVault(world, { rotate: 'scheduled' }, alice)
      await audit(world)
      if ((await readStateless(world, true)) !== 3) throw new Error('not everything was read')
    },
  },
]

export const FALSE_LEAVES: readonly Attack[] = [
  ...RESIDUAL.map(
    ({ id, row, title, code, lie }): Attack => ({
      id: `false-leaf-${id}`,
      row,
      title: `${title}: seen by the auditor`,
      code,
      run: async (world) => {
        await lie(world)
        await audit(world)
      },
    }),
  ),
  ...RESIDUAL.map(
    ({ id, row, title, lie }): Attack => ({
      id: `false-leaf-${id}-guarded`,
      row,
      title: `${title}: to a stateless runner that asks for an auditor`,
      code: 'witness_quorum',
      run: async (world) => {
        await lie(world)
        await readStateless(world, true)
      },
    }),
  ),
  {
    id: 'false-leaf-self-promotion',
    row: 14,
    title: 'a writer who made himself an admin: seen by the auditor',
    code: 'not_authorised',
    run: async (world) => {
      await logAccess(world, aclWith(world, { 'user:ou_bob1': 'admin' }), world.actors.bob)
      await audit(world)
    },
  },
  {
    id: 'false-leaf-other-documents',
    row: 30,
    title: 'a leaf that names other documents than the server delivers',
    code: 'bad_transition',
    run: leafAltered((leaf) => ({ ...leaf, d: [HASH] })),
  },
  {
    id: 'false-leaf-other-type',
    row: 24,
    title: 'a leaf that names a gentler act than its documents make',
    code: 'bad_transition',
    run: leafAltered((leaf) => ({ ...leaf, t: 'grant.add' })),
  },
  {
    id: 'false-leaf-more-updates',
    row: 30,
    title: 'a leaf that changes a state its documents do not speak of',
    code: 'bad_transition',
    run: leafAltered((leaf) => {
      const updates = [...(leaf.u as unknown as readonly Update[]), ['vault/zzz', '', HASH]]
      return { ...leaf, u: updates } as unknown as JsonObject
    }),
  },
  {
    id: 'false-leaf-other-start',
    row: 30,
    title: 'a leaf that starts from another state than the log has',
    code: 'bad_transition',
    run: updated(([name, , next]) => [name, HASH, next]),
  },
  {
    id: 'false-leaf-other-end',
    row: 30,
    title: 'a leaf that writes another state than its documents ask for',
    code: 'bad_transition',
    run: updated(([name, old]) => [name, old, HASH]),
  },
  {
    id: 'false-leaf-other-root',
    row: 30,
    title: 'a leaf with another state root than follows from it',
    code: 'bad_transition',
    run: leafAltered((leaf) => ({ ...leaf, r: HASH })),
  },
  {
    id: 'false-leaf-dated-back',
    row: 15,
    title: 'a leaf that is older than the one before it, to stretch a grace period',
    code: 'bad_transition',
    run: leafAltered((leaf) => ({ ...leaf, at: 1 })),
  },
]
