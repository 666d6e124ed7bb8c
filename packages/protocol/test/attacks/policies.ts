import { documentHash } from '../../src/identity/document.ts'
import type { Signer } from '../../src/identity/private-keys.ts'
import { POLICY_NAME, type PolicyState } from '../../src/log/state.ts'
import { makeCaps, makePolicy, setCaps, setPolicy } from '../world/acts.ts'
import type { World } from '../world/world.ts'
import type { Attack } from './attack.ts'
import { ADMIN, logCaps, logEndorsedByCarol } from './caps.ts'
import { alterState, forgetState, policyOf, tamper } from './powers.ts'

// Row 14: the policy of the organisation, on which every quorum rests.

async function logPolicy(world: World, policy: ReturnType<typeof policyOf>, signer: Signer): Promise<void> {
  const envelope = await makePolicy(world, policy, [signer])
  const { policyVersion, indexes } = world.host.state(POLICY_NAME) as PolicyState
  alterState<PolicyState>(
    world,
    POLICY_NAME,
    {
      policyVersion: policyVersion + 1,
      policyHash: documentHash(envelope),
      indexes: [...indexes, world.host.leaves.length],
    },
    [envelope],
  )
}

export const POLICIES: readonly Attack[] = [
  {
    id: 'caps-policy-by-one-admin',
    row: 14,
    title: 'a policy that one admin loosened alone, and the caps.set it would allow',
    code: 'endorser_not_admin',
    run: async (world, { client }) => {
      const { alice, dave, carol } = world.actors
      await setPolicy(world, { ...policyOf(world), dirQuorum: 2 }, [alice])
      await logPolicy(world, policyOf(world), dave)
      logCaps(world, carol.kid, await makeCaps(world, carol.kid, ADMIN, [dave]))
      await logEndorsedByCarol(world)
      return client.read(await client.ask())
    },
  },
  {
    id: 'caps-policy-withheld',
    row: 14,
    title: 'a stricter policy that the server does not show',
    code: 'bad_map_proof',
    run: async (world, { client }) => {
      const { alice, dave, carol } = world.actors
      await setPolicy(world, { ...policyOf(world), dirQuorum: 2 }, [alice])
      logCaps(world, carol.kid, await makeCaps(world, carol.kid, ADMIN, [dave]))
      await logEndorsedByCarol(world)
      return client.read(
        tamper(await client.ask(), (copy) => {
          copy.policies = []
        }),
      )
    },
  },
  {
    id: 'caps-policy-exchanged',
    row: 14,
    title: 'a policy that the quorum signed and that was never the logged one',
    code: 'bad_map_proof',
    run: async (world, { client }) => {
      const { alice, dave, carol } = world.actors
      const rejected = await makePolicy(world, { ...policyOf(world), rotationGraceMs: 0 }, [alice])
      await setPolicy(world, { ...policyOf(world), dirQuorum: 2 }, [alice])
      logCaps(world, carol.kid, await makeCaps(world, carol.kid, ADMIN, [dave]))
      await logEndorsedByCarol(world)
      return client.read(
        tamper(await client.ask(), (copy) => {
          copy.policies = [structuredClone(rejected) as never]
        }),
      )
    },
  },
  {
    id: 'caps-policy-out-of-order',
    row: 14,
    title: 'a policy that does not follow the one before it',
    code: 'bad_map_proof',
    run: async (world, { client }) => {
      const { alice, dave, carol } = world.actors
      const stale = await makePolicy(world, { ...policyOf(world), rotationGraceMs: 0 }, [alice])
      await setPolicy(world, { ...policyOf(world), dirQuorum: 2 }, [alice])
      const { indexes } = world.host.state(POLICY_NAME) as PolicyState
      const change = {
        policyVersion: 3,
        policyHash: documentHash(stale),
        indexes: [...indexes, world.host.leaves.length],
      }
      alterState<PolicyState>(world, POLICY_NAME, change, [stale])
      logCaps(world, carol.kid, await makeCaps(world, carol.kid, ADMIN, [dave]))
      await logEndorsedByCarol(world)
      return client.read(await client.ask())
    },
  },
  {
    id: 'caps-policy-undated',
    row: 14,
    title: 'a policy of which the log does not say from when on it held',
    code: 'bad_map_proof',
    run: async (world, { client }) => {
      const { alice, dave, carol } = world.actors
      await setPolicy(world, { ...policyOf(world), dirQuorum: 2 }, [alice])
      alterState<PolicyState>(world, POLICY_NAME, { indexes: [0] })
      logCaps(world, carol.kid, await makeCaps(world, carol.kid, ADMIN, [dave]))
      await logEndorsedByCarol(world)
      return client.read(await client.ask())
    },
  },
  {
    id: 'caps-policy-unproven',
    row: 14,
    title: 'an answer that leaves out the state of the policy',
    code: 'bad_map_proof',
    run: async (world, { client }) => {
      const { alice, carol } = world.actors
      await setCaps(world, carol.kid, ADMIN, [alice])
      await logEndorsedByCarol(world)
      return client.read(
        tamper(await client.ask(), (copy) => {
          forgetState(copy, POLICY_NAME)
        }),
      )
    },
  },
]
