import { type VaultState, vaultName } from '../../src/log/state.ts'
import { vaultHead } from '../../src/vault/documents.ts'
import { changeVault } from '../world/acts.ts'
import type { Attack } from './attack.ts'
import { honestly, serve } from './authority.ts'
import { aclOf, alterState, forge, logged, logHead, vaultStateOf } from './powers.ts'

// Rows 2, 4 to 6 and 11: the head itself, and the state that names it.

export const HEADS: readonly Attack[] = [
  {
    id: 'authority-head-of-the-future',
    row: 14,
    title: 'a head dated to a leaf that the log does not have yet',
    code: 'bad_transition',
    run: async (world, bench) => {
      alterState<VaultState>(world, vaultName(world.prod), { headIndex: 1_000_000 })
      return honestly(bench)
    },
  },
  {
    id: 'authority-reader-writes',
    row: 4,
    title: 'a reader who signs a head',
    code: 'not_authorised',
    run: async (world, bench) => {
      await logHead(world, {}, world.actors.carol)
      return honestly(bench)
    },
  },
  {
    id: 'authority-outsider-writes',
    row: 4,
    title: 'a member without any right to the vault who signs a head',
    code: 'not_authorised',
    run: async (world, bench) => {
      await logHead(world, {}, world.actors.dave)
      return honestly(bench)
    },
  },
  {
    id: 'authority-head-unsigned',
    row: 5,
    title: 'a head without its signature',
    code: 'missing_signature',
    run: (_world, bench) =>
      serve(bench, (copy) => {
        copy.head.signatures = []
      }),
  },
  {
    id: 'authority-head-not-logged',
    row: 5,
    title: 'another head of the current version by a real writer, which the log does not know',
    code: 'head_mismatch',
    run: async (world, bench) => {
      const head = await forge(vaultHead, logged(world, vaultStateOf(world).headHash), {}, world.actors.alice)
      return serve(bench, (copy) => {
        copy.head = structuredClone(head) as never
      })
    },
  },
  {
    id: 'authority-head-of-other-vault',
    row: 2,
    title: 'the head of another vault by a writer of both, logged as that of this one',
    code: 'vault_swap',
    run: async (world, bench) => {
      await logHead(world, { vaultId: world.staging }, world.actors.bob)
      return honestly(bench)
    },
  },
  {
    id: 'authority-head-of-other-version',
    row: 6,
    title: 'a head under another version than the log says',
    code: 'head_mismatch',
    run: async (world, bench) => {
      alterState<VaultState>(world, vaultName(world.prod), { headVersion: 9 })
      return honestly(bench)
    },
  },
  {
    id: 'authority-head-under-other-list',
    row: 14,
    title: 'a head that was written under another access list than the logged one',
    code: 'head_mismatch',
    run: async (world, bench) => {
      const { alice, bob } = world.actors
      const older = vaultStateOf(world).aclHash
      await changeVault(world, { acl: aclOf(world) }, alice)
      const { aclHash, aclVersion } = vaultStateOf(world)
      await logHead(world, { aclHash: older }, bob)
      alterState<VaultState>(world, vaultName(world.prod), { aclHash, aclVersion })
      return honestly(bench)
    },
  },
  {
    id: 'authority-head-under-other-key',
    row: 12,
    title: 'a head that was written under another vault key than the logged one',
    code: 'head_mismatch',
    run: async (world, bench) => {
      const { dekCommit } = vaultStateOf(world)
      await logHead(world, { dekCommit: vaultStateOf(world, world.staging).dekCommit }, world.actors.bob)
      alterState<VaultState>(world, vaultName(world.prod), { dekCommit })
      return honestly(bench)
    },
  },
  {
    id: 'authority-head-with-other-oldest-key',
    row: 11,
    title: 'a head that retires other keys than the log says',
    code: 'head_mismatch',
    run: async (world, bench) => {
      await changeVault(world, { rotate: 'scheduled' }, world.actors.alice)
      await logHead(world, { oldestDek: 2 }, world.actors.bob)
      alterState<VaultState>(world, vaultName(world.prod), { oldestDek: 1 })
      return honestly(bench)
    },
  },
  {
    id: 'authority-state-of-other-vault',
    row: 2,
    title: 'a state that says it is of another vault, to go with the access list of that one',
    code: 'vault_swap',
    run: async (world, bench) => {
      const { aclHash } = vaultStateOf(world, world.staging)
      await logHead(world, { aclHash }, world.actors.bob)
      alterState<VaultState>(world, vaultName(world.prod), { vaultId: world.staging })
      return honestly(bench)
    },
  },
  {
    id: 'authority-answer-of-other-vault',
    row: 27,
    title: 'the whole, honest answer of another vault',
    code: 'bad_map_proof',
    run: async (world, { client }) => client.read(await client.ask(world.staging), world.prod),
  },
]
