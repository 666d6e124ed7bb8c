// Catches: caps, policies and consents given without right, out of order or twice.
// Seen red: `ensureQuorum` not called for caps.set and policy.set; `prev` and versions not compared; an old consent to recovery
// accepted again; the recovery cap not asked for.
import { beforeEach, describe, expect, it } from 'vitest'
import { capsSet, policySet, recoveryEnrol } from '../../src/directory/documents.ts'
import { addSignatures, documentHash } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { kidName, POLICY_NAME, recoveryName } from '../../src/log/state.ts'
import { openWorld, type World } from '../world/world.ts'
import {
  apply,
  join,
  kidStateOf,
  newIdentity,
  policyStateOf,
  refuses,
  register,
  revoke,
  setCaps,
  setPolicy,
  sign,
  updatesOf,
} from './desk.ts'

let world: World
beforeEach(async () => {
  world = await openWorld()
})
const append = async (...docs: Parameters<World['host']['append']>[0]) => {
  await world.host.append(docs, world.now)
}

describe('caps.set', () => {
  it('adds one entry to the history of the key and changes nothing else', async () => {
    const { alice, bob } = world.actors
    const event = await setCaps(world, bob.kid, ['agent-manager', 'member'], alice)
    expect((await apply(world, [event])).t).toBe('caps.set')
    expect(await updatesOf(world, [event])).toEqual({
      [kidName(bob.kid)]: {
        ...kidStateOf(world, bob.kid),
        capSets: [{ index: world.host.leaves.length, docHash: documentHash(event) }],
      },
    })
  })

  it('holds from the next leaf on, in both directions', async () => {
    const { alice, bob } = world.actors
    const erin = await newIdentity('user:ou_erin')
    await append(await setCaps(world, bob.kid, ['dir-admin', 'member'], alice))
    expect((await apply(world, [await register(world, erin, ['member'], bob)])).t).toBe('key.add')
    await append(await setCaps(world, bob.kid, ['member'], alice))
    await refuses(world, [await register(world, erin, ['member'], bob)], 'endorser_not_admin')
  })

  it('follows the one before', async () => {
    const { alice, bob } = world.actors
    const first = await setCaps(world, bob.kid, ['dir-admin', 'member'], alice)
    await append(first)
    await append(await setCaps(world, bob.kid, ['member'], alice))
    // What once made Bob an admin does not come back.
    await refuses(world, [first], 'bad_transition')
    const other = { kid: bob.kid, caps: ['dir-admin', 'member'] as const, prev: documentHash(first) }
    await refuses(world, [await sign(world, capsSet, other as never, alice)], 'bad_transition')
    await refuses(world, [await sign(world, capsSet, { ...other, prev: '' } as never, alice)], 'bad_transition')
  })

  it('needs the quorum of the policy, counted by person', async () => {
    const { alice, dave, bob, carol } = world.actors
    await append(await setPolicy(world, { dirQuorum: 2 }, alice))
    await refuses(world, [await setCaps(world, bob.kid, ['member'], alice)], 'endorser_not_admin')
    await refuses(world, [await setCaps(world, bob.kid, ['member'], alice, carol)], 'endorser_not_admin')
    const twice = await addSignatures(await setCaps(world, bob.kid, ['member'], alice), [alice])
    await refuses(world, [twice], 'endorser_not_admin')
    expect((await apply(world, [await setCaps(world, bob.kid, ['member'], alice, dave)])).t).toBe('caps.set')
  })

  it('counts nobody whose key has ended', async () => {
    const { alice, dave, bob } = world.actors
    await append(await revoke(world, dave.kid, 'removed', alice))
    await refuses(world, [await setCaps(world, bob.kid, ['member'], dave)], 'endorser_not_admin')
  })

  it('is of an active key, and of caps that may stand on it', async () => {
    const { alice, bob, worker, mallory } = world.actors
    await refuses(world, [await setCaps(world, worker.kid, ['agent', 'agent-manager'], alice)], 'not_authorised')
    await refuses(world, [await setCaps(world, bob.kid, ['agent'], alice)], 'not_authorised')
    const stranger = { kid: mallory.kid, caps: ['member'] as const, prev: '' }
    await refuses(world, [await sign(world, capsSet, stranger as never, alice)], 'unknown_signer')
    await append(await revoke(world, bob.kid, 'removed'))
    await refuses(world, [await setCaps(world, bob.kid, ['member'], alice)], 'signer_not_active')
  })
})

describe('policy.set', () => {
  it('is the next version, with its leaf', async () => {
    const { alice } = world.actors
    const event = await setPolicy(world, { rotationGraceMs: 0 }, alice)
    expect((await apply(world, [event])).t).toBe('policy.set')
    expect(await updatesOf(world, [event])).toEqual({
      [POLICY_NAME]: {
        policyVersion: 2,
        policyHash: documentHash(event),
        indexes: [0, world.host.leaves.length],
      },
    })
  })

  it('follows the one before in version and hash', async () => {
    const { alice } = world.actors
    const first = await setPolicy(world, { rotationGraceMs: 0 }, alice)
    const { policyHash } = policyStateOf(world)
    await append(first)
    await refuses(world, [first], 'bad_transition')
    const policy = JSON.parse(atob(first.payload)).policy
    const next = { policyVersion: 3, policy, prev: documentHash(first) }
    await refuses(world, [await sign(world, policySet, { ...next, policyVersion: 4 }, alice)], 'bad_transition')
    await refuses(world, [await sign(world, policySet, { ...next, prev: policyHash }, alice)], 'bad_transition')
    expect((await apply(world, [await sign(world, policySet, next, alice)])).t).toBe('policy.set')
  })

  it('needs the quorum of the policy before it', async () => {
    const { alice, dave, bob } = world.actors
    await refuses(world, [await setPolicy(world, {}, bob)], 'endorser_not_admin')
    await append(await setPolicy(world, { dirQuorum: 2 }, alice))
    await refuses(world, [await setPolicy(world, { dirQuorum: 1 }, alice)], 'endorser_not_admin')
    expect((await apply(world, [await setPolicy(world, { dirQuorum: 1 }, alice, dave)])).t).toBe('policy.set')
  })
})

describe('recovery.enrol', () => {
  const seal = documentHashOf('seal')
  let helper: Identity
  beforeEach(async () => {
    helper = await newIdentity('user:ou_helper')
    await join(world, helper, ['member', 'recovery'])
  })
  const enrol = (by: Identity, recoveryKid = helper.kid, sealHash = seal) =>
    sign(world, recoveryEnrol, { recoveryKid, sealHash }, by)

  it('writes the consent of the user under the user’s own name', async () => {
    const { bob } = world.actors
    const event = await enrol(bob)
    expect((await apply(world, [event])).t).toBe('recovery.enrol')
    expect(await updatesOf(world, [event])).toEqual({
      [recoveryName('user:ou_bob1')]: {
        recoveryKid: helper.kid,
        docHash: documentHash(event),
        index: world.host.leaves.length,
      },
    })
  })

  it('goes to an active key that holds the cap', async () => {
    const { bob, carol, alice } = world.actors
    await refuses(world, [await enrol(bob, carol.kid)], 'not_authorised')
    await append(await setCaps(world, helper.kid, ['member'], alice))
    await refuses(world, [await enrol(bob)], 'not_authorised')
    await append(await setCaps(world, helper.kid, ['member', 'recovery'], alice))
    await append(await revoke(world, helper.kid, 'removed'))
    await refuses(world, [await enrol(bob)], 'signer_not_active')
  })

  it('goes to no key that a compromised admin may have planted', async () => {
    const { dave, bob } = world.actors
    const planted = await newIdentity('user:ou_planted')
    await join(world, planted, ['member', 'recovery'], dave)
    await append(await revoke(world, dave.kid, 'compromised'))
    await refuses(world, [await enrol(bob, planted.kid)], 'signer_compromised')
  })

  it('is made by users and not by agents, and not by a key that has ended', async () => {
    const { deploy, bob } = world.actors
    await refuses(world, [await enrol(deploy)], 'not_authorised')
    await append(await revoke(world, bob.kid, 'removed'))
    await refuses(world, [await enrol(bob)], 'signer_not_active')
  })

  it('cannot be brought back: an old consent does not replace a newer one', async () => {
    const { bob } = world.actors
    const other = await newIdentity('user:ou_other')
    await join(world, other, ['member', 'recovery'])
    const first = await enrol(bob)
    await append(first)
    await append(await enrol(bob, other.kid))
    await refuses(world, [first], 'bad_transition')
    expect(world.host.state(recoveryName('user:ou_bob1'))).toMatchObject({ recoveryKid: other.kid })
  })
})

function documentHashOf(text: string): string {
  return documentHash({ payload: btoa(text), payloadType: 'text/plain', signatures: [] })
}
