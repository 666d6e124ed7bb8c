import { documentHash } from '../../src/identity/document.ts'
import { type GrantState, grantName, type VaultState, vaultName } from '../../src/log/state.ts'
import { makeDek } from '../../src/values/dek.ts'
import { wrapDek } from '../../src/wraps/wrapped-key.ts'
import { changeVault, createProject, makeProjectChange, projectStateOf, setCaps } from '../world/acts.ts'
import { ORG } from '../world/world.ts'
import type { Attack } from './attack.ts'
import { aclWith, logFalse, nextHead, vaultStateOf } from './powers.ts'
import { logProject, nextSet, read, remembering } from './projects.ts'

// Rows 12, 14 and 27: what somebody signs who administers no more, logged as of when they did. Nothing that the client has seen is
// contradicted; the state itself says what no rule could have made.

export const DATED_BACK: readonly Attack[] = [
  {
    id: 'project-older-than-its-admins',
    row: 27,
    title: 'a list of vaults by a former admin, after the last the client saw and before the admins changed',
    code: 'bad_transition',
    run: async (world, bench) => {
      const { alice, dave } = world.actors
      const projectId = await createProject(world, [world.prod], dave)
      await remembering(world, bench, projectId, [world.prod])
      const index = world.host.leaves.length
      await setCaps(world, dave.kid, ['dir-admin', 'member'], [alice])
      await world.host.append(await makeProjectChange(world, projectId, { admins: ['user:ou_alice'] }, dave), world.now)
      logProject(world, projectId, await nextSet(world, projectId, [world.staging], dave), { index })
      return read(world, bench, projectId, { vaults: [world.staging] })
    },
  },
  {
    id: 'project-admins-moved-on',
    row: 27,
    title: 'a list of vaults by a former admin, in a leaf to which the change of admins was moved on',
    code: 'project_mismatch',
    run: async (world, bench) => {
      const { dave } = world.actors
      const projectId = await createProject(world, [world.prod], dave)
      await world.host.append(await makeProjectChange(world, projectId, { admins: ['user:ou_alice'] }, dave), world.now)
      await remembering(world, bench, projectId, [world.prod])
      const index = world.host.leaves.length
      const adminsIndexes = [...projectStateOf(world, projectId).adminsIndexes.slice(0, -1), index]
      logProject(world, projectId, await nextSet(world, projectId, [world.staging], dave), { index, adminsIndexes })
      return read(world, bench, projectId, { vaults: [world.staging] })
    },
  },
  {
    id: 'wrap-older-than-its-key',
    row: 12,
    title: 'a vault key by a writer and a former admin, who wraps it as of when he was one',
    code: 'bad_transition',
    run: async (world, { client }) => {
      const { alice, bob, dave, deploy } = world.actors
      await changeVault(world, { acl: aclWith(world, { 'user:ou_dave': 'admin' }), rotate: 'scheduled' }, alice)
      const then = world.host.leaves.length
      await changeVault(world, { acl: aclWith(world, { 'user:ou_dave': null }), rotate: 'member-removed' }, alice)
      await client.learn()
      const { dekVersion, dekCommit, draining, ...state } = vaultStateOf(world)
      const dek = makeDek({ org: ORG, vaultId: world.prod, dekVersion: dekVersion + 1 })
      const next = { dekVersion: dek.dekVersion, dekCommit: dek.dekCommit }
      const head = await nextHead(world, next, bob)
      const index = world.host.leaves.length
      const headed = { headVersion: state.headVersion + 1, headHash: documentHash(head), headIndex: index }
      const wrap = await wrapDek(dek, deploy.key, dave, world.now)
      const drained = { draining: [...draining, { dekVersion, dekCommit }] }
      const vault: VaultState = { ...state, ...next, ...headed, ...drained, epochIndex: index }
      const grant: GrantState = { wrapHash: documentHash(wrap), index: then }
      const granted = { [grantName(world.prod, deploy.kid, dek.dekVersion)]: grant }
      logFalse(world, [head, wrap], { [vaultName(world.prod)]: vault, ...granted })
      return client.read(await client.ask())
    },
  },
]
