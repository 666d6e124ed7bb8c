import { documentHash, type Envelope, makeDocument } from '../../src/identity/document.ts'
import type { Signer } from '../../src/identity/private-keys.ts'
import type { VaultState } from '../../src/log/state.ts'
import type { Dek } from '../../src/values/dek.ts'
import { aclSet, vaultAdmins } from '../../src/vault/documents.ts'
import { changeVault } from '../world/acts.ts'
import { ORG, type StoredVault, type World } from '../world/world.ts'
import type { Attack, Bench, Honest } from './attack.ts'
import { aclWith, forge, logAccess, logged, logHead, tamper, vaultStateOf, type WritableAnswer } from './powers.ts'

// Row 14, and the rest of section 4.7: who may say what is in a vault and who may read it. Members promote themselves in
// collusion with the server, which logs whatever they sign.

export const BOB = 'user:ou_bob1'
export const DAVE = 'user:ou_dave'
export const MALLORY = 'user:ou_mallory'

export const serve = async ({ client }: Bench, change: (copy: WritableAnswer) => void) =>
  client.read(tamper(await client.ask(), change))
export const honestly = async ({ client }: Bench) => client.read(await client.ask())

export const dekOf = (world: World): Dek => (world.vaults.get(world.prod) as StoredVault).dek

/** Dave becomes the second admin of the vault, with everything that belongs to it. */
export async function makeDaveAdmin(world: World): Promise<void> {
  const { alice, dave } = world.actors
  const grants = [{ dek: dekOf(world), to: dave.key }]
  await changeVault(world, { acl: aclWith(world, { [DAVE]: 'admin' }), grants }, alice)
}

export const nextAdmins = (
  world: World,
  change: { readonly admins: readonly string[]; readonly prev?: string; readonly vaultId?: string },
  signer: Signer,
): Promise<Envelope> => {
  const { adminsHash, adminsIndexes } = vaultStateOf(world)
  const members = { vaultId: world.prod, adminsVersion: adminsIndexes.length + 1, prev: adminsHash, ...change }
  return makeDocument(vaultAdmins, { org: ORG, at: world.now, ...members }, [signer])
}

/** An admin document, the access list that shows it and a head, logged as if all were in order. */
export async function logAdmins(
  world: World,
  admins: Envelope,
  roles: Parameters<typeof aclWith>[1],
  signer: Signer,
  state: Partial<VaultState> = {},
): Promise<void> {
  const { adminsIndexes } = vaultStateOf(world)
  const chain = { adminsHash: documentHash(admins), adminsIndexes: [...adminsIndexes, world.host.leaves.length] }
  await logAccess(world, aclWith(world, roles), signer, { docs: [admins], state: { ...chain, ...state } })
}

export const AUTHORITY_HONEST: readonly Honest[] = [
  {
    id: 'authority-honest-handover',
    theme: 'vault authority',
    title: 'an admin named by an admin removes the first one, rotates, and the vault stays readable',
    run: async (world, bench) => {
      const { dave } = world.actors
      await makeDaveAdmin(world)
      await changeVault(world, { acl: aclWith(world, { 'user:ou_alice': null }), rotate: 'member-removed' }, dave)
      const { fields } = await honestly(bench)
      if (fields.length !== 3) throw new Error('not everything was read')
    },
  },
]

export const AUTHORITY: readonly Attack[] = [
  {
    id: 'authority-writer-makes-himself-admin',
    row: 14,
    title: 'a writer who signs an access list that makes him an admin',
    code: 'not_authorised',
    run: async (world, bench) => {
      await logAccess(world, aclWith(world, { [BOB]: 'admin' }), world.actors.bob)
      return honestly(bench)
    },
  },
  {
    id: 'authority-writer-adds-reader',
    row: 14,
    title: 'a writer who lets somebody else read',
    code: 'not_authorised',
    run: async (world, bench) => {
      await logAccess(world, aclWith(world, { [MALLORY]: 'read' }), world.actors.bob)
      return honestly(bench)
    },
  },
  {
    id: 'authority-server-adds-reader',
    row: 14,
    title: 'a ghost reader whom the server writes into the access list',
    code: 'bad_signature',
    run: async (world, bench) => {
      const { alice } = world.actors
      const genuine = logged(world, vaultStateOf(world).aclHash)
      const altered = await forge(aclSet, genuine, { acl: aclWith(world, { [MALLORY]: 'read' }) }, alice)
      return serve(bench, (copy) => {
        copy.acl = { ...altered, signatures: structuredClone(genuine.signatures) } as never
      })
    },
  },
  {
    id: 'authority-older-access-list',
    row: 6,
    title: 'an older access list with a reader who has been removed since',
    code: 'acl_mismatch',
    run: async (world, bench) => {
      const older = logged(world, vaultStateOf(world).aclHash)
      const change = { acl: aclWith(world, { 'user:ou_carol': null }), rotate: 'member-removed' as const }
      await changeVault(world, change, world.actors.alice)
      return serve(bench, (copy) => {
        copy.acl = structuredClone(older) as never
      })
    },
  },
  {
    id: 'authority-access-list-not-logged',
    row: 14,
    title: 'another access list of the current version by a real admin, which the log does not know',
    code: 'acl_mismatch',
    run: async (world, bench) => {
      const genuine = logged(world, vaultStateOf(world).aclHash)
      const draft = await forge(aclSet, genuine, { acl: aclWith(world, { [MALLORY]: 'read' }) }, world.actors.alice)
      return serve(bench, (copy) => {
        copy.acl = structuredClone(draft) as never
      })
    },
  },
  {
    id: 'authority-access-list-of-other-version',
    row: 6,
    title: 'an older access list logged again under the current version',
    code: 'acl_mismatch',
    run: async (world, bench) => {
      const older = logged(world, vaultStateOf(world).aclHash)
      const change = { acl: aclWith(world, { 'user:ou_carol': null }), rotate: 'member-removed' as const }
      await changeVault(world, change, world.actors.alice)
      const aclHash = documentHash(older)
      await logHead(world, { aclHash }, world.actors.bob)
      return honestly(bench)
    },
  },
  {
    id: 'authority-access-list-of-other-vault',
    row: 2,
    title: 'the access list of another vault, logged as that of this one',
    code: 'vault_swap',
    run: async (world, bench) => {
      const { aclHash } = vaultStateOf(world, world.staging)
      await logHead(world, { aclHash }, world.actors.bob)
      return honestly(bench)
    },
  },
  {
    id: 'authority-list-shows-other-admins',
    row: 14,
    title: 'an access list that shows an admin whom no admin document names',
    code: 'acl_mismatch',
    run: async (world, bench) => {
      await logAccess(world, aclWith(world, { [DAVE]: 'admin' }), world.actors.alice)
      return honestly(bench)
    },
  },
  {
    id: 'authority-former-admin-signs-list',
    row: 14,
    title: 'an admin who was removed and goes on signing access lists',
    code: 'not_authorised',
    run: async (world, bench) => {
      const { alice, dave } = world.actors
      await makeDaveAdmin(world)
      await changeVault(world, { acl: aclWith(world, { [DAVE]: null }), rotate: 'member-removed' }, alice)
      await logAccess(world, aclWith(world, { [MALLORY]: 'read' }), dave)
      return honestly(bench)
    },
  },
  {
    id: 'authority-former-admin-dates-back',
    row: 14,
    title: 'an admin who was removed, and whose access list the server dates before the removal',
    code: 'bad_transition',
    run: async (world, bench) => {
      const { alice, dave } = world.actors
      await makeDaveAdmin(world)
      const before = world.host.leaves.length - 1
      await world.write(world.prod, [], alice)
      await changeVault(world, { acl: aclWith(world, { [DAVE]: null }), rotate: 'member-removed' }, alice)
      const state = { aclIndex: before + 1, headIndex: before + 1 }
      await logAccess(world, aclWith(world, { [MALLORY]: 'read' }), dave, { state })
      return honestly(bench)
    },
  },
]
