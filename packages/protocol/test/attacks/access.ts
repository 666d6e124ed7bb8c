import { documentHash, type Envelope, makeDocument, type PayloadOf } from '../../src/identity/document.ts'
import type { CheckedKey } from '../../src/identity/key-bundle.ts'
import type { Signer } from '../../src/identity/private-keys.ts'
import { makeDek } from '../../src/values/dek.ts'
import { type AclEntry, type aclSet, epochNew, type VaultHeadPayload } from '../../src/vault/documents.ts'
import { wrapDek } from '../../src/wraps/wrapped-key.ts'
import { changeVault, revokeKey } from '../world/acts.ts'
import { MINUTE, ORG, type World } from '../world/world.ts'
import type { Attack, Bench, Honest } from './attack.ts'
import { nextAdmins } from './authority.ts'
import { aclOf, aclWith, nextAcl, nextHead, vaultStateOf } from './powers.ts'

// Rows 12, 14 and 15 against the transition rules: members who change access, keys and admins, with an honest server or
// under the eyes of an auditor, which run the same function.

export const ALICE = 'user:ou_alice'
export const BOB = 'user:ou_bob1'
const CAROL = 'user:ou_carol'
const DAVE = 'user:ou_dave'

interface Parts {
  readonly acl?: readonly AclEntry[]
  readonly aclChange?: Partial<PayloadOf<typeof aclSet>>
  readonly admins?: Envelope
  readonly epoch?: Partial<PayloadOf<typeof epochNew>>
  readonly readers?: readonly CheckedKey[]
  readonly head?: Partial<VaultHeadPayload>
  readonly epochBy?: Signer
  readonly wrapsBy?: Signer
}

export const READERS = (world: World): CheckedKey[] => {
  const { alice, bob, carol, deploy, worker, hybrid } = world.actors
  return [alice, bob, carol, deploy, worker, hybrid].map(({ key }) => key)
}

/** One commit of access list, admins, vault key, grants and head, consistent but for what is asked. */
export async function compose(world: World, parts: Parts, by: Signer): Promise<Envelope[]> {
  const state = vaultStateOf(world)
  const list =
    (parts.acl || parts.aclChange) && (await nextAcl(world, { acl: parts.acl ?? aclOf(world), ...parts.aclChange }, by))
  const access = list
    ? { aclVersion: state.aclVersion + 1, aclHash: documentHash(list) }
    : { aclVersion: state.aclVersion, aclHash: state.aclHash }
  const docs: Envelope[] = [...(list ? [list] : []), ...(parts.admins ? [parts.admins] : [])]
  const key = { dekVersion: state.dekVersion, dekCommit: state.dekCommit }
  if (parts.epoch) {
    const dek = makeDek({ org: ORG, vaultId: world.prod, dekVersion: state.dekVersion + 1 })
    Object.assign(key, { dekVersion: dek.dekVersion, dekCommit: dek.dekCommit })
    const members = {
      vaultId: world.prod,
      ...key,
      prevDekVersion: state.dekVersion,
      reason: 'scheduled' as const,
      ...access,
    }
    const epoch = { org: ORG, at: world.now, ...members, ...parts.epoch }
    docs.push(await makeDocument(epochNew, epoch, [parts.epochBy ?? by]))
    for (const to of parts.readers ?? READERS(world)) docs.push(await wrapDek(dek, to, parts.wrapsBy ?? by, world.now))
  }
  return [await nextHead(world, { ...access, ...key, ...parts.head }, by), ...docs]
}

export const act =
  (parts: (world: World) => Parts | Promise<Parts>, by: (world: World) => Signer = (world) => world.actors.alice) =>
  async (world: World, { server }: Bench): Promise<unknown> =>
    server.submit(...(await compose(world, await parts(world), by(world))))

export const ACCESS_HONEST: readonly Honest[] = [
  {
    id: 'access-honest-everything-at-once',
    theme: 'rotation and grants',
    title: 'new admin, new list and new vault key in one commit, composed by hand',
    run: async (world, { server, client }) => {
      const { alice, dave } = world.actors
      const admins = await nextAdmins(world, { admins: [ALICE, DAVE] }, alice)
      const acl = aclWith(world, { [DAVE]: 'admin' })
      const readers = [...READERS(world), dave.key]
      await server.submit(...(await compose(world, { acl, admins, epoch: {}, readers }, alice)))
      await client.read(await client.ask())
    },
  },
]

export const ACCESS: readonly Attack[] = [
  {
    id: 'access-list-by-writer',
    row: 14,
    title: 'a writer who changes the access list',
    code: 'not_authorised',
    run: act(
      (world) => ({ acl: aclWith(world, { [BOB]: 'admin' }) }),
      (world) => world.actors.bob,
    ),
  },
  {
    id: 'access-list-shows-admin-without-document',
    row: 14,
    title: 'an access list that shows an admin whom no admin document names',
    code: 'acl_mismatch',
    run: act((world) => ({ acl: aclWith(world, { [DAVE]: 'admin' }) })),
  },
  {
    id: 'access-list-of-other-vault',
    row: 2,
    title: 'an access list of another vault',
    code: 'vault_swap',
    run: act((world) => ({ aclChange: { vaultId: world.staging } })),
  },
  {
    id: 'access-list-replayed',
    row: 6,
    title: 'an access list that does not follow the current one',
    code: 'bad_transition',
    run: act(() => ({ aclChange: { prev: '' } })),
  },
  {
    id: 'access-reader-leaves-with-key',
    row: 15,
    title: 'a reader removed without a new vault key and without saying so',
    code: 'rotation_due',
    run: act((world) => ({ acl: aclWith(world, { [CAROL]: null }) })),
  },
  {
    id: 'access-duty-ignored',
    row: 15,
    title: 'a vault that is written to long after a reader left with its key',
    code: 'rotation_due',
    run: async (world, { server }) => {
      const { alice, bob } = world.actors
      await changeVault(world, { acl: aclWith(world, { [CAROL]: null }), deferRotation: true }, alice)
      world.now += 2 * 24 * 60 * MINUTE
      return server.submit(await nextHead(world, {}, bob))
    },
  },
  {
    id: 'access-duty-after-revocation-ignored',
    row: 15,
    title: 'the same after a reader’s key was revoked as compromised',
    code: 'rotation_due',
    run: async (world, { server }) => {
      const { alice, carol, bob } = world.actors
      await revokeKey(world, carol.kid, 'compromised', alice)
      world.now += 2 * 24 * 60 * MINUTE
      return server.submit(await nextHead(world, {}, bob))
    },
  },
  {
    id: 'access-admins-by-writer',
    row: 14,
    title: 'a writer who names himself an admin',
    code: 'not_authorised',
    run: act(
      async (world) => ({
        admins: await nextAdmins(world, { admins: [ALICE, BOB] }, world.actors.bob),
        acl: aclWith(world, { [BOB]: 'admin' }),
      }),
      (world) => world.actors.bob,
    ),
  },
  {
    id: 'access-admins-without-list',
    row: 14,
    title: 'admins changed behind the back of the access list',
    code: 'bad_transition',
    run: act(async (world) => ({ admins: await nextAdmins(world, { admins: [ALICE, DAVE] }, world.actors.alice) })),
  },
  {
    id: 'access-admins-of-other-vault',
    row: 2,
    title: 'an admin document of another vault',
    code: 'vault_swap',
    run: act(async (world) => ({
      admins: await nextAdmins(world, { admins: [ALICE, DAVE], vaultId: world.staging }, world.actors.alice),
      acl: aclWith(world, { [DAVE]: 'admin' }),
    })),
  },
  {
    id: 'access-admins-out-of-order',
    row: 14,
    title: 'an admin document that does not follow the current one',
    code: 'bad_transition',
    run: act(async (world) => ({
      admins: await nextAdmins(world, { admins: [ALICE, DAVE], prev: documentHash(world.genesis) }, world.actors.alice),
      acl: aclWith(world, { [DAVE]: 'admin' }),
    })),
  },
  {
    id: 'access-no-admin-left',
    row: 14,
    title: 'a vault without any admin',
    code: 'bad_transition',
    run: act(async (world) => ({
      admins: await nextAdmins(world, { admins: [] }, world.actors.alice),
      acl: aclWith(world, { [ALICE]: 'write' }),
    })),
  },
  {
    id: 'access-rsa-only-admin',
    row: 14,
    title: 'an RSA-only agent as admin of a vault',
    code: 'not_authorised',
    run: act(async (world) => ({
      admins: await nextAdmins(world, { admins: ['agent:ag_worker', ALICE] }, world.actors.alice),
      acl: aclWith(world, { 'agent:ag_worker': 'admin' }),
    })),
  },
  {
    id: 'access-admin-without-key',
    row: 14,
    title: 'an admin who has no key at all, for the server to fill in later',
    code: 'signer_not_active',
    run: act(async (world) => ({
      admins: await nextAdmins(world, { admins: [ALICE, 'user:ou_nobody'] }, world.actors.alice),
      acl: aclWith(world, { 'user:ou_nobody': 'admin' }),
    })),
  },
]
