// Catches: endorsements without right or without possession, keys that come twice, invites that serve twice, and what one
// directory admin could do to a quorum.
// Seen red: the new key’s signature not required; `checkEndorser` without the quorum; `useInvite` not called; the bound on
// active keys removed; `checkCaps` not called; the key length of the policy not passed on.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Cap, keyAdd, MAX_ACTIVE_KEYS } from '../../src/directory/documents.ts'
import { addSignatures, documentHash } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { inviteName, kidName } from '../../src/log/state.ts'
import { identityOf } from '../world/actors.ts'
import { openWorld, type World } from '../world/world.ts'
import { apply, join, newIdentity, refuses, register, revoke, setCaps, setPolicy, sign, updatesOf } from './desk.ts'

let world: World
let erin: Identity
beforeAll(async () => {
  erin = await newIdentity('user:ou_erin')
})
beforeEach(async () => {
  world = await openWorld()
})

describe('key.add', () => {
  it('makes the key active from this leaf on', async () => {
    const event = await register(world, erin, ['member'], world.actors.alice)
    expect(await apply(world, [event])).toEqual({
      t: 'key.add',
      d: [documentHash(event)],
      updates: [
        {
          name: kidName(erin.kid),
          state: {
            kid: erin.kid,
            status: 'active',
            added: world.host.leaves.length,
            end: null,
            rec: documentHash(event),
            capSets: [],
          },
        },
      ],
    })
  })

  it('needs the new key as much as the endorser', async () => {
    const { alice } = world.actors
    const members = { kid: erin.kid, key: erin.key.bundle, caps: ['member'] as Cap[] }
    await refuses(world, [await sign(world, keyAdd, members, alice)], 'missing_signature')
    const own = { ...(await sign(world, keyAdd, members, alice)), signatures: [] }
    await refuses(world, [await addSignatures(own, [erin])], 'missing_signature')
  })

  it('is not for a key that endorses itself', async () => {
    const members = { kid: erin.kid, key: erin.key.bundle, caps: ['member'] as Cap[] }
    await refuses(world, [await sign(world, keyAdd, members, erin)], 'endorser_not_admin')
  })

  it('is made by a directory admin, and not by a member, an agent, a stranger or a former admin', async () => {
    const { bob, deploy, mallory, dave, alice } = world.actors
    await refuses(world, [await register(world, erin, ['member'], bob)], 'endorser_not_admin')
    await refuses(world, [await register(world, erin, ['member'], deploy)], 'endorser_not_admin')
    await refuses(world, [await register(world, erin, ['member'], mallory)], 'missing_signature')
    await world.host.append([await revoke(world, dave.kid, 'removed', alice)], world.now)
    await refuses(world, [await register(world, erin, ['member'], dave)], 'signer_not_active')
  })

  it('takes back the right to endorse with the cap', async () => {
    const { alice, dave } = world.actors
    await world.host.append([await setCaps(world, dave.kid, ['member'], alice)], world.now)
    await refuses(world, [await register(world, erin, ['member'], dave)], 'endorser_not_admin')
  })

  it('comes once: neither a known nor an ended key is added again', async () => {
    const { alice, bob } = world.actors
    await refuses(world, [await register(world, bob, ['member'], alice)], 'bad_transition')
    await world.host.append([await revoke(world, bob.kid, 'removed', alice)], world.now)
    await refuses(world, [await register(world, bob, ['member'], alice)], 'bad_transition')
  })

  it('certifies the key by its id', async () => {
    const { alice, mallory } = world.actors
    const members = { kid: erin.kid, key: mallory.key.bundle, caps: ['member'] as Cap[] }
    await refuses(world, [await sign(world, keyAdd, members, alice, erin)], 'key_substitution')
  })

  it('gives people the caps of people and agents those of agents', async () => {
    const { alice } = world.actors
    await refuses(world, [await register(world, erin, ['agent'], alice)], 'not_authorised')
    await refuses(world, [await register(world, erin, ['agent', 'member'], alice)], 'not_authorised')
    await refuses(world, [await register(world, erin, [], alice)], 'not_authorised')
    const agent = await newIdentity('agent:ag_new1')
    await refuses(world, [await register(world, agent, ['member'], alice)], 'not_authorised')
  })

  it('gives an RSA-only key no authority, but lets it in', async () => {
    const { alice } = world.actors
    const rsaOnly = await identityOf('worker', 'user:ou_erin')
    await refuses(world, [await register(world, rsaOnly, ['dir-admin', 'member'], alice)], 'not_authorised')
    await refuses(world, [await register(world, rsaOnly, ['agent-manager', 'member'], alice)], 'not_authorised')
    expect((await apply(world, [await register(world, rsaOnly, ['member'], alice)])).t).toBe('key.add')
  })

  it('holds the key to the key length of the policy in force', async () => {
    const { alice } = world.actors
    await world.host.append([await setPolicy(world, { minRsaBits: 3072 }, alice)], world.now)
    await refuses(world, [await register(world, erin, ['member'], alice)], 'weak_key')
    const big = await identityOf('big', 'user:ou_erin')
    expect((await apply(world, [await register(world, big, ['member'], alice)])).t).toBe('key.add')
  })

  it('lets an invite in once', async () => {
    const { alice } = world.actors
    const invite = documentHash(world.genesis)
    const invited = async (who: Identity) =>
      sign(world, keyAdd, { kid: who.kid, key: who.key.bundle, caps: ['member'], invite } as never, alice, who)
    const event = await invited(erin)
    const index = world.host.leaves.length
    expect((await updatesOf(world, [event]))[inviteName(invite)]).toEqual({ kid: erin.kid, index })
    await world.host.append([event], world.now)
    await refuses(world, [await invited(await newIdentity('user:ou_frank'))], 'bad_transition')
  })

  it('gives a principal no more active keys than a recovery can name', { timeout: 30_000 }, async () => {
    const { alice } = world.actors
    for (let i = 0; i < MAX_ACTIVE_KEYS; i++) await join(world, await newIdentity('user:ou_many'), ['member'])
    const over = await newIdentity('user:ou_many')
    await refuses(world, [await register(world, over, ['member'], alice)], 'limit_exceeded')
    const [first] = world.host.ledger.kidsOf('user:ou_many') as readonly string[]
    await world.host.append([await revoke(world, first as string, 'removed', alice)], world.now)
    expect((await apply(world, [await register(world, over, ['member'], alice)])).t).toBe('key.add')
  })
})

describe('an agent-manager', () => {
  let manager: Identity
  beforeEach(async () => {
    manager = await newIdentity('user:ou_manager')
    await join(world, manager, ['agent-manager', 'member'])
  })

  it('endorses plain agents', async () => {
    const agent = await newIdentity('agent:ag_new1')
    expect((await apply(world, [await register(world, agent, ['agent'], manager)])).t).toBe('key.add')
  })

  it('endorses no people, and no agent with a cap of its own', async () => {
    const agent = await newIdentity('agent:ag_new1')
    await refuses(world, [await register(world, erin, ['member'], manager)], 'endorser_not_admin')
    await refuses(world, [await register(world, agent, ['agent', 'agent-manager'], manager)], 'endorser_not_admin')
    await refuses(world, [await register(world, agent, ['agent', 'dir-admin'], manager)], 'endorser_not_admin')
    await refuses(world, [await register(world, agent, ['agent', 'recovery'], manager)], 'endorser_not_admin')
  })

  it('gives an agent its first key and no further one, with which she would be that agent', async () => {
    const { deploy, alice } = world.actors
    const second = await newIdentity(deploy.key.principal)
    await refuses(world, [await register(world, second, ['agent'], manager)], 'endorser_not_admin')
    await world.host.append([await revoke(world, deploy.kid, 'removed')], world.now)
    await refuses(world, [await register(world, second, ['agent'], manager)], 'endorser_not_admin')
    expect((await apply(world, [await register(world, second, ['agent'], alice)])).t).toBe('key.add')
  })

  it('neither ends keys of others nor gives caps nor counts in a quorum', async () => {
    const { deploy } = world.actors
    await refuses(world, [await revoke(world, deploy.kid, 'removed', manager)], 'not_authorised')
    await refuses(world, [await setCaps(world, deploy.kid, ['agent'], manager)], 'endorser_not_admin')
    await refuses(world, [await setPolicy(world, { dirQuorum: 1 }, manager)], 'endorser_not_admin')
  })
})

describe('where the policy asks for two directory admins', () => {
  const PRIVILEGED: readonly Cap[][] = [
    ['dir-admin', 'member'],
    ['agent-manager', 'member'],
    ['member', 'recovery'],
  ]
  beforeEach(async () => {
    await world.host.append([await setPolicy(world, { dirQuorum: 2 }, world.actors.alice)], world.now)
  })

  it.each(PRIVILEGED)(
    'one alone brings in no key with %s and %s: it could endorse the rest of a quorum',
    async (...caps) => {
      const { alice, dave } = world.actors
      await refuses(world, [await register(world, erin, caps, alice)], 'endorser_not_admin')
      expect((await apply(world, [await register(world, erin, caps, alice, dave)])).t).toBe('key.add')
    },
  )

  it('two keys of one admin are one admin', async () => {
    const { alice, dave } = world.actors
    const second = await newIdentity(alice.key.principal)
    await world.host.append([await register(world, second, ['dir-admin', 'member'], alice, dave)], world.now)
    await refuses(world, [await register(world, erin, ['dir-admin', 'member'], alice, second)], 'endorser_not_admin')
  })

  it('one alone still brings in members and agents', async () => {
    expect((await apply(world, [await register(world, erin, ['member'], world.actors.dave)])).t).toBe('key.add')
  })
})
