import { capsSet, keyAdd, orgGenesis, recoveryEnrol } from '../../src/directory/documents.ts'
import { type Envelope, makeDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { registerKey } from '../../src/runtime/runtime-key.ts'
import { identityOf } from '../world/actors.ts'
import {
  addKey,
  makeCaps,
  makePolicy,
  makeRecovery,
  makeRevocation,
  revokeKey,
  setCaps,
  setPolicy,
} from '../world/acts.ts'
import { ORG, type World } from '../world/world.ts'
import type { Attack, Bench, Honest } from './attack.ts'
import { forge, impostor, policyOf, withoutSignature } from './powers.ts'

// Rows 9, 11 to 14, 16 and 19 against the transition rules of the directory and of grants: members with real keys who ask
// an honest server, or an auditor, for more than is theirs.

const member = (world: World) => ({ org: ORG, caps: ['member'] as const, at: world.now })
export const SEAL = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

/** Submits what `make` makes. */
export const submitting =
  (make: (world: World) => Promise<Envelope | readonly Envelope[]>) =>
  async (world: World, { server }: Bench): Promise<unknown> => {
    const made = await make(world)
    return server.submit(...(Array.isArray(made) ? (made as Envelope[]) : [made as Envelope]))
  }

export const enrol = (world: World, recoveryKid: string, by: Identity): Promise<Envelope> =>
  makeDocument(recoveryEnrol, { org: ORG, at: world.now, recoveryKid, sealHash: SEAL }, [by])

export const MEMBERS_HONEST: readonly Honest[] = [
  {
    id: 'members-honest-life',
    theme: 'user keys and recovery',
    title: 'a key is added, endorses a new agent, is enrolled with as recovery key, and is revoked',
    run: async (world, { server }) => {
      const { alice, dave, carol, bob, mallory } = world.actors
      await addKey(world, mallory, ['member'], dave)
      await setCaps(world, mallory.kid, ['agent-manager', 'member', 'recovery'], [alice])
      await addKey(world, await identityOf('malloryNext', 'agent:ag_new'), ['agent'], mallory)
      await server.submit(await enrol(world, mallory.kid, carol))
      const next = await impostor()
      await server.submit(await makeRecovery(world, next, [bob.kid], 'lost', [dave, next]))
      await revokeKey(world, mallory.kid, 'removed', mallory)
    },
  },
]

export const MEMBERS: readonly Attack[] = [
  {
    id: 'member-endorses-friend',
    row: 9,
    title: 'a member who endorses a key without being an admin',
    code: 'endorser_not_admin',
    run: submitting(async (world) => registerKey(member(world), world.actors.bob, world.actors.mallory)),
  },
  {
    id: 'member-endorses-herself',
    row: 9,
    title: 'a key that endorses itself into the directory',
    code: 'endorser_not_admin',
    run: submitting(async (world) => {
      const { mallory } = world.actors
      return makeDocument(keyAdd, { ...member(world), kid: mallory.kid, key: mallory.key.bundle }, [mallory])
    }),
  },
  {
    id: 'member-admin-by-one-of-two',
    row: 14,
    title: 'one admin who endorses a second pair of admin hands where two must agree',
    code: 'endorser_not_admin',
    run: submitting(async (world) => {
      const { alice, dave, mallory } = world.actors
      await setPolicy(world, { ...policyOf(world), dirQuorum: 2 }, [alice])
      return registerKey({ org: ORG, caps: ['dir-admin', 'member'], at: world.now }, dave, mallory)
    }),
  },
  {
    id: 'member-agent-manager-becomes-agent',
    row: 14,
    title: 'an agent-manager who gives an agent with rights to a vault a second key, her own',
    code: 'endorser_not_admin',
    run: submitting(async (world) => {
      const { alice, mallory } = world.actors
      await addKey(world, mallory, ['agent-manager', 'member'], alice)
      return registerKey(
        { org: ORG, caps: ['agent'], at: world.now },
        mallory,
        await identityOf('malloryNext', 'agent:ag_deploy'),
      )
    }),
  },
  {
    id: 'member-key-without-possession',
    row: 9,
    title: 'a key registered by an admin who does not hold it',
    code: 'missing_signature',
    run: submitting(async (world) => {
      const { dave, mallory } = world.actors
      return withoutSignature(await registerKey(member(world), dave, mallory), mallory.kid)
    }),
  },
  {
    id: 'member-key-twice',
    row: 16,
    title: 'a removed key that is registered again',
    code: 'bad_transition',
    run: submitting(async (world) => {
      const { alice, dave, carol } = world.actors
      await revokeKey(world, carol.kid, 'removed', alice)
      return registerKey(member(world), dave, carol)
    }),
  },
  {
    id: 'member-removed-admin-endorses',
    row: 16,
    title: 'a removed admin who goes on endorsing',
    code: 'signer_not_active',
    run: submitting(async (world) => {
      const { alice, dave, mallory } = world.actors
      await revokeKey(world, dave.kid, 'removed', alice)
      return registerKey(member(world), dave, mallory)
    }),
  },
  {
    id: 'member-invite-used-twice',
    row: 9,
    title: 'an invite that lets a second person in',
    code: 'bad_transition',
    run: submitting(async (world) => {
      const { alice, mallory } = world.actors
      const join = (who: Identity): Promise<Envelope> =>
        makeDocument(keyAdd, { ...member(world), kid: who.kid, key: who.key.bundle, invite: SEAL }, [alice, who])
      await world.host.append([await join(mallory)], world.now)
      return join(await identityOf('malloryNext', 'user:ou_second'))
    }),
  },
  {
    id: 'member-second-genesis',
    row: 9,
    title: 'a second genesis in a log that has one',
    code: 'bad_transition',
    run: submitting(async (world) => {
      const { mallory } = world.actors
      const admins = [{ kid: mallory.kid, key: mallory.key.bundle }]
      return forge(orgGenesis, world.genesis, { admins }, mallory)
    }),
  },
  {
    id: 'member-revokes-other',
    row: 16,
    title: 'a member who revokes the key of somebody else',
    code: 'not_authorised',
    run: submitting((world) => makeRevocation(world, world.actors.alice.kid, 'removed', world.actors.bob)),
  },
  {
    id: 'member-revokes-twice',
    row: 16,
    title: 'a compromised key declared merely removed',
    code: 'bad_transition',
    run: submitting(async (world) => {
      const { alice, carol } = world.actors
      await revokeKey(world, carol.kid, 'compromised', alice)
      return makeRevocation(world, carol.kid, 'removed', alice)
    }),
  },
  {
    id: 'member-revokes-unknown',
    row: 16,
    title: 'a revocation of a key that is not there, for the server to add later',
    code: 'unknown_signer',
    run: submitting((world) => makeRevocation(world, world.actors.mallory.kid, 'removed', world.actors.alice)),
  },
  {
    id: 'member-caps-below-quorum',
    row: 14,
    title: 'caps given by one admin where two must agree',
    code: 'endorser_not_admin',
    run: submitting(async (world) => {
      const { alice, dave, carol } = world.actors
      await setPolicy(world, { ...policyOf(world), dirQuorum: 2 }, [alice])
      return makeCaps(world, carol.kid, ['dir-admin', 'member'], [dave])
    }),
  },
  {
    id: 'member-caps-for-unknown-key',
    row: 14,
    title: 'caps for a key that is not in the directory yet',
    code: 'unknown_signer',
    run: submitting((world) => makeCaps(world, world.actors.mallory.kid, ['member'], [world.actors.alice])),
  },
  {
    id: 'member-caps-for-rsa-only',
    row: 14,
    title: 'authority for an RSA-only key',
    code: 'not_authorised',
    run: submitting((world) =>
      makeCaps(world, world.actors.worker.kid, ['agent', 'agent-manager'], [world.actors.alice]),
    ),
  },
  {
    id: 'member-caps-of-other-type',
    row: 14,
    title: 'an agent declared to be a person',
    code: 'not_authorised',
    run: submitting((world) => makeCaps(world, world.actors.deploy.kid, ['member'], [world.actors.alice])),
  },
  {
    id: 'member-caps-replayed',
    row: 14,
    title: 'caps that were taken back, given again with the old document',
    code: 'bad_transition',
    run: submitting(async (world) => {
      const { alice, carol } = world.actors
      const granted = await setCaps(world, carol.kid, ['dir-admin', 'member'], [alice])
      await setCaps(world, carol.kid, ['member'], [alice])
      return forge(capsSet, granted, {}, alice)
    }),
  },
  {
    id: 'member-policy-by-member',
    row: 14,
    title: 'a policy set by a member',
    code: 'endorser_not_admin',
    run: submitting((world) => makePolicy(world, { ...policyOf(world), dirQuorum: 1 }, [world.actors.bob])),
  },
  {
    id: 'member-policy-replayed',
    row: 14,
    title: 'an older policy set again',
    code: 'bad_transition',
    run: submitting(async (world) => {
      const { alice } = world.actors
      const loose = await makePolicy(world, policyOf(world), [alice])
      await setPolicy(world, { ...policyOf(world), rotationGraceMs: 1 }, [alice])
      return loose
    }),
  },
]
