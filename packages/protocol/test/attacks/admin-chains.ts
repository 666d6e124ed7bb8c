import { documentHash, type Envelope, makeDocument } from '../../src/identity/document.ts'
import type { Signer } from '../../src/identity/private-keys.ts'
import { type VaultState, vaultName } from '../../src/log/state.ts'
import { deriveVaultId } from '../../src/vault/authority.ts'
import { aclSet, vaultCreate, vaultHead } from '../../src/vault/documents.ts'
import { revokeKey } from '../world/acts.ts'
import { ORG, type World } from '../world/world.ts'
import type { Attack, Bench } from './attack.ts'
import { BOB, DAVE, honestly, logAdmins, MALLORY, makeDaveAdmin, nextAdmins, serve } from './authority.ts'
import { alterState, forge, logged, vaultStateOf, withoutSignature } from './powers.ts'

// Row 14: the chain of admin documents from the creation of a vault, which nobody can prolong but an admin.

/** A vault with a creation document of the attacker's making; everything else is taken from the real one. */
async function readFalseVault(world: World, { client }: Bench, admins: readonly string[], signer: Signer) {
  const salt = 'AAAAAAAAAAAAAAAAAAAAAA'
  const create = await makeDocument(vaultCreate, { org: ORG, at: world.now, admins, salt }, [signer])
  const vaultId = deriveVaultId(documentHash(create))
  const index = world.host.leaves.length
  const chain = { createIndex: index, adminsHash: documentHash(create), adminsIndexes: [index] }
  const list = await forge(aclSet, logged(world, vaultStateOf(world).aclHash), { vaultId }, signer)
  const access = { aclHash: documentHash(list), aclIndex: index }
  const head = await forge(
    vaultHead,
    logged(world, vaultStateOf(world).headHash),
    { vaultId, aclHash: access.aclHash },
    signer,
  )
  const state = { ...vaultStateOf(world), vaultId, ...chain, ...access, headHash: documentHash(head), headIndex: index }
  alterState<VaultState>(world, vaultName(vaultId), { ...state, epochIndex: index }, [create, list, head])
  return client.head(await world.vaultAnswer(vaultId), vaultId)
}

export const ADMIN_CHAINS: readonly Attack[] = [
  {
    id: 'authority-writer-extends-admin-chain',
    row: 14,
    title: 'a writer who also signs the admin document that would make it true',
    code: 'admin_chain',
    run: async (world, bench) => {
      const { bob } = world.actors
      const admins = await nextAdmins(world, { admins: ['user:ou_alice', BOB] }, bob)
      await logAdmins(world, admins, { [BOB]: 'admin' }, bob)
      return honestly(bench)
    },
  },
  {
    id: 'authority-admins-by-compromised-key',
    row: 16,
    title: 'an admin document by a key that is known to be compromised',
    code: 'signer_compromised',
    run: async (world, bench) => {
      const { alice, dave } = world.actors
      await makeDaveAdmin(world)
      const admins = await nextAdmins(world, { admins: ['user:ou_alice', DAVE, MALLORY] }, dave)
      await logAdmins(world, admins, { [MALLORY]: 'admin' }, alice)
      await revokeKey(world, dave.kid, 'compromised', alice)
      return honestly(bench)
    },
  },
  {
    id: 'authority-chain-cut',
    row: 14,
    title: 'an admin document that the log counts and the server does not show',
    code: 'admin_chain',
    run: async (world, bench) => {
      await makeDaveAdmin(world)
      return serve(bench, (copy) => {
        copy.adminsChain = []
      })
    },
  },
  {
    id: 'authority-creation-dated-otherwise',
    row: 14,
    title: 'a creation that the log dates to two leaves',
    code: 'admin_chain',
    run: async (world, bench) => {
      alterState<VaultState>(world, vaultName(world.prod), { createIndex: vaultStateOf(world).createIndex - 1 })
      return honestly(bench)
    },
  },
  {
    id: 'authority-chain-exchanged',
    row: 14,
    title: 'an admin document that an admin signed and that was never the logged one',
    code: 'admin_chain',
    run: async (world, bench) => {
      const draft = await nextAdmins(world, { admins: ['user:ou_alice', DAVE, MALLORY] }, world.actors.alice)
      await makeDaveAdmin(world)
      return serve(bench, (copy) => {
        copy.adminsChain = [structuredClone(draft) as never]
      })
    },
  },
  {
    id: 'authority-chain-out-of-order',
    row: 14,
    title: 'an admin document that does not follow the one before it',
    code: 'admin_chain',
    run: async (world, bench) => {
      const { alice } = world.actors
      const create = logged(world, vaultStateOf(world).adminsHash)
      const prev = documentHash(world.genesis)
      const admins = await nextAdmins(world, { admins: ['user:ou_alice', DAVE], prev }, alice)
      await logAdmins(world, admins, { [DAVE]: 'admin' }, alice)
      return serve(bench, (copy) => {
        Object.assign(copy, { create: structuredClone(create), adminsChain: [structuredClone(admins)] })
      })
    },
  },
  {
    id: 'authority-chain-of-other-vault',
    row: 2,
    title: 'the admin document of another vault in the chain of this one',
    code: 'vault_swap',
    run: async (world, bench) => {
      const { alice } = world.actors
      const admins = await nextAdmins(world, { admins: ['user:ou_alice', DAVE], vaultId: world.staging }, alice)
      await logAdmins(world, admins, { [DAVE]: 'admin' }, alice)
      return honestly(bench)
    },
  },
  {
    id: 'authority-other-creation',
    row: 14,
    title: 'a creation document of the server’s making for a vault that exists',
    code: 'vault_swap',
    run: async (world, bench) => {
      const { bob } = world.actors
      const genuine = logged(world, vaultStateOf(world).adminsHash)
      const create = await forge(vaultCreate, genuine, { admins: [BOB] }, bob)
      return serve(bench, (copy) => {
        copy.create = structuredClone(create) as never
      })
    },
  },
  {
    id: 'authority-creation-unsigned',
    row: 14,
    title: 'the creation document without its signature',
    code: 'missing_signature',
    run: (world, bench) =>
      serve(bench, (copy) => {
        copy.create = structuredClone(withoutSignature(copy.create as Envelope, world.actors.alice.kid)) as never
      }),
  },
  {
    id: 'authority-creator-not-admin',
    row: 14,
    title: 'a vault that somebody creates in the name of somebody else',
    code: 'admin_chain',
    run: (world, bench) => readFalseVault(world, bench, ['user:ou_alice'], world.actors.bob),
  },
  {
    id: 'authority-rsa-only-creator',
    row: 14,
    title: 'a vault created and administered with an RSA-only key',
    code: 'not_authorised',
    run: (world, bench) => readFalseVault(world, bench, ['agent:ag_worker'], world.actors.worker),
  },
]
