import { documentHash } from '../../src/identity/document.ts'
import { type VaultState, vaultName } from '../../src/log/state.ts'
import { changeVault, revokeKey, setCaps, setPolicy } from '../world/acts.ts'
import type { Attack, Client, Honest } from './attack.ts'
import { logAdmins, makeDaveAdmin, nextAdmins } from './authority.ts'
import { aclWith, alterState, logAccess, logHead, nextAcl, nextHead, policyOf, vaultStateOf } from './powers.ts'

// Rows 6, 8 and 16 against a client with memory: whatever it has seen never goes back, and nothing is put into its past.

export const MALLORY = 'user:ou_mallory'
const DAVE = 'user:ou_dave'

export const readAgain = async (client: Client) => client.read(await client.ask())

export const MEMORY_HONEST: readonly Honest[] = [
  {
    id: 'memory-honest-change-of-everything',
    theme: 'memory',
    title: 'a client with memory follows new heads, lists, admins, vault keys, policies and endings',
    run: async (world, { client }) => {
      const { alice, bob, carol } = world.actors
      await client.learn()
      await makeDaveAdmin(world)
      await setPolicy(world, { ...policyOf(world), rotationGraceMs: 1 }, [alice])
      await setCaps(world, carol.kid, ['member', 'recovery'], [alice])
      await readAgain(client)
      await changeVault(world, { acl: aclWith(world, { [DAVE]: null }), rotate: 'member-removed' }, alice)
      await world.write(world.prod, [], bob)
      await readAgain(client)
      await revokeKey(world, bob.kid, 'removed', alice)
      await readAgain(client)
    },
  },
]

export const MEMORY: readonly Attack[] = [
  {
    id: 'memory-vault-rolled-back',
    row: 6,
    title: 'a leaf that sets the vault back to an older, authentic head',
    code: 'vault_rollback',
    run: async (world, { client }) => {
      const older = vaultStateOf(world)
      await world.write(world.prod, [], world.actors.bob)
      await client.learn()
      alterState<VaultState>(world, vaultName(world.prod), older)
      return readAgain(client)
    },
  },
  {
    id: 'memory-vault-forked',
    row: 8,
    title: 'another head of the version the client has seen, by the same writer',
    code: 'vault_fork',
    run: async (world, { client }) => {
      const { bob } = world.actors
      const other = await nextHead(world, {}, bob)
      await world.write(world.prod, [], bob)
      await client.learn()
      alterState<VaultState>(world, vaultName(world.prod), { headHash: documentHash(other) }, [other])
      return readAgain(client)
    },
  },
  {
    id: 'memory-access-rolled-back',
    row: 6,
    title: 'a newer head under an older access list, by a writer who was removed',
    code: 'vault_rollback',
    run: async (world, { client }) => {
      const { alice, bob } = world.actors
      const { aclVersion, aclHash, aclIndex } = vaultStateOf(world)
      await changeVault(world, { acl: aclWith(world, { 'user:ou_bob1': 'read' }) }, alice)
      await client.learn()
      await logHead(world, { aclVersion, aclHash }, bob)
      alterState<VaultState>(world, vaultName(world.prod), { aclIndex })
      return readAgain(client)
    },
  },
  {
    id: 'memory-key-rolled-back',
    row: 11,
    title: 'a newer head under an older vault key, which a removed reader still knows',
    code: 'vault_rollback',
    run: async (world, { client }) => {
      const { alice, bob } = world.actors
      const { dekVersion, dekCommit } = vaultStateOf(world)
      await changeVault(world, { rotate: 'scheduled' }, alice)
      await client.learn()
      await logHead(world, { dekVersion, dekCommit }, bob)
      return readAgain(client)
    },
  },
  {
    id: 'memory-key-forked',
    row: 12,
    title: 'another vault key of the version the client has seen',
    code: 'vault_fork',
    run: async (world, { client }) => {
      await client.learn()
      await logHead(world, { dekCommit: vaultStateOf(world, world.staging).dekCommit }, world.actors.bob)
      return readAgain(client)
    },
  },
  {
    id: 'memory-admin-chain-forked',
    row: 14,
    title: 'an admin who was removed signs another successor of the set she was in, and takes the vault over',
    code: 'vault_fork',
    run: async (world, { client }) => {
      const { alice, dave } = world.actors
      await makeDaveAdmin(world)
      // Signed while she was an admin, or later: nobody can tell.
      const takeover = await nextAdmins(world, { admins: [DAVE, MALLORY] }, dave)
      const index = world.host.leaves.length
      await changeVault(world, { acl: aclWith(world, { [DAVE]: null }), rotate: 'member-removed' }, alice)
      await client.learn()
      const state = {
        adminsHash: documentHash(takeover),
        adminsIndexes: [...vaultStateOf(world).adminsIndexes.slice(0, -1), index],
      }
      const roles = { 'user:ou_alice': null, [DAVE]: 'admin', [MALLORY]: 'admin' } as const
      await logAdmins(world, takeover, roles, dave, state)
      return readAgain(client)
    },
  },
  {
    id: 'memory-admins-dated-back',
    row: 14,
    title: 'a removed key of an admin extends the admin chain, dated back to before its removal',
    code: 'vault_fork',
    run: async (world, { client }) => {
      const { alice, dave } = world.actors
      await makeDaveAdmin(world)
      const index = world.host.leaves.length
      await revokeKey(world, dave.kid, 'superseded', alice)
      await client.learn()
      const admins = await nextAdmins(world, { admins: ['user:ou_alice', DAVE, MALLORY] }, dave)
      const chain = { adminsHash: documentHash(admins), adminsIndexes: [...vaultStateOf(world).adminsIndexes, index] }
      await logAdmins(world, admins, { [MALLORY]: 'admin' }, alice, chain)
      return readAgain(client)
    },
  },
  {
    id: 'memory-list-dated-back',
    row: 14,
    title: 'a removed admin’s access list, dated back to the very leaf that removed her',
    code: 'vault_fork',
    run: async (world, { client }) => {
      const { alice, dave } = world.actors
      await makeDaveAdmin(world)
      await changeVault(world, { acl: aclWith(world, { [DAVE]: null }), rotate: 'member-removed' }, alice)
      await client.learn()
      const { aclIndex } = vaultStateOf(world)
      const state = { aclIndex, headIndex: aclIndex }
      await logAccess(world, aclWith(world, { [MALLORY]: 'read' }), dave, { state })
      return readAgain(client)
    },
  },
  {
    id: 'memory-list-forked',
    row: 14,
    title:
      'another access list of the version the client has seen, by a removed admin, which makes a writer of a reader',
    code: 'vault_fork',
    run: async (world, { client }) => {
      const { alice, carol, dave } = world.actors
      await makeDaveAdmin(world)
      const { aclVersion, aclHash: prev } = vaultStateOf(world)
      await changeVault(world, { acl: aclWith(world, { [DAVE]: null }), rotate: 'member-removed' }, alice)
      await client.learn()
      const acl = aclWith(world, { 'user:ou_carol': 'write' })
      const list = await nextAcl(world, { aclVersion: aclVersion + 1, prev, acl }, dave)
      const aclHash = documentHash(list)
      const head = await nextHead(world, { aclHash }, carol)
      const headIndex = world.host.leaves.length
      const { headVersion } = vaultStateOf(world)
      const state = { aclHash, headVersion: headVersion + 1, headHash: documentHash(head), headIndex }
      alterState<VaultState>(world, vaultName(world.prod), state, [list, head])
      return readAgain(client)
    },
  },
  {
    id: 'memory-admins-moved-on',
    row: 14,
    title: 'the leaf that removed an admin moved on to a new one, so that a head of hers counts in it',
    code: 'vault_fork',
    run: async (world, { client }) => {
      const { alice, dave } = world.actors
      await makeDaveAdmin(world)
      await changeVault(world, { acl: aclWith(world, { [DAVE]: null }), rotate: 'member-removed' }, alice)
      await client.learn()
      const head = await nextHead(world, {}, dave)
      const index = world.host.leaves.length
      const { headVersion, adminsIndexes } = vaultStateOf(world)
      const step = { headVersion: headVersion + 1, headHash: documentHash(head), headIndex: index }
      const moved = { adminsIndexes: [...adminsIndexes.slice(0, -1), index], aclIndex: index }
      alterState<VaultState>(world, vaultName(world.prod), { ...step, ...moved }, [head])
      return readAgain(client)
    },
  },
  {
    id: 'memory-list-moved-on',
    row: 14,
    title: 'an access list that was seen, moved on to the leaf of a newer head',
    code: 'vault_fork',
    run: async (world, { client }) => {
      await client.learn()
      await world.write(world.prod, [], world.actors.bob)
      alterState<VaultState>(world, vaultName(world.prod), { aclIndex: vaultStateOf(world).headIndex })
      return readAgain(client)
    },
  },
]
