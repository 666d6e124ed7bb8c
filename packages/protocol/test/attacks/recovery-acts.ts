import { keyRecover, recoveryEnrol } from '../../src/directory/documents.ts'
import { addSignatures, draftDocument } from '../../src/identity/document.ts'
import { makeRecovery, setCaps, setPolicy } from '../world/acts.ts'
import { ORG } from '../world/world.ts'
import type { Attack } from './attack.ts'
import { enrol, SEAL, submitting } from './members.ts'
import { forge, impostor, policyOf } from './powers.ts'

// Row 19 against the transition rules: recovery happens only with the quorum, and only to those who consented.

export const RECOVERY_ACTS: readonly Attack[] = [
  {
    id: 'member-recovery-by-one-of-two',
    row: 19,
    title: 'a recovery by one admin where two must agree',
    code: 'endorser_not_admin',
    run: submitting(async (world) => {
      const { alice, dave, bob } = world.actors
      await setPolicy(world, { ...policyOf(world), recoverQuorum: 2 }, [alice])
      const ghost = await impostor()
      return makeRecovery(world, ghost, [bob.kid], 'lost', [dave, ghost])
    }),
  },
  {
    id: 'member-recovery-leaves-key-alive',
    row: 19,
    title: 'a recovery that silently leaves the old key active',
    code: 'bad_transition',
    run: submitting(async (world) => {
      const ghost = await impostor()
      return makeRecovery(world, ghost, [], 'lost', [world.actors.alice, ghost])
    }),
  },
  {
    id: 'member-recovery-of-other-person',
    row: 19,
    title: 'a recovery that gives one person’s place to another',
    code: 'key_substitution',
    run: submitting(async (world) => {
      const { alice, mallory, bob } = world.actors
      const genuine = await makeRecovery(world, mallory, [bob.kid], 'lost', [alice, mallory])
      return forge(keyRecover, genuine, { principal: 'user:ou_bob1' }, alice, mallory)
    }),
  },
  {
    id: 'member-recovery-without-possession',
    row: 19,
    title: 'a recovery to a key that nobody showed to hold',
    code: 'missing_signature',
    run: submitting(async (world) =>
      makeRecovery(world, await impostor(), [world.actors.bob.kid], 'lost', [world.actors.alice]),
    ),
  },
  {
    id: 'member-enrolled-by-agent',
    row: 19,
    title: 'an agent enrolled in recovery',
    code: 'not_authorised',
    run: submitting(async (world) => {
      const { alice, dave, deploy } = world.actors
      await setCaps(world, dave.kid, ['dir-admin', 'member', 'recovery'], [alice])
      return enrol(world, dave.kid, deploy)
    }),
  },
  {
    id: 'member-enrolled-to-ordinary-key',
    row: 19,
    title: 'a user enrolled with a recovery key that is none',
    code: 'not_authorised',
    run: submitting((world) => enrol(world, world.actors.bob.kid, world.actors.carol)),
  },
  {
    id: 'member-enrolled-by-somebody-else',
    row: 19,
    title: 'a user whom the administration enrols without asking',
    code: 'missing_signature',
    run: submitting(async (world) => {
      const { alice, dave, carol } = world.actors
      await setCaps(world, dave.kid, ['dir-admin', 'member', 'recovery'], [alice])
      const members = { org: ORG, at: world.now, recoveryKid: dave.kid, sealHash: SEAL, by: carol.kid }
      return addSignatures(draftDocument(recoveryEnrol, members), [dave])
    }),
  },
  {
    id: 'member-enrolment-replayed',
    row: 19,
    title: 'a consent to recovery that was replaced, logged again',
    code: 'bad_transition',
    run: submitting(async (world) => {
      const { alice, dave, carol } = world.actors
      await setCaps(world, dave.kid, ['dir-admin', 'member', 'recovery'], [alice])
      const consent = await enrol(world, dave.kid, carol)
      await world.host.append([consent], world.now)
      return consent
    }),
  },
]
