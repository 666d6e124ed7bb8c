import { documentHash } from '../../src/identity/document.ts'
import { POLICY_NAME, type PolicyState, type VaultState, vaultName } from '../../src/log/state.ts'
import { orgTrustOf } from '../../src/trust/store.ts'
import { addKey, changeVault, revokeKey, setCaps, setPolicy } from '../world/acts.ts'
import { backupOf, loseTo, makeStatement, recoveryAnswer } from '../world/recovery.ts'
import { ORG } from '../world/world.ts'
import type { Attack, Honest } from './attack.ts'
import { DAVE, dekOf, logAdmins, MALLORY, makeDaveAdmin, nextAdmins } from './authority.ts'
import { readAgain } from './memory.ts'
import { aclWith, alterState, logHead, policyOf, vaultStateOf } from './powers.ts'
import { HASH, recovered, write } from './restored.ts'

// Row 31 after an honest recovery: what was seen of the kept log stays, and what was taken in the part that is gone is not given
// back.

export const RESTORED_MEMORY: readonly Attack[] = [
  {
    id: 'restored-recovery-taken-out',
    row: 31,
    title: 'a leaf that takes a recovery out of the list the client knows',
    code: 'log_rollback',
    behindKeys: true,
    run: async (world, { client }) => {
      await recovered(world, client, write)
      await client.learn()
      alterState<PolicyState>(world, POLICY_NAME, { recoveries: [] })
      return readAgain(client)
    },
  },
  {
    id: 'restored-recovery-dated-back',
    row: 31,
    title: 'a leaf that puts a recovery into the past the client knows',
    code: 'log_rollback',
    behindKeys: true,
    run: async (world, { client }) => {
      await client.learn()
      alterState<PolicyState>(world, POLICY_NAME, { recoveries: [{ index: 3, docHash: HASH }] })
      return readAgain(client)
    },
  },
  {
    id: 'restored-policy-dated-back',
    row: 31,
    title: 'an honest recovery, and with it a policy put into the past the client knows',
    code: 'log_fork',
    run: async (world, { client }) => {
      const { alice } = world.actors
      const backup = backupOf(world)
      await write(world)
      await client.learn()
      const statement = await makeStatement(world, await loseTo(world, backup), [alice])
      await world.host.append([statement], world.now)
      await setPolicy(world, { ...policyOf(world), rotationGraceMs: 0 }, [alice])
      alterState<PolicyState>(world, POLICY_NAME, { indexes: [0, 3] })
      return client.recover(await recoveryAnswer(world, statement))
    },
  },
  {
    id: 'restored-key-writes-again',
    row: 31,
    title: 'a writer whose key the client has seen removed, and who is a writer of the restored log',
    code: 'signer_not_active',
    run: async (world, { client }) => {
      const { alice, bob } = world.actors
      await recovered(world, client, () => revokeKey(world, bob.kid, 'removed', alice))
      await write(world)
      return readAgain(client)
    },
  },
  {
    id: 'restored-key-is-sound-again',
    row: 31,
    title:
      'a vault last written with a key that the client has seen compromised, and that the restored log calls active',
    code: 'signer_compromised',
    run: async (world, { client }) => {
      const { alice, bob } = world.actors
      await recovered(world, client, async () => {
        await setPolicy(world, { ...policyOf(world), rotationGraceMs: 2 }, [alice, bob])
        await revokeKey(world, bob.kid, 'compromised', alice)
        await logHead(world, {}, alice)
      })
      return readAgain(client)
    },
  },
  {
    id: 'restored-key-comes-again',
    row: 31,
    title: 'a key that came and was removed in the part that is gone, and comes again',
    code: 'signer_not_active',
    run: async (world, { client }) => {
      const { alice, mallory } = world.actors
      const acl = aclWith(world, { [MALLORY]: 'write' })
      const enter = async (): Promise<void> => {
        await addKey(world, mallory, ['member'], alice)
        await changeVault(world, { acl, grants: [{ dek: dekOf(world), to: mallory.key }] }, alice)
        await world.write(world.prod, [], mallory)
      }
      await recovered(world, client, async () => {
        await enter()
        await client.learn()
        await revokeKey(world, mallory.kid, 'removed', alice)
      })
      await enter()
      return readAgain(client)
    },
  },
  {
    id: 'restored-caps-are-back',
    row: 31,
    title: 'an admin whose caps the client has seen taken, and who has them again in the restored log',
    code: 'log_rollback',
    behindKeys: true,
    run: async (world, { client }) => {
      const { alice, dave } = world.actors
      await recovered(world, client, () => setCaps(world, dave.kid, ['member'], [alice]))
      return readAgain(client)
    },
  },
  {
    id: 'restored-vault-older-than-kept',
    row: 31,
    title: 'a vault that was not written after the backup, set back behind it',
    code: 'vault_rollback',
    run: async (world, { client }) => {
      const older = vaultStateOf(world)
      await write(world)
      await recovered(world, client, () => world.write(world.staging, [], world.actors.bob))
      alterState<VaultState>(world, vaultName(world.prod), older)
      return readAgain(client)
    },
  },
  {
    id: 'restored-head-put-into-the-kept-log',
    row: 31,
    title: 'a head that claims to be of the kept log, and was not in it',
    code: 'vault_fork',
    run: async (world, { client }) => {
      const { alice, bob } = world.actors
      await recovered(world, client, () => world.write(world.staging, [], bob))
      const headIndex = vaultStateOf(world).headIndex + 1
      await logHead(world, {}, alice)
      alterState<VaultState>(world, vaultName(world.prod), { headIndex })
      return readAgain(client)
    },
  },
  {
    id: 'restored-admin-chain-forked',
    row: 31,
    title: 'an admin removed before the backup signs another successor of the set she was in',
    code: 'vault_fork',
    run: async (world, { client }) => {
      const { alice, dave } = world.actors
      await makeDaveAdmin(world)
      const takeover = await nextAdmins(world, { admins: [DAVE, MALLORY] }, dave)
      const index = world.host.leaves.length
      await changeVault(world, { acl: aclWith(world, { [DAVE]: null }), rotate: 'member-removed' }, alice)
      await recovered(world, client, () => makeDaveAdmin(world))
      const adminsIndexes = [...vaultStateOf(world).adminsIndexes.slice(0, -1), index]
      const state = { adminsHash: documentHash(takeover), adminsIndexes }
      const roles = { 'user:ou_alice': null, [DAVE]: 'admin', [MALLORY]: 'admin' } as const
      await logAdmins(world, takeover, roles, dave, state)
      return readAgain(client)
    },
  },
]

export const RESTORED_HONEST: readonly Honest[] = [
  {
    id: 'restored-honest-twice',
    theme: 'a restored server',
    title: 'a client goes on after a recovery, and after another one that keeps less',
    run: async (world, { client }) => {
      await client.learn()
      const early = backupOf(world)
      await recovered(world, client, write)
      await readAgain(client)
      await write(world)
      await readAgain(client)
      const lost = await loseTo(world, early)
      const { alice, dave } = world.actors
      const statement = await makeStatement(world, lost, [alice, dave])
      await world.host.append([statement], world.now)
      await client.recover(await recoveryAnswer(world, statement))
      await readAgain(client)
    },
  },
  {
    id: 'restored-honest-acts-again',
    theme: 'a restored server',
    title: 'what was lost is done again: a key is removed, caps are taken, a key comes in, the list is changed',
    run: async (world, { client }) => {
      const { alice, bob, dave } = world.actors
      const acts = async (): Promise<void> => {
        await setCaps(world, dave.kid, ['member'], [alice])
        await changeVault(world, { acl: aclWith(world, { 'user:ou_bob1': null }), rotate: 'member-removed' }, alice)
        await revokeKey(world, bob.kid, 'removed', alice)
        await makeDaveAdmin(world)
      }
      await recovered(world, client, acts)
      await acts()
      await readAgain(client)
      await readAgain(client)
    },
  },
  {
    id: 'restored-honest-lost-nothing',
    theme: 'a restored server',
    title: 'a client that has not seen what was lost goes on without a recovery, and remembers that there was one',
    run: async (world, { client }) => {
      await client.learn()
      const backup = backupOf(world)
      await write(world)
      const statement = await makeStatement(world, await loseTo(world, backup), [world.actors.alice])
      await world.host.append([statement], world.now)
      await readAgain(client)
      const { recoveries } = orgTrustOf(client.store, ORG)
      if (recoveries?.[0]?.docHash !== documentHash(statement)) throw new Error('the recovery is not remembered')
    },
  },
]
