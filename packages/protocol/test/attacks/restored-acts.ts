import { logRecover } from '../../src/directory/documents.ts'
import { revokeKey, setPolicy } from '../world/acts.ts'
import { makeStatement, sizeAndRoot } from '../world/recovery.ts'
import type { Attack } from './attack.ts'
import { submitting } from './members.ts'
import { forge, policyOf } from './powers.ts'

// Row 31 against the transition rules: what a server and an auditor take for a recovery.

const HASH = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

export const RESTORED_ACTS: readonly Attack[] = [
  {
    id: 'recovery-by-one-of-two',
    row: 31,
    title: 'a recovery of the log by one admin where two must agree',
    code: 'endorser_not_admin',
    run: submitting(async (world) => {
      const { alice, dave } = world.actors
      await setPolicy(world, { ...policyOf(world), recoverQuorum: 2 }, [alice])
      return makeStatement(world, sizeAndRoot(world), [dave])
    }),
  },
  {
    id: 'recovery-by-a-removed-admin',
    row: 31,
    title: 'a recovery of the log by an admin who was removed',
    code: 'endorser_not_admin',
    run: submitting(async (world) => {
      const { alice, dave } = world.actors
      await revokeKey(world, dave.kid, 'removed', alice)
      return makeStatement(world, sizeAndRoot(world), [dave])
    }),
  },
  {
    id: 'recovery-of-another-root',
    row: 31,
    title: 'a recovery of another log of this size',
    code: 'bad_transition',
    run: submitting((world) => makeStatement(world, sizeAndRoot(world), [world.actors.alice], { keptRoot: HASH })),
  },
  {
    id: 'recovery-of-another-size',
    row: 31,
    title: 'a recovery that was signed for an earlier restore',
    code: 'bad_transition',
    run: submitting(async (world) => {
      const statement = await makeStatement(world, sizeAndRoot(world), [world.actors.alice])
      await world.write(world.prod, [], world.actors.bob)
      return statement
    }),
  },
  {
    id: 'recovery-of-less-than-nothing',
    row: 31,
    title: 'a recovery that keeps more than was ever there',
    code: 'bad_transition',
    run: submitting((world) => makeStatement(world, { size: 2, root: '' }, [world.actors.alice])),
  },
  {
    id: 'recovery-of-another-organisation',
    row: 31,
    title: 'a recovery of another organisation',
    code: 'genesis_mismatch',
    run: submitting(async (world) => {
      const { alice } = world.actors
      return forge(logRecover, await makeStatement(world, sizeAndRoot(world), [alice]), { org: 'org_other' }, alice)
    }),
  },
]
