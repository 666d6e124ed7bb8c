import { capsSet, keyRotate } from '../../src/directory/documents.ts'
import { documentHash, type Envelope, makeDocument } from '../../src/identity/document.ts'
import { type KidState, kidName, POLICY_NAME, type PolicyState } from '../../src/log/state.ts'
import { registerKey } from '../../src/runtime/runtime-key.ts'
import { identityOf } from '../world/actors.ts'
import { addKey, changeVault, makePolicy, revokeKey, rotateAgent, setCaps, setPolicy } from '../world/acts.ts'
import { ORG, type World } from '../world/world.ts'
import type { Attack, Bench } from './attack.ts'
import { dekOf, makeDaveAdmin } from './authority.ts'
import { ADMIN } from './caps.ts'
import { MALLORY, readAgain } from './memory.ts'
import {
  aclWith,
  alterState,
  forge,
  impostor,
  kidStateOf,
  logged,
  logHead,
  logKid,
  policyOf,
  tamper,
} from './powers.ts'
import { rotation } from './succession.ts'

// Rows 9, 14 and 16 against a client with memory: keys that ended stay ended, and new ones follow known ones.

/** Changes what the log says of a key the client has seen ended. */
const revivedAs =
  (change: (world: World) => Partial<KidState>) =>
  async (world: World, { client }: Bench): Promise<unknown> => {
    const { alice, bob } = world.actors
    await revokeKey(world, bob.kid, 'removed', alice)
    await client.learn()
    alterState<KidState>(world, kidName(bob.kid), change(world))
    await logHead(world, {}, bob)
    alterState<KidState>(world, kidName(bob.kid), change(world))
    return readAgain(client)
  }

type CapSets = KidState['capSets']

interface Seen {
  readonly given: CapSets[number]
  readonly taken: CapSets[number]
  readonly last: CapSets[number]
}

/**
 * Carol was an admin, endorsed a writer, and is none any more, or was none for a while, as the client has seen; then the log says otherwise.
 */
const givingBack =
  (lie: (sets: Seen, world: World) => Promise<readonly [CapSets, ...Envelope[]]>, isGivenAgain = false) =>
  async (world: World, { client }: Bench): Promise<unknown> => {
    const { alice, carol, dave, mallory } = world.actors
    await setCaps(world, carol.kid, ADMIN, [alice])
    await addKey(world, mallory, ['member'], carol)
    const grants = [{ dek: dekOf(world), to: mallory.key }]
    await changeVault(world, { acl: aclWith(world, { [MALLORY]: 'write' }), grants }, alice)
    await world.write(world.prod, [], mallory)
    await setCaps(world, carol.kid, ['member'], [alice])
    if (isGivenAgain) await setCaps(world, carol.kid, ADMIN, [alice])
    await revokeKey(world, dave.kid, 'removed', alice)
    await client.learn()
    const [given, taken, last = taken] = kidStateOf(world, carol.kid).capSets as [Seen['given'], Seen['taken']]
    const [capSets, ...docs] = await lie({ given, taken, last }, world)
    alterState<KidState>(world, kidName(carol.kid), { capSets }, docs)
    return readAgain(client)
  }

export const MEMORY_KEYS: readonly Attack[] = [
  {
    id: 'memory-key-comes-back',
    row: 16,
    title: 'a removed key that the log shows as active again',
    code: 'log_rollback',
    behindKeys: true,
    run: revivedAs(() => ({ status: 'active', end: null })),
  },
  {
    id: 'memory-key-ends-later',
    row: 16,
    title: 'a removed key whose end the log moves to a later leaf',
    code: 'log_rollback',
    behindKeys: true,
    run: revivedAs((world) => ({ end: world.host.leaves.length + 1 })),
  },
  {
    id: 'memory-compromise-forgotten',
    row: 16,
    title: 'a compromised key that the log shows as merely removed',
    code: 'log_rollback',
    behindKeys: true,
    run: async (world, { client }) => {
      const { alice, dave } = world.actors
      await makeDaveAdmin(world)
      await changeVault(world, { acl: aclWith(world, { 'user:ou_bob1': 'admin' }) }, dave)
      await changeVault(world, { acl: aclWith(world, { 'user:ou_bob1': 'write' }) }, alice)
      await revokeKey(world, dave.kid, 'compromised', alice)
      await client.learn()
      alterState<KidState>(world, kidName(dave.kid), { status: 'removed' })
      return readAgain(client)
    },
  },
  {
    id: 'memory-key-came-otherwise',
    row: 9,
    title: 'a known key that the log now dates to another leaf',
    code: 'log_fork',
    behindKeys: true,
    run: async (world, { client }) => {
      await client.learn()
      const { added } = kidStateOf(world, world.actors.bob.kid)
      alterState<KidState>(world, kidName(world.actors.bob.kid), { added: added + 1 })
      return readAgain(client)
    },
  },
  {
    id: 'memory-record-forked',
    row: 14,
    title: 'another record of a known key, by a removed admin, that makes an admin of a member, who endorses a writer',
    code: 'log_fork',
    behindKeys: true,
    run: async (world, { client }) => {
      const { alice, dave, mallory } = world.actors
      await addKey(world, mallory, ['member'], alice)
      const grants = [{ dek: dekOf(world), to: mallory.key }]
      const acl = aclWith(world, { [MALLORY]: 'write', 'user:ou_carol': 'write' })
      await changeVault(world, { acl, grants }, alice)
      await world.write(world.prod, [], mallory)
      await revokeKey(world, dave.kid, 'removed', alice)
      await client.learn()
      const record = await registerKey({ org: ORG, caps: ADMIN, at: world.now }, dave, mallory)
      alterState<KidState>(world, kidName(mallory.kid), { rec: documentHash(record) }, [record])
      const carol = await identityOf('malloryNext', 'user:ou_carol')
      await addKey(world, carol, ['member'], mallory)
      await logHead(world, {}, carol)
      return readAgain(client)
    },
  },
  {
    id: 'memory-caps-come-back',
    row: 14,
    title: 'the caps.set that took an admin her rights, hidden again',
    code: 'log_rollback',
    behindKeys: true,
    run: givingBack(async ({ given }) => [[given]]),
  },
  {
    id: 'memory-caps-gap-closed',
    row: 14,
    title: 'the caps.set that took an admin her rights for a while, left out between two that gave them',
    code: 'log_rollback',
    behindKeys: true,
    run: givingBack(async ({ given, last }) => [[given, last]], true),
  },
  {
    id: 'memory-caps-taken-later',
    row: 14,
    title: 'the caps.set that took an admin her rights, in a later leaf than it was seen in',
    code: 'log_rollback',
    behindKeys: true,
    run: givingBack(async ({ given, taken }) => [[given, { ...taken, index: taken.index + 1 }]]),
  },
  {
    id: 'memory-caps-exchanged',
    row: 14,
    title: 'another caps.set in its place, by an admin who was one then',
    code: 'log_rollback',
    behindKeys: true,
    run: givingBack(async ({ given, taken }, world) => {
      const other = await forge(capsSet, logged(world, taken.docHash), { caps: ADMIN }, world.actors.dave)
      return [[given, { ...taken, docHash: documentHash(other) }], other]
    }),
  },
  {
    id: 'memory-new-key-of-known-person',
    row: 9,
    title: 'a new key for a known writer, endorsed by a dishonest admin',
    code: 'continuity_broken',
    behindKeys: true,
    run: async (world, { client }) => {
      await client.learn()
      const ghost = await impostor()
      await addKey(world, ghost, ['member'], world.actors.dave)
      await logHead(world, {}, ghost)
      return readAgain(client)
    },
  },
  {
    id: 'memory-two-rotations-of-one-key',
    row: 16,
    title: 'a stolen, superseded key rotates a second time in the leaf of its true rotation',
    code: 'continuity_broken',
    behindKeys: true,
    run: async (world, bench) => {
      const { deploy, deployNext } = world.actors
      await rotateAgent(world)
      const client = bench.clientOf(deployNext)
      const acl = aclWith(world, { 'agent:ag_deploy': 'write' })
      await changeVault(world, { acl }, world.actors.alice)
      await world.write(world.prod, [], deployNext)
      await client.learn()
      const ghost = await identityOf('mallory', 'agent:ag_deploy')
      const record = await makeDocument(keyRotate, rotation(world, deploy, ghost), [deploy, ghost])
      logKid(world, ghost.kid, record, { added: kidStateOf(world, deployNext.kid).added })
      await logHead(world, {}, ghost)
      return readAgain(client)
    },
  },
  {
    id: 'memory-policy-dated-back',
    row: 14,
    title: 'a policy by a former admin, dated back to the very leaf that removed him',
    code: 'log_fork',
    behindKeys: true,
    run: async (world, { client }) => {
      const { alice, dave } = world.actors
      await revokeKey(world, dave.kid, 'removed', alice)
      await client.learn()
      const policy = await makePolicy(world, { ...policyOf(world), provisioners: ['agent:ag_evil'] }, [dave])
      const indexes = [0, (kidStateOf(world, dave.kid).end as number) - 1]
      const change = { policyVersion: 2, policyHash: documentHash(policy), indexes }
      alterState<PolicyState>(world, POLICY_NAME, change, [policy])
      return readAgain(client)
    },
  },
  {
    id: 'memory-policy-exchanged',
    row: 14,
    title: 'another policy in the place of the one that was seen, by an admin who was one then',
    code: 'log_fork',
    behindKeys: true,
    run: async (world, { client }) => {
      const { alice, dave } = world.actors
      const policy = await makePolicy(world, { ...policyOf(world), provisioners: ['agent:ag_evil'] }, [dave])
      await setPolicy(world, { ...policyOf(world), rotationGraceMs: 5 }, [alice])
      await revokeKey(world, dave.kid, 'removed', alice)
      await client.learn()
      alterState<PolicyState>(world, POLICY_NAME, { policyHash: documentHash(policy) }, [policy])
      return readAgain(client)
    },
  },
  {
    id: 'memory-policy-of-other-leaf',
    row: 14,
    title: 'the policy of the organisation, said to hold from an earlier leaf on',
    code: 'log_fork',
    behindKeys: true,
    run: async (world, { client }) => {
      await setPolicy(world, { ...policyOf(world), rotationGraceMs: 5 }, [world.actors.alice])
      await client.learn()
      const { indexes } = world.host.state(POLICY_NAME) as PolicyState
      alterState<PolicyState>(world, POLICY_NAME, { indexes: [0, (indexes[1] as number) - 1] })
      return readAgain(client)
    },
  },
  {
    id: 'memory-policy-rolled-back',
    row: 14,
    title: 'the policy of the organisation set back',
    code: 'log_rollback',
    behindKeys: true,
    run: async (world, { client }) => {
      const older = world.host.state(POLICY_NAME) as PolicyState
      await setPolicy(world, { ...policyOf(world), dirQuorum: 2 }, [world.actors.alice])
      await client.learn()
      alterState<PolicyState>(world, POLICY_NAME, older)
      const answer = await client.ask()
      return client.read(
        tamper(answer, (copy) => {
          copy.policies = []
        }),
      )
    },
  },
]
