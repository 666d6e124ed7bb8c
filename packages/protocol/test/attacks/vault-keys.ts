import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { Signer } from '../../src/identity/private-keys.ts'
import { type AclEntry, vaultCreate } from '../../src/vault/documents.ts'
import { createVault } from '../../src/vault/lifecycle.ts'
import { wrapDek } from '../../src/wraps/wrapped-key.ts'
import { revokeKey } from '../world/acts.ts'
import { ORG, type StoredVault, type World } from '../world/world.ts'
import { ALICE, act, BOB, compose, READERS } from './access.ts'
import type { Attack } from './attack.ts'
import { aclOf, forge, logged, nextHead, vaultStateOf } from './powers.ts'

// Rows 4, 6, 11 to 14: new vault keys, heads and new vaults against the transition rules.

/** The documents of a new vault, before anything is done to them. */
async function newVault(world: World, by: Signer, acl: readonly AclEntry[] = [{ p: ALICE, role: 'admin' }]) {
  const meta = { name: 'New', classification: 'internal', status: 'active' } as const
  const recipients = [world.actors.alice.key]
  const { commit } = await createVault({ org: ORG, meta, acl, recipients, at: world.now }, by)
  return {
    head: commit.head,
    docs: commit.docs,
    of: (kind: string) => commit.docs.filter((one) => one.payloadType.includes(kind)),
  }
}

export const VAULT_KEYS: readonly Attack[] = [
  {
    id: 'access-key-by-writer',
    row: 12,
    title: 'a writer who replaces the vault key by one of his own',
    code: 'not_authorised',
    run: act(
      () => ({ epoch: {} }),
      (world) => world.actors.bob,
    ),
  },
  {
    id: 'access-key-of-other-vault',
    row: 2,
    title: 'a new vault key announced for another vault',
    code: 'vault_swap',
    run: act((world) => ({ epoch: { vaultId: world.staging } })),
  },
  {
    id: 'access-key-version-skipped',
    row: 11,
    title: 'a vault key whose version does not follow',
    code: 'bad_transition',
    run: act(() => ({ epoch: { prevDekVersion: 7 } })),
  },
  {
    id: 'access-key-with-false-reason',
    row: 15,
    title: 'a new vault key that says the vault was just created',
    code: 'bad_transition',
    run: act(() => ({ epoch: { reason: 'create' } })),
  },
  {
    id: 'access-key-for-other-list',
    row: 14,
    title: 'a new vault key made for another access list',
    code: 'acl_mismatch',
    run: act((world) => ({ epoch: { aclHash: documentHash(world.genesis) } })),
  },
  {
    id: 'access-key-omits-reader',
    row: 12,
    title: 'a new vault key that one reader does not get',
    code: 'incomplete_batch',
    run: act((world) => ({ epoch: {}, readers: READERS(world).slice(1) })),
  },
  {
    id: 'access-key-for-ghost',
    row: 14,
    title: 'a new vault key that somebody gets who is not on the list',
    code: 'not_authorised',
    run: async (world, bench) => {
      const { dave } = world.actors
      return act(() => ({ epoch: {}, readers: [...READERS(world), dave.key] }))(world, bench)
    },
  },
  {
    id: 'access-grant-of-other-vault',
    row: 13,
    title: 'a grant of another vault hidden in the commit of this one',
    code: 'wrap_context',
    run: async (world, { server }) => {
      const { alice, carol } = world.actors
      const { dek } = world.vaults.get(world.staging) as StoredVault
      const wrap = await wrapDek(dek, carol.key, alice, world.now)
      return server.submit(...(await compose(world, {}, alice)), wrap)
    },
  },
  {
    id: 'access-key-for-ended-key',
    row: 16,
    title: 'a new vault key granted to a key that has been removed',
    code: 'signer_not_active',
    run: async (world, bench) => {
      const { alice, carol } = world.actors
      await revokeKey(world, carol.kid, 'removed', alice)
      return act(() => ({ epoch: {} }))(world, bench)
    },
  },
  {
    id: 'access-head-by-reader',
    row: 4,
    title: 'a head signed by a reader',
    code: 'not_authorised',
    run: act(
      () => ({}),
      (world) => world.actors.carol,
    ),
  },
  {
    id: 'access-head-replayed',
    row: 6,
    title: 'a head that does not follow the current one',
    code: 'head_conflict',
    run: async (world, { server }) => {
      const head = await nextHead(world, {}, world.actors.bob)
      await world.write(world.prod, [], world.actors.bob)
      return server.submit(head)
    },
  },
  {
    id: 'access-head-under-other-list',
    row: 14,
    title: 'a head that names another access list',
    code: 'head_mismatch',
    run: act((world) => ({ head: { aclHash: documentHash(world.genesis) } })),
  },
  {
    id: 'access-head-under-other-key',
    row: 12,
    title: 'a head that names another vault key',
    code: 'head_mismatch',
    run: act((world) => ({ head: { dekCommit: documentHash(world.genesis) } })),
  },
  {
    id: 'access-head-with-impossible-key',
    row: 11,
    title: 'a head that retires a vault key which is not there yet',
    code: 'head_mismatch',
    run: act(() => ({ head: { oldestDek: 2 } })),
  },
  {
    id: 'access-head-of-no-vault',
    row: 14,
    title: 'a head of a vault that does not exist',
    code: 'bad_transition',
    run: act(() => ({ head: { vaultId: `v${'a'.repeat(32)}` } })),
  },
  {
    id: 'access-create-twice',
    row: 14,
    title: 'a vault created a second time',
    code: 'bad_transition',
    run: async (world, { server }) => {
      const create = logged(world, vaultStateOf(world).adminsHash)
      return server.submit(...(await compose(world, { acl: aclOf(world), epoch: {} }, world.actors.alice)), create)
    },
  },
  {
    id: 'access-create-without-key',
    row: 14,
    title: 'a vault created without an access list and a key',
    code: 'bad_transition',
    run: async (world, { server }) => {
      const { head, of } = await newVault(world, world.actors.alice)
      return server.submit(head, ...of('vault.create'))
    },
  },
  {
    id: 'access-create-under-other-id',
    row: 14,
    title: 'a vault under an id that its creation document does not certify',
    code: 'vault_swap',
    run: async (world, { server }) => {
      const { head, docs, of } = await newVault(world, world.actors.alice)
      const [create] = of('vault.create') as [Envelope]
      const other = await forge(vaultCreate, create, { admins: [ALICE, BOB] }, world.actors.alice)
      return server.submit(head, ...docs.filter((one) => one !== create), other)
    },
  },
  {
    id: 'access-create-for-others',
    row: 14,
    title: 'a vault that its creator cannot administer',
    code: 'admin_chain',
    run: async (world, { server }) => {
      const { head, docs } = await newVault(world, world.actors.bob)
      return server.submit(head, ...docs)
    },
  },
]
