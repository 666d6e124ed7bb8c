// Catches: keys that are registered or endorsed by the wrong hands, rotations that lose a vault, and private keys that are used on
// something nobody has verified.
// Seen red: the signature of a pending key not verified; foreign signatures kept on it; another endorser than the one it
// names; a replacement wrapped for the old key; `verifyWrappedKey` called after `unwrapDek`.
import { beforeEach, describe, expect, it } from 'vitest'
import { keyAdd } from '../../src/directory/documents.ts'
import { addSignatures, type Envelope, makeDocument, peekDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { platform } from '../../src/platform/node.ts'
import type { Platform } from '../../src/platform/platform.ts'
import {
  endorseKey,
  registerKey,
  requestEndorsement,
  rotateKey,
  verifyPendingKey,
} from '../../src/runtime/runtime-key.ts'
import { valueText } from '../../src/values/field.ts'
import { type EnvironmentAnswer, openEnvironment } from '../../src/vault/answer.ts'
import { wrapDek, wrappedDek } from '../../src/wraps/wrapped-key.ts'
import { refusal } from '../log/refusal.ts'
import { admit, commit, dekOf, kidStateOf, newIdentity, refuses, vaultStateOf } from '../transition/desk.ts'
import { identityOf } from '../world/actors.ts'
import { ORG, openWorld, type World } from '../world/world.ts'

let world: World
let alice: Identity
let agent: Identity
beforeEach(async () => {
  world = await openWorld()
  ;({ alice } = world.actors)
  agent = await newIdentity('agent:ag_new1')
})
const TERMS = { org: ORG, caps: ['agent'] as const }
const append = async (...docs: readonly Envelope[]) => world.host.append(docs, world.now)
const read = async (reader: Identity, answer?: EnvironmentAnswer): Promise<Record<string, string>> => {
  const from = answer ?? (await world.answer(world.prod, reader))
  const { fields } = await openEnvironment(from, world.prod, world.trust(world.fresh()), reader)
  return Object.fromEntries(fields.map(({ row, value }) => [row.label, valueText(value)]))
}
const VALUES = { DATABASE_URL: 'postgres://u:p@db/prod', DATABASE_CA: 'pem', STRIPE_KEY: 'sk_live_51H' }

describe('a key that is registered', () => {
  it('with its endorser at hand is active at once', async () => {
    await append(await registerKey({ ...TERMS, at: world.now }, alice, agent))
    expect(kidStateOf(world, agent.kid).status).toBe('active')
  })

  it('without one waits, carries its own proof of possession, and is active once the endorser it named has signed', async () => {
    const request = await requestEndorsement({ ...TERMS, at: world.now, endorser: alice.kid }, agent)
    await refuses(world, [request], 'missing_signature')
    const pending = await verifyPendingKey(ORG, JSON.parse(JSON.stringify(request)))
    expect(pending).toMatchObject({ kid: agent.kid, endorser: alice.kid })
    await append(await endorseKey(pending, alice))
    expect(kidStateOf(world, agent.kid).status).toBe('active')
  })

  it('is endorsed by nobody else than the one it named', async () => {
    const { dave } = world.actors
    const pending = await verifyPendingKey(
      ORG,
      await requestEndorsement({ ...TERMS, at: world.now, endorser: alice.kid }, agent),
    )
    expect(await refusal(() => endorseKey(pending, dave))).toBe('not_authorised')
    await refuses(world, [await addSignatures(pending.envelope, [dave])], 'missing_signature')
  })

  it('named an endorser in vain who may not endorse', async () => {
    const { bob } = world.actors
    const pending = await verifyPendingKey(
      ORG,
      await requestEndorsement({ ...TERMS, at: world.now, endorser: bob.kid }, agent),
    )
    await refuses(world, [await endorseKey(pending, bob)], 'endorser_not_admin')
  })

  it('drops signatures that nobody asked for', async () => {
    const request = await requestEndorsement({ ...TERMS, at: world.now, endorser: alice.kid }, agent)
    const crowded = await addSignatures(request, [world.actors.mallory, world.actors.bob])
    const pending = await verifyPendingKey(ORG, crowded)
    expect(pending.envelope.signatures.map(({ keyid }) => keyid)).toEqual([agent.kid])
  })

  it('is refused while it waits if it is not what it says', async () => {
    const request = await requestEndorsement({ ...TERMS, at: world.now, endorser: alice.kid }, agent)
    const code = (candidate: unknown, org = ORG) => refusal(() => verifyPendingKey(org, candidate))
    expect(await code(request)).toBe('accepted')
    expect(await code(request, 'org_other')).toBe('genesis_mismatch')
    expect(await code({ ...request, signatures: [] })).toBe('missing_signature')
    const { mallory } = world.actors
    const stolen = {
      ...request,
      signatures: [{ keyid: agent.kid, sig: (await addSignatures(request, [mallory])).signatures[1]?.sig }],
    }
    expect(await code(stolen)).toBe('bad_signature')
    const members = { org: ORG, at: world.now, kid: agent.kid, caps: ['agent'] as const }
    const swapped = await makeDocument(keyAdd, { ...members, key: mallory.key.bundle }, [agent])
    expect(await code(swapped)).toBe('key_substitution')
    const greedy = await makeDocument(keyAdd, { ...members, key: agent.key.bundle, caps: ['member'] }, [agent])
    expect(await code(greedy)).toBe('not_authorised')
    // Caps are in no fingerprint: an admin who compares one must not sign more than a plain agent.
    for (const more of ['agent-manager', 'dir-admin', 'recovery'] as const) {
      const caps = ['agent', more] as const
      expect(await code(await makeDocument(keyAdd, { ...members, key: agent.key.bundle, caps }, [agent]))).toBe(
        'not_authorised',
      )
    }
    expect(await code(world.genesis)).toBe('wrong_type')
    expect(await code({})).toBe('malformed')
  })
})

describe('a key that rotates', () => {
  const both = () => [dekOf(world, world.prod), dekOf(world, world.staging)]
  const rotate = (old: Identity, next: Identity, held = both()) =>
    rotateKey({ org: ORG, at: world.now, held }, old, next)

  it.each([
    ['an Ed25519 agent', 'deploy', 'deployNext'],
    ['a hybrid agent', 'hybrid', 'mallory'],
    ['an RSA-only agent', 'worker', 'mallory'],
    ['an agent that becomes hybrid', 'deploy', 'hybrid'],
    ['an agent that becomes RSA-only', 'deploy', 'worker'],
  ] as const)('of %s takes every vault along: the new key reads, and the old one is refused', async (_, from, to) => {
    const old = world.actors[from]
    const next = admit(world, 'next', await identityOf(to, old.key.principal))
    const before = await world.answer(world.prod, old)
    const { event, replacements } = await rotate(old, next)
    for (const wrap of replacements)
      expect(peekDocument(wrappedDek, wrap).payload).toMatchObject({
        by: old.kid,
        to: next.kid,
      })
    await append(event, ...replacements)
    expect(await read(next)).toEqual(VALUES)
    expect(await refusal(() => read(old))).toBe('unwrapped_key_missing')
    // The wraps it had are not granted any more, whoever serves them.
    const replayed = { ...(await world.answer(world.prod, old)), wrappedKeys: before.wrappedKeys }
    expect(await refusal(() => read(old, replayed))).toBe('unwrapped_key_missing')
  })

  it('goes on reading across the next rotation of a vault, and can rotate again', async () => {
    const { deploy, deployNext } = world.actors
    const { event, replacements } = await rotate(deploy, deployNext)
    await append(event, ...replacements)
    const first = dekOf(world)
    await commit(world, { rotate: 'scheduled' })
    expect(vaultStateOf(world).dekVersion).toBe(2)
    expect(await read(deployNext)).toEqual(VALUES)
    const third = admit(world, 'third', await newIdentity(deploy.key.principal))
    const again = await rotate(deployNext, third, [first, dekOf(world), dekOf(world, world.staging)])
    await append(again.event, ...again.replacements)
    expect(await read(third)).toEqual(VALUES)
  })

  it('that forgets a grant, or has one too many, is told which', async () => {
    const { deploy, deployNext, dave } = world.actors
    const short = await rotate(deploy, deployNext, both().slice(1))
    const code = async (docs: readonly Envelope[]) =>
      world.host.append(docs, world.now).then(
        () => 'accepted',
        (error: { code: string; details: object }) => ({ code: error.code, ...error.details }),
      )
    expect(await code([short.event, ...short.replacements])).toEqual({
      code: 'incomplete_batch',
      missing: [`${world.prod}/0000000001`],
      extra: [],
    })
    const daveNext = await newIdentity(dave.key.principal)
    const long = await rotate(dave, daveNext, both().slice(0, 1))
    expect(await code([long.event, ...long.replacements])).toEqual({
      code: 'incomplete_batch',
      missing: [],
      extra: [`${world.prod}/0000000001`],
    })
  })

  it('fails whole if a grant was made meanwhile, and succeeds when it is built again', async () => {
    const { deploy, deployNext } = world.actors
    const early = await rotate(deploy, deployNext)
    const first = dekOf(world)
    await commit(world, { rotate: 'scheduled' })
    await refuses(world, [early.event, ...early.replacements], 'incomplete_batch')
    const late = await rotate(deploy, deployNext, [first, dekOf(world), dekOf(world, world.staging)])
    await append(late.event, ...late.replacements)
    expect(await read(deployNext)).toEqual(VALUES)
  })

  it('hands nothing to another principal', async () => {
    const { deploy, mallory } = world.actors
    expect(await refusal(() => rotate(deploy, mallory))).toBe('key_substitution')
  })

  it('replaces no more grants than a leaf can hold', async () => {
    const { deploy, deployNext } = world.actors
    const held = new Array(2048).fill(dekOf(world))
    expect(await refusal(() => rotate(deploy, deployNext, held))).toBe('limit_exceeded')
  })

  it('of an admin’s RSA-only key hands over like any other, though it may grant nothing', async () => {
    const second = admit(world, 'second', await identityOf('worker', alice.key.principal))
    const third = admit(world, 'third', await newIdentity(alice.key.principal))
    await append(await registerKey({ org: ORG, caps: ['member'], at: world.now }, alice, second))
    const wraps = await Promise.all(both().map((dek) => wrapDek(dek, second.key, alice, world.now)))
    await append(...wraps)
    expect(await read(second)).toEqual(VALUES)
    const { event, replacements } = await rotate(second, third)
    await append(event, ...replacements)
    expect(await read(third)).toEqual(VALUES)
  })
})

describe('a private key', () => {
  const OPERATIONS = ['rsaOaepDecrypt', 'mlKemDecapsulate', 'rsaPssSign', 'ed25519Sign'] as const
  type Operation = (typeof OPERATIONS)[number]

  /** Runs with every private-key operation of the platform counted. */
  async function counting(run: () => Promise<unknown>): Promise<Record<Operation, number>> {
    const counts = { rsaOaepDecrypt: 0, mlKemDecapsulate: 0, rsaPssSign: 0, ed25519Sign: 0 }
    const original = { ...platform }
    for (const name of OPERATIONS)
      (platform as Record<Operation, unknown>)[name] = (...args: unknown[]) => {
        counts[name]++
        return (original[name] as (...args: unknown[]) => unknown)(...args)
      }
    try {
      await run()
    } finally {
      Object.assign(platform satisfies Platform, original)
    }
    return counts
  }
  const NONE = { rsaOaepDecrypt: 0, mlKemDecapsulate: 0, rsaPssSign: 0, ed25519Sign: 0 }

  it('is used once for each wrapped key of an honest answer', async () => {
    const { deploy, hybrid } = world.actors
    expect(await counting(() => read(deploy))).toMatchObject({ rsaOaepDecrypt: 1, mlKemDecapsulate: 0 })
    expect(await counting(() => read(hybrid))).toMatchObject({ rsaOaepDecrypt: 1, mlKemDecapsulate: 1 })
  })

  it('is never used on a wrap that is not granted, not signed, not for it, or under another head', {
    timeout: 30_000,
  }, async () => {
    const { deploy, mallory, bob, carol } = world.actors
    const answer = await world.answer(world.prod, deploy)
    const [wrap] = answer.wrappedKeys as [Envelope]
    const lies: Record<string, Partial<EnvironmentAnswer>> = {
      'a wrap by a stranger': { wrappedKeys: [await wrapDek(dekOf(world), deploy.key, mallory, world.now)] },
      'a wrap by a member': { wrappedKeys: [await wrapDek(dekOf(world), deploy.key, bob, world.now)] },
      'a wrap by the admin that was never granted': {
        wrappedKeys: [await wrapDek(dekOf(world), deploy.key, alice, world.now + 1)],
      },
      'a wrap for somebody else': { wrappedKeys: [await wrapDek(dekOf(world), carol.key, alice, world.now)] },
      'a wrap of another vault': {
        wrappedKeys: [await wrapDek(dekOf(world, world.staging), deploy.key, alice, world.now)],
      },
      'an unsigned wrap': { wrappedKeys: [{ ...wrap, signatures: [] }] },
      'a wrap twice': { wrappedKeys: [wrap, wrap] },
      'no wrap': { wrappedKeys: [] },
      'a good wrap and a bad one': { wrappedKeys: [wrap, { ...wrap, signatures: [] }] },
      'another head': { head: answer.acl },
      'a field less': { fields: answer.fields.slice(1) },
    }
    for (const [name, lie] of Object.entries(lies)) {
      const counts = await counting(async () => {
        expect(await refusal(() => read(deploy, { ...answer, ...lie })), name).not.toBe('accepted')
      })
      expect([name, counts]).toEqual([name, NONE])
    }
  })

  it('proves its possession by a signature alone: registering and rotating decrypt nothing', async () => {
    const { deploy, deployNext } = world.actors
    const counts = await counting(async () => {
      const pending = await verifyPendingKey(
        ORG,
        await requestEndorsement({ ...TERMS, at: world.now, endorser: alice.kid }, agent),
      )
      await append(await endorseKey(pending, alice))
      const { event, replacements } = await rotateKey(
        { org: ORG, at: world.now, held: [dekOf(world), dekOf(world, world.staging)] },
        deploy,
        deployNext,
      )
      await append(event, ...replacements)
    })
    expect(counts).toEqual({ rsaOaepDecrypt: 0, mlKemDecapsulate: 0, rsaPssSign: 0, ed25519Sign: 6 })
  })
})
