import { keyRecover, keyRotate } from '../../src/directory/documents.ts'
import { addSignatures, documentHash, draftDocument, makeDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { type KidState, kidName } from '../../src/log/state.ts'
import { registerKey } from '../../src/runtime/runtime-key.ts'
import { addKey, makeCaps, makeRecovery, revokeKey, setPolicy } from '../world/acts.ts'
import { ORG, type World } from '../world/world.ts'
import type { Attack } from './attack.ts'
import { member, withKid } from './directory.ts'
import { alterState, forge, impostor, kidStateOf, logHead, logKid, logWriter, policyOf } from './powers.ts'

// Rows 16 and 19: keys that follow others, by rotation and recovery, and keys that have ended.

export const rotation = (world: World, old: Identity, next: Identity) => ({
  org: ORG,
  at: world.now,
  oldKid: old.kid,
  kid: next.kid,
  key: next.key.bundle,
  batch: [],
})

export const SUCCESSION: readonly Attack[] = [
  {
    id: 'directory-removed-endorser',
    row: 16,
    title: 'a removed admin who goes on endorsing',
    code: 'signer_not_active',
    run: async (world, { client }) => {
      const { dave, alice } = world.actors
      await revokeKey(world, dave.kid, 'removed', alice)
      const ghost = await impostor()
      await logWriter(world, ghost, await registerKey(member(world), dave, ghost))
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-compromised-endorser',
    row: 16,
    title: 'a key endorsed, before it was found out, by a key known to be compromised',
    code: 'signer_compromised',
    run: async (world, { client }) => {
      const { dave, alice } = world.actors
      const ghost = await impostor()
      await addKey(world, ghost, ['member'], dave)
      await logHead(world, {}, ghost)
      await revokeKey(world, dave.kid, 'compromised', alice)
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-compromised-endorser-confirmed-by-nobody',
    row: 16,
    title: 'the same, with a confirmation that the log names and nobody signed',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const { dave, alice, bob } = world.actors
      const ghost = await impostor()
      await addKey(world, ghost, ['member'], dave)
      await logHead(world, {}, ghost)
      await revokeKey(world, dave.kid, 'compromised', alice)
      const confirmation = await makeCaps(world, ghost.kid, ['member'], [bob])
      const capSets = [{ index: world.host.leaves.length, docHash: documentHash(confirmation) }]
      alterState<KidState>(world, kidName(ghost.kid), { capSets }, [confirmation])
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-rotation-without-old-key',
    row: 16,
    title: 'a rotation of Bob’s key that the old key did not sign',
    code: 'missing_signature',
    run: async (world, { client }) => {
      const { bob } = world.actors
      const ghost = await impostor()
      const draft = draftDocument(keyRotate, { ...rotation(world, bob, ghost), by: bob.kid })
      await logWriter(world, ghost, await addSignatures(draft, [ghost]))
      alterState<KidState>(world, kidName(bob.kid), { status: 'superseded', end: world.host.leaves.length - 1 })
      return client.read(await withKid(world, bob.kid))
    },
  },
  {
    id: 'directory-rotation-by-new-key',
    row: 16,
    title: 'a rotation of Bob’s key of which the new key calls itself the author',
    code: 'missing_signature',
    run: async (world, { client }) => {
      const ghost = await impostor()
      await logWriter(world, ghost, await makeDocument(keyRotate, rotation(world, world.actors.bob, ghost), [ghost]))
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-rotation-to-other-person',
    row: 16,
    title: 'a reader who rotates her own key into one of a writer',
    code: 'key_substitution',
    run: async (world, { client }) => {
      const { carol } = world.actors
      const ghost = await impostor()
      const record = await makeDocument(keyRotate, rotation(world, carol, ghost), [carol, ghost])
      await logWriter(world, ghost, record)
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-rotation-without-possession',
    row: 16,
    title: 'a rotation to a key that did not sign it',
    code: 'missing_signature',
    run: async (world, { client }) => {
      const { bob } = world.actors
      const ghost = await impostor()
      const record = await makeDocument(keyRotate, rotation(world, bob, ghost), [bob])
      logKid(world, ghost.kid, record)
      alterState<KidState>(world, kidName(bob.kid), { status: 'superseded', end: world.host.leaves.length })
      await logHead(world, {}, ghost)
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-second-rotation-of-old-key',
    row: 16,
    title: 'a stolen key, superseded long ago, that rotates once more',
    code: 'signer_not_active',
    run: async (world, { client }) => {
      const { bob, alice } = world.actors
      await revokeKey(world, bob.kid, 'superseded', alice)
      const ghost = await impostor()
      const record = await makeDocument(keyRotate, rotation(world, bob, ghost), [bob, ghost])
      // The server dates it back to a leaf at which the old key was still live.
      logKid(world, ghost.kid, record, { added: kidStateOf(world, bob.kid).added + 1 })
      await logHead(world, {}, ghost)
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-rotation-after-end',
    row: 16,
    title: 'a removed key that hands over to a new one',
    code: 'signer_not_active',
    run: async (world, { client }) => {
      const { bob, alice } = world.actors
      await revokeKey(world, bob.kid, 'removed', alice)
      const ghost = await impostor()
      await logWriter(world, ghost, await makeDocument(keyRotate, rotation(world, bob, ghost), [bob, ghost]))
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-recovery-below-quorum',
    row: 19,
    title: 'a recovery signed by one admin where the policy asks for two',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const { alice, dave, bob } = world.actors
      await setPolicy(world, { ...policyOf(world), recoverQuorum: 2 }, [alice])
      const ghost = await impostor()
      const record = await makeRecovery(world, ghost, [bob.kid], 'lost', [dave, ghost])
      await logWriter(world, ghost, record)
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-recovery-by-members',
    row: 19,
    title: 'a recovery of an admin’s key signed by members only',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const { carol, bob } = world.actors
      const ghost = await impostor()
      await logWriter(world, ghost, await makeRecovery(world, ghost, [bob.kid], 'lost', [carol, ghost]))
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-recovery-by-compromised-admin',
    row: 19,
    title: 'a recovery signed by an admin key that is known to be compromised',
    code: 'signer_compromised',
    run: async (world, { client }) => {
      const { alice, dave, bob } = world.actors
      await revokeKey(world, dave.kid, 'compromised', alice)
      const ghost = await impostor()
      const record = await makeRecovery(world, ghost, [bob.kid], 'lost', [dave, ghost])
      // Dated back to a leaf at which the admin key was still trusted.
      logKid(world, ghost.kid, record, { added: kidStateOf(world, dave.kid).added + 1 })
      await logHead(world, {}, ghost)
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-recovery-of-other-person',
    row: 19,
    title: 'a recovery for one person that names the key of another',
    code: 'key_substitution',
    run: async (world, { client }) => {
      const { dave } = world.actors
      const ghost = await impostor()
      const genuine = await makeRecovery(world, ghost, [], 'lost', [dave, ghost])
      const record = await forge(keyRecover, genuine, { principal: 'user:ou_mallory' }, dave, ghost)
      await logWriter(world, ghost, record)
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-recovery-without-possession',
    row: 19,
    title: 'a recovery that the new key did not sign',
    code: 'missing_signature',
    run: async (world, { client }) => {
      const { dave, bob } = world.actors
      const ghost = await impostor()
      await logWriter(world, ghost, await makeRecovery(world, ghost, [bob.kid], 'lost', [dave]))
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-removed-writer',
    row: 16,
    title: 'a removed writer who goes on signing heads',
    code: 'signer_not_active',
    run: async (world, { client }) => {
      const { bob, alice } = world.actors
      await revokeKey(world, bob.kid, 'removed', alice)
      await logHead(world, {}, bob)
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-compromised-writer',
    row: 16,
    title: 'a head whose signer is now known to be compromised',
    code: 'signer_compromised',
    run: async (world, { client }) => {
      const { bob, alice } = world.actors
      await world.write(world.prod, [], bob)
      await revokeKey(world, bob.kid, 'compromised', alice)
      return client.read(await client.ask())
    },
  },
  {
    id: 'directory-signer-not-yet-there',
    row: 16,
    title: 'a head dated before its signer was in the directory',
    code: 'signer_not_active',
    run: async (world, { client }) => {
      alterState<KidState>(world, kidName(world.actors.bob.kid), { added: world.host.leaves.length })
      return client.read(await client.ask())
    },
  },
]
