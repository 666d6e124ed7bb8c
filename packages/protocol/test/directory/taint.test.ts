// Catches: readers who believe the log that a key was confirmed, who forget whom a compromised key vouched for, or who lose
// vaults for ever because somebody who has left cannot be confirmed any more.
// Seen red: the confirming document not verified; recoveries by a compromised admin accepted; former signers refused for taint;
// `resolve` without `ensureUntainted`; a quorum counted of admins whom a compromised key had endorsed; a confirmation that is older than the
// end of one of several compromised admins.
import { beforeEach, describe, expect, it } from 'vitest'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { kidName } from '../../src/log/state.ts'
import { refusal } from '../log/refusal.ts'
import { join, kidStateOf, newIdentity, recover, register, revoke, setCaps, setPolicy } from '../transition/desk.ts'
import { openWorld, type World } from '../world/world.ts'
import { openDirectory } from './full.ts'

let world: World
let alice: Identity
let dave: Identity
let erin: Identity
beforeEach(async () => {
  world = await openWorld()
  ;({ alice, dave } = world.actors)
  erin = await newIdentity('user:ou_erin')
  await join(world, erin, ['member'], dave)
})
const append = async (...docs: readonly Envelope[]) => world.host.append(docs, world.now)
const compromise = async () => append(await revoke(world, dave.kid, 'compromised'))
const codeOf = async (kid: string) => refusal(async () => (await openDirectory(world)).resolve(kid))
const signs = async (kid: string) =>
  refusal(async () => (await openDirectory(world)).signerAt(kid, world.host.leaves.length - 1))

describe('whoever a compromised key endorsed', () => {
  it('is refused from the moment the compromise is known', async () => {
    expect(await codeOf(erin.kid)).toBe('accepted')
    await compromise()
    expect(await codeOf(erin.kid)).toBe('signer_compromised')
    expect(await signs(erin.kid)).toBe('signer_compromised')
  })

  it('is accepted again once the quorum has confirmed it', async () => {
    await compromise()
    await append(await setCaps(world, erin.kid, ['member'], alice))
    expect(await codeOf(erin.kid)).toBe('accepted')
    expect(await signs(erin.kid)).toBe('accepted')
  })

  it('is not confirmed by the log’s word: the caps.set must be there and signed by the quorum', async () => {
    await compromise()
    const lie = async (docHash: string, docs: readonly Envelope[]) => {
      const state = { ...kidStateOf(world, erin.kid), capSets: [{ index: world.host.leaves.length, docHash }] } as never
      const updates = [{ name: kidName(erin.kid), state }]
      world.host.appendFalse({ t: 'caps.set', d: docs.map(documentHash), updates }, docs, world.now)
      return codeOf(erin.kid)
    }
    const own = await setCaps(world, erin.kid, ['member'], erin)
    const byDave = await setCaps(world, erin.kid, ['member'], dave)
    const forBob = await setCaps(world, world.actors.bob.kid, ['member'], alice)
    expect(await lie(documentHash(world.genesis), [])).toBe('unknown_signer')
    expect(await lie(documentHash(own), [own])).toBe('endorser_not_admin')
    expect(await lie(documentHash(byDave), [byDave])).toBe('endorser_not_admin')
    expect(await lie(documentHash(forBob), [forBob])).toBe('endorser_not_admin')
  })

  it('is not confirmed by a caps.set from before the key ended', async () => {
    await append(await setCaps(world, erin.kid, ['member'], alice))
    await compromise()
    expect(await codeOf(erin.kid)).toBe('signer_compromised')
  })

  it('is believed as far as history goes: what was replaced since does not lean on it', async () => {
    const index = world.host.leaves.length - 1
    await append(await revoke(world, erin.kid, 'removed'))
    await compromise()
    const directory = await openDirectory(world)
    expect(await refusal(() => directory.formerSignerAt(erin.kid, index))).toBe('accepted')
    expect(await refusal(() => directory.signerAt(erin.kid, index))).toBe('signer_compromised')
    expect((await directory.keyOf(erin.kid))?.kid).toBe(erin.kid)
  })

  it('taints in turn whoever it endorsed, and heals them with it', async () => {
    const [manager, agent] = [await newIdentity('user:ou_manager'), await newIdentity('agent:ag_new1')]
    await append(await register(world, manager, ['agent-manager', 'member'], dave))
    await append(await register(world, agent, ['agent'], manager))
    await compromise()
    expect(await codeOf(agent.kid)).toBe('signer_compromised')
    await append(await setCaps(world, manager.kid, ['agent-manager', 'member'], alice))
    expect(await codeOf(agent.kid)).toBe('accepted')
  })
})

describe('a recovery that a compromised admin signed', () => {
  it('is refused, unless enough others signed it as well', async () => {
    const { bob } = world.actors
    const next = await newIdentity(bob.key.principal)
    await append(await recover(world, next, [bob.kid], 'lost', dave, next))
    const { carol } = world.actors
    const carolNext = await newIdentity(carol.key.principal)
    await append(await recover(world, carolNext, [carol.kid], 'lost', dave, alice, carolNext))
    expect(await codeOf(next.kid)).toBe('accepted')
    await compromise()
    expect(await codeOf(next.kid)).toBe('signer_compromised')
    expect(await codeOf(carolNext.kid)).toBe('accepted')
    await append(await setCaps(world, next.kid, ['member'], alice))
    expect(await codeOf(next.kid)).toBe('accepted')
  })

  it('is confirmed after the last of those ends who are compromised, and not before', async () => {
    const { bob } = world.actors
    await append(await setCaps(world, erin.kid, ['dir-admin', 'member'], alice))
    const next = await newIdentity(bob.key.principal)
    await append(await recover(world, next, [bob.kid], 'lost', dave, erin, next))
    await append(await revoke(world, erin.kid, 'compromised'))
    await append(await setCaps(world, next.kid, ['member'], alice))
    await compromise()
    expect(await codeOf(next.kid)).toBe('signer_compromised')
    await append(await setCaps(world, next.kid, ['member'], alice))
    expect(await codeOf(next.kid)).toBe('accepted')
  })

  it('counts the quorum of its own time', async () => {
    const { bob } = world.actors
    await append(await setPolicy(world, { recoverQuorum: 2 }, alice))
    const next = await newIdentity(bob.key.principal)
    await append(await recover(world, next, [bob.kid], 'lost', dave, alice, next))
    await compromise()
    expect(await codeOf(next.kid)).toBe('signer_compromised')
  })
})

describe('a quorum of admins whom a compromised key endorsed', () => {
  let xena: Identity
  let yuri: Identity
  beforeEach(async () => {
    xena = await newIdentity('user:ou_xena')
    yuri = await newIdentity('user:ou_yuri')
    for (const admin of [xena, yuri]) await join(world, admin, ['dir-admin', 'member'], dave)
    await append(await setPolicy(world, { recoverQuorum: 2 }, alice))
  })
  const recoveredBy = async (first: Identity, second: Identity): Promise<string> => {
    const { bob } = world.actors
    const next = await newIdentity(bob.key.principal)
    await append(await recover(world, next, [bob.kid], 'lost', first, second, next))
    await compromise()
    return next.kid
  }

  it('recovers nobody, until they are confirmed', async () => {
    const kid = await recoveredBy(xena, yuri)
    expect(await codeOf(kid)).toBe('signer_compromised')
    for (const { kid } of [xena, yuri]) await append(await setCaps(world, kid, ['dir-admin', 'member'], alice))
    expect(await codeOf(kid)).toBe('accepted')
  })

  it('is none for want of a sound one, also if those who vouched are removed and not called compromised', async () => {
    const kid = await recoveredBy(xena, alice)
    await append(await revoke(world, xena.kid, 'removed'))
    expect(await codeOf(kid)).toBe('signer_compromised')
  })

  it('does not spoil one that is complete without them', async () => {
    await append(await setPolicy(world, { recoverQuorum: 1 }, alice))
    expect(await codeOf(await recoveredBy(xena, alice))).toBe('accepted')
  })

  it('makes no admin, where two have to', async () => {
    await append(await setPolicy(world, { dirQuorum: 2 }, alice))
    const zoe = await newIdentity('user:ou_zoe1')
    await append(await register(world, zoe, ['dir-admin', 'member'], alice, xena))
    expect(await codeOf(zoe.kid)).toBe('accepted')
    await compromise()
    expect(await codeOf(zoe.kid)).toBe('signer_compromised')
  })
})
