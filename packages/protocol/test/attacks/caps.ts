import { type Cap, keyRotate } from '../../src/directory/documents.ts'
import { addSignatures, documentHash, type Envelope, makeDocument } from '../../src/identity/document.ts'
import type { Identity, Signer } from '../../src/identity/private-keys.ts'
import { type KidState, kidName, type VaultState, vaultName } from '../../src/log/state.ts'
import { registerKey } from '../../src/runtime/runtime-key.ts'
import { identityOf } from '../world/actors.ts'
import { addKey, makeCaps, revokeKey, setCaps, setPolicy } from '../world/acts.ts'
import { ORG, type World } from '../world/world.ts'
import type { Attack, Honest } from './attack.ts'
import { withKid } from './directory.ts'
import { alterState, impostor, kidStateOf, logHead, logKid, logWriter, nextHead, policyOf, tamper } from './powers.ts'
import { rotation } from './succession.ts'

// Rows 9 and 14: authority that the logged state claims and no signed document gives (principle 10).

export const ADMIN: readonly Cap[] = ['dir-admin', 'member']

/** A false entry in the list of a key’s caps.set documents. */
export function logCaps(world: World, kid: string, envelope: Envelope, index = world.host.leaves.length): void {
  const capSets = [...kidStateOf(world, kid).capSets, { index, docHash: documentHash(envelope) }]
  alterState<KidState>(world, kidName(kid), { capSets }, [envelope])
}

/** Carol, who would be an admin if her caps were believed, endorses an impostor, and the impostor writes. */
export async function logEndorsedByCarol(world: World): Promise<void> {
  const ghost = await impostor()
  const record = await registerKey({ org: ORG, caps: ['member'], at: world.now }, world.actors.carol, ghost)
  await logWriter(world, ghost, record)
}

const endorsedWith = async (world: World, ghost: Identity, caps: readonly Cap[], endorser: Signer): Promise<void> => {
  await logWriter(world, ghost, await registerKey({ org: ORG, caps, at: world.now }, endorser, ghost))
}

export const CAPS_HONEST: readonly Honest[] = [
  {
    id: 'caps-honest-promotion',
    theme: 'directory',
    title: 'a member whom the quorum made an admin may endorse, under the policy of that time',
    run: async (world, { client }) => {
      const { alice, dave, carol, mallory } = world.actors
      await setPolicy(world, { ...policyOf(world), dirQuorum: 2 }, [alice])
      await setCaps(world, carol.kid, ADMIN, [alice, dave])
      await addKey(world, mallory, ['member'], carol)
      const { directory } = (await client.head(await withKid(world, mallory.kid, carol.kid, dave.kid))).vault
      const caps = await directory.capsAt(mallory.kid, world.host.leaves.length)
      if (!caps.has('member')) throw new Error('not a member')
    },
  },
]

export const CAPS: readonly Attack[] = [
  {
    id: 'caps-of-another-key',
    row: 14,
    title: 'the caps.set of an admin listed under the key of a reader, after it was verified for the admin',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const { alice, dave, carol, mallory } = world.actors
      const genuine = await setCaps(world, dave.kid, ADMIN, [alice])
      await addKey(world, mallory, ['member'], dave)
      logCaps(world, carol.kid, genuine, kidStateOf(world, dave.kid).capSets[0]?.index)
      const ghost = await impostor()
      const record = await registerKey({ org: ORG, caps: ['member'], at: world.now }, carol, ghost)
      logKid(world, ghost.kid, record)
      const head = await nextHead(world, {}, ghost)
      // Mallory’s signature comes first: verifying it leads through the genuine caps of Dave.
      const both = await addSignatures({ ...head, signatures: [] }, [mallory, ghost])
      const { headVersion } = world.host.state(vaultName(world.prod)) as VaultState
      const headIndex = world.host.leaves.length
      const change = { headVersion: headVersion + 1, headHash: documentHash(both), headIndex }
      alterState<VaultState>(world, vaultName(world.prod), change, [both])
      return client.read(await client.ask())
    },
  },
  {
    id: 'caps-replayed-after-removal',
    row: 14,
    title: 'the caps.set that once made Carol an admin, logged again after it was taken back',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const { alice, carol } = world.actors
      const granted = await setCaps(world, carol.kid, ADMIN, [alice])
      await setCaps(world, carol.kid, ['member'], [alice])
      logCaps(world, carol.kid, granted)
      await logEndorsedByCarol(world)
      return client.read(await client.ask())
    },
  },
  {
    id: 'caps-below-quorum',
    row: 14,
    title: 'a caps.set by one admin where the policy asks for two',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const { alice, dave, carol } = world.actors
      await setPolicy(world, { ...policyOf(world), dirQuorum: 2 }, [alice])
      logCaps(world, carol.kid, await makeCaps(world, carol.kid, ADMIN, [dave]))
      await logEndorsedByCarol(world)
      return client.read(await client.ask())
    },
  },
  {
    id: 'caps-by-herself',
    row: 14,
    title: 'a member who makes herself an admin',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const { carol } = world.actors
      logCaps(world, carol.kid, await makeCaps(world, carol.kid, ADMIN, [carol]))
      await logEndorsedByCarol(world)
      return client.read(await client.ask())
    },
  },
  {
    id: 'caps-by-compromised-admin',
    row: 14,
    title: 'a caps.set by an admin key known to be compromised, dated back to when it was trusted',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const { alice, dave, carol } = world.actors
      const index = kidStateOf(world, dave.kid).added + 1
      await revokeKey(world, dave.kid, 'compromised', alice)
      logCaps(world, carol.kid, await makeCaps(world, carol.kid, ADMIN, [dave]), index)
      await logEndorsedByCarol(world)
      return client.read(await client.ask())
    },
  },
  {
    id: 'caps-document-withheld',
    row: 14,
    title: 'a caps.set that the log names and the server does not show',
    code: 'unknown_signer',
    run: async (world, { client }) => {
      const { alice, carol } = world.actors
      await setCaps(world, carol.kid, ADMIN, [alice])
      await logEndorsedByCarol(world)
      return client.read(
        tamper(await client.ask(), (copy) => {
          copy.capSets = []
        }),
      )
    },
  },
  {
    id: 'caps-rsa-only-admin-by-quorum',
    row: 14,
    title: 'an RSA-only key that the quorum made a directory admin, and that endorses',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const { alice } = world.actors
      const weak = await identityOf('worker', 'user:ou_weak')
      await addKey(world, weak, ['member'], alice)
      logCaps(world, weak.kid, await makeCaps(world, weak.kid, ADMIN, [alice]))
      await endorsedWith(world, await impostor(), ['member'], weak)
      return client.read(await client.ask())
    },
  },
  {
    id: 'caps-rsa-only-admin-by-rotation',
    row: 14,
    title: 'a directory admin who rotates to an RSA-only key, and endorses with that',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const { dave } = world.actors
      const weak = await identityOf('worker', 'user:ou_dave')
      logKid(world, weak.kid, await makeDocument(keyRotate, rotation(world, dave, weak), [dave, weak]))
      alterState<KidState>(world, kidName(dave.kid), { status: 'superseded', end: world.host.leaves.length })
      await endorsedWith(world, await impostor(), ['member'], weak)
      return client.read(await withKid(world, dave.kid, weak.kid))
    },
  },
  {
    id: 'caps-rsa-only-admin',
    row: 14,
    title: 'an RSA-only key endorsed as a directory admin',
    code: 'not_authorised',
    run: async (world, { client }) => {
      const ghost = await identityOf('worker', 'user:ou_bob1')
      await endorsedWith(world, ghost, ADMIN, world.actors.dave)
      return client.read(await client.ask())
    },
  },
  {
    id: 'caps-of-the-wrong-type',
    row: 14,
    title: 'a person endorsed as an agent',
    code: 'not_authorised',
    run: async (world, { client }) => {
      await endorsedWith(world, await impostor(), ['agent'], world.actors.dave)
      return client.read(await client.ask())
    },
  },
  {
    id: 'caps-agent-manager-makes-manager',
    row: 14,
    title: 'an agent-manager who endorses an agent with authority',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const { alice, mallory, deploy } = world.actors
      await addKey(world, mallory, ['agent-manager', 'member'], alice)
      const ghost = await identityOf('malloryNext', deploy.key.principal)
      await endorsedWith(world, ghost, ['agent', 'agent-manager'], mallory)
      return client.read(await client.ask())
    },
  },
  {
    id: 'caps-endless-chain',
    row: 9,
    title: 'a chain of endorsements that is longer than any client follows',
    code: 'unknown_signer',
    run: async (world, { client }) => {
      let last: Identity = world.actors.alice
      for (let i = 0; i < 9; i++) {
        const next = await identityOf('mallory', `user:ou_chain${i}`)
        await addKey(world, next, ADMIN, last)
        last = next
      }
      const ghost = await impostor()
      await addKey(world, ghost, ['member'], last)
      await logHead(world, {}, ghost)
      return client.read(await client.ask())
    },
  },
]
