// Catches: directories that hang, refuse honest histories, or give a key caps that no signed document gives it.
// Seen red: rotations resolved by recursion (a key is lost after eight of them); signatures by later keys looked up (the read
// never ends); a caps.set verified for one key and used for another; its predecessor not compared; compromised admins counted; keys
// that are shorter than the policy asked for; keys refused because whoever set that policy was found to be compromised;
// what was replaced long ago lost with the caps of a key that had ended; those caps, and a policy, refused to whoever has to sign them anew.
import { beforeEach, describe, expect, it } from 'vitest'
import { capsSet, keyAdd, keyRotate, policySet } from '../../src/directory/documents.ts'
import { addSignatures, documentHash, type Envelope, makeDocument, peekDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { type KidState, kidName, POLICY_NAME, type PolicyState } from '../../src/log/state.ts'
import { rotateKey } from '../../src/runtime/runtime-key.ts'
import { refusal } from '../log/refusal.ts'
import {
  join,
  kidStateOf,
  newIdentity,
  policyStateOf,
  recover,
  register,
  revoke,
  setCaps,
  setPolicy,
  sign,
} from '../transition/desk.ts'
import { identityOf } from '../world/actors.ts'
import { ORG, openWorld, type World } from '../world/world.ts'
import { fullResponse, openDirectory, reviewDirectory } from './full.ts'

let world: World
let alice: Identity
let bob: Identity
let dave: Identity
beforeEach(async () => {
  world = await openWorld()
  ;({ alice, bob, dave } = world.actors)
})
const append = async (...docs: readonly Envelope[]) => world.host.append(docs, world.now)
const now = () => world.host.leaves.length

/** What a lying server writes into the log: any state it likes, beside any documents. */
function falsify(name: string, change: object, docs: readonly Envelope[] = []): void {
  const state = { ...(world.host.state(name) as object), ...change } as never
  world.host.appendFalse(
    { t: 'key.add', d: docs.map(documentHash).sort(), updates: [{ name, state }] },
    docs,
    world.now,
  )
}
const codeOf = async (run: (directory: Awaited<ReturnType<typeof openDirectory>>) => Promise<unknown>) =>
  refusal(async () => run(await openDirectory(world)))

/** A read that never ends is as bad as a lie: it must have come to an answer long before this. */
const promptly = <T>(run: Promise<T>): Promise<T | 'never'> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<'never'>((resolve) => {
    timer = setTimeout(() => resolve('never'), 20_000)
  })
  return Promise.race([run, late]).finally(() => clearTimeout(timer))
}

describe('a key', () => {
  it('is resolved after any number of rotations, with the caps it began with', { timeout: 30_000 }, async () => {
    let key = dave
    for (let i = 0; i < 30; i++) {
      const next = await newIdentity(dave.key.principal)
      await append((await rotateKey({ org: ORG, at: world.now, held: [] }, key, next)).event)
      key = next
    }
    const directory = await openDirectory(world)
    expect((await directory.resolve(key.kid)).entry.status).toBe('active')
    expect(await directory.capsAt(key.kid, now())).toEqual(new Set(['dir-admin', 'member']))
    expect(directory.resolved()).toHaveLength(32)
  })

  it('is refused if one rotation in its chain is not signed by the key before', async () => {
    const [one, two] = [await newIdentity(bob.key.principal), await newIdentity(bob.key.principal)]
    await append(
      (await rotateKey({ org: ORG, at: world.now, held: [] }, dave, await newIdentity(dave.key.principal))).event,
    )
    const stolen = await sign(world, keyRotate, { oldKid: bob.kid, kid: one.kid, key: one.key.bundle, batch: [] }, one)
    falsify(kidName(one.kid), entry(one, stolen), [stolen])
    const onward = (await rotateKey({ org: ORG, at: world.now, held: [] }, one, two)).event
    falsify(kidName(two.kid), entry(two, onward), [onward])
    expect(await codeOf((directory) => directory.resolve(two.kid))).toBe('missing_signature')
  })
  const entry = ({ kid }: Identity, record: Envelope): KidState => ({
    kid,
    status: 'active',
    added: now(),
    end: null,
    rec: documentHash(record),
    capSets: [],
  })

  it.each([
    ['its own', (own: KidState) => own.kid],
    ['a later', () => undefined],
  ])('endorsed by %s key is refused and not waited for', { timeout: 60_000 }, async (_, endorserOf) => {
    const [erin, frank] = [await newIdentity('user:ou_erin'), await newIdentity('user:ou_frank')]
    const caps = ['dir-admin', 'member'] as const
    const by = endorserOf({ kid: erin.kid } as KidState) ? erin : frank
    const record = await sign(world, keyAdd, { kid: erin.kid, key: erin.key.bundle, caps } as never, by, erin)
    const back = await sign(world, keyAdd, { kid: frank.kid, key: frank.key.bundle, caps } as never, erin, frank)
    falsify(kidName(erin.kid), entry(erin, record), [record])
    falsify(kidName(frank.kid), entry(frank, back), [back])
    expect(await promptly(codeOf((directory) => directory.resolve(erin.kid)))).toBe('signer_not_active')
    expect(await promptly(codeOf((directory) => directory.resolve(frank.kid)))).toBe('signer_not_active')
  })

  it('that was added, ended or recovered honestly is what the log says', async () => {
    const next = await newIdentity(bob.key.principal)
    await append(await recover(world, next, [bob.kid], 'compromised', alice, next))
    await append(await revoke(world, dave.kid, 'removed'))
    const directory = await openDirectory(world)
    const { end } = kidStateOf(world, dave.kid)
    expect(await directory.signerAt(dave.kid, (end as number) - 1)).toMatchObject({ kid: dave.kid })
    const codes = [
      await refusal(() => directory.signerAt(dave.kid, end as number)),
      await refusal(() => directory.signerAt(dave.kid, kidStateOf(world, dave.kid).added - 1)),
      await refusal(() => directory.signerAt(bob.kid, 5)),
      await refusal(() => directory.formerSignerAt(bob.kid, 5)),
      await refusal(() => directory.signerAt(next.kid, now() - 1)),
      await refusal(() => directory.resolve(world.actors.mallory.kid)),
    ]
    expect(codes).toEqual([
      'signer_not_active',
      'signer_not_active',
      'signer_compromised',
      'accepted',
      'accepted',
      'unknown_signer',
    ])
    expect(await directory.capsAt(next.kid, now())).toEqual(new Set(['member']))
  })

  it('with authority needs as many endorsers as the policy of its time', async () => {
    await append(await setPolicy(world, { dirQuorum: 2 }, alice))
    const erin = await newIdentity('user:ou_erin')
    const alone = await register(world, erin, ['dir-admin', 'member'], alice)
    falsify(kidName(erin.kid), entry(erin, alone), [alone])
    expect(await codeOf((directory) => directory.resolve(erin.kid))).toBe('endorser_not_admin')
    const frank = await newIdentity('user:ou_frank')
    await append(await register(world, frank, ['dir-admin', 'member'], alice, dave))
    expect(await codeOf((directory) => directory.resolve(frank.kid))).toBe('accepted')
    expect(await codeOf((directory) => directory.resolve(dave.kid))).toBe('accepted')
  })

  it('is as long as the policy asked for when it came, whoever logged it, and whoever asked', async () => {
    const asker = await newIdentity('user:ou_asker')
    await join(world, asker, ['member'])
    await append(await setCaps(world, asker.kid, ['dir-admin', 'member'], dave))
    await append(await setPolicy(world, { minRsaBits: 3072 }, asker))
    const short = await newIdentity('user:ou_short')
    const record = await register(world, short, ['member'], alice)
    falsify(kidName(short.kid), entry(short, record), [record])
    const long = await identityOf('big', 'user:ou_long')
    await append(await register(world, long, ['member'], alice))
    const judged = async () => {
      const directory = await openDirectory(world)
      const codes: string[] = []
      for (const { kid } of [short, long, bob, alice]) codes.push(await refusal(() => directory.resolve(kid)))
      return [...codes, await refusal(() => directory.signerAt(short.kid, now() - 1))]
    }
    const expected = ['weak_key', 'accepted', 'accepted', 'accepted', 'weak_key']
    expect(await judged()).toEqual(expected)
    // What was asked for then stays asked for, and keeps nobody out, when whoever did or whoever let them is in doubt.
    await append(await revoke(world, dave.kid, 'compromised'))
    expect(await judged()).toEqual(expected)
    await append(await revoke(world, asker.kid, 'compromised'))
    expect(await judged()).toEqual(expected)
  })
})

describe('a caps.set', () => {
  const ADMIN = ['dir-admin', 'member'] as const

  it('counts for the key it names, also after it was verified for that key', async () => {
    await append(await setCaps(world, dave.kid, ADMIN, alice))
    const { capSets } = kidStateOf(world, dave.kid)
    falsify(kidName(bob.kid), { capSets })
    const directory = await openDirectory(world)
    expect(await directory.capsAt(dave.kid, now())).toEqual(new Set(ADMIN))
    expect(await refusal(() => directory.capsAt(bob.kid, now()))).toBe('endorser_not_admin')
  })

  it('stands in its order: one that was taken back does not come again', async () => {
    const given = await setCaps(world, bob.kid, ADMIN, alice)
    await append(given)
    await append(await setCaps(world, bob.kid, ['member'], alice))
    const { capSets } = kidStateOf(world, bob.kid)
    falsify(kidName(bob.kid), { capSets: [...capSets, { index: now(), docHash: documentHash(given) }] })
    expect(await codeOf((directory) => directory.capsAt(bob.kid, now()))).toBe('endorser_not_admin')
    falsify(kidName(bob.kid), { capSets: [...capSets].reverse() })
    expect(await codeOf((directory) => directory.capsAt(bob.kid, now()))).toBe('endorser_not_admin')
  })

  it('is not waited for by the keys that lean on it', { timeout: 60_000 }, async () => {
    const given = await setCaps(world, bob.kid, ADMIN, alice)
    await append(given)
    const erin = await newIdentity('user:ou_erin')
    await join(world, erin, ['member'], bob)
    // Erin, whom Bob endorsed by virtue of it, signs the very document; the server delivers it with her signature.
    const circular = await addSignatures({ ...given, signatures: [] }, [erin, alice])
    const capSets = fullResponse(world).capSets.map((one) =>
      documentHash(one) === documentHash(given) ? circular : one,
    )
    const directory = await openDirectory(world, { capSets })
    expect(await promptly(directory.capsAt(bob.kid, now()))).toEqual(new Set(ADMIN))
    expect(await promptly(directory.resolve(erin.kid))).toMatchObject({ entry: { kid: erin.kid } })
  })

  it('by an admin who is found to be compromised gives nothing, until another replaces it', async () => {
    await append(await setCaps(world, bob.kid, ADMIN, dave))
    await append(await revoke(world, dave.kid, 'compromised'))
    expect(await codeOf((directory) => directory.capsAt(bob.kid, now()))).toBe('endorser_not_admin')
    await append(await setCaps(world, bob.kid, ['member'], alice))
    const directory = await openDirectory(world)
    expect(await directory.capsAt(bob.kid, now())).toEqual(new Set(['member']))
    // What he did as an admin in between was confirmed with it.
    expect(await directory.capsAt(bob.kid, now() - 2)).toEqual(new Set(ADMIN))
  })

  it('by such an admin is seen by whoever reviews, for what it is, and is no reason to lose what was replaced since', async () => {
    await append(await setCaps(world, bob.kid, ADMIN, dave))
    const erin = await newIdentity('user:ou_erin')
    await join(world, erin, ['member'], bob)
    const index = now() - 1
    // Nobody can replace the caps of a key that has ended.
    await append(await revoke(world, bob.kid, 'superseded'))
    expect(await (await openDirectory(world)).hasSoundCaps(bob.kid)).toBe(true)
    await append(await revoke(world, dave.kid, 'compromised'))
    const directory = await openDirectory(world)
    expect((await directory.formerSignerAt(erin.kid, index)).kid).toBe(erin.kid)
    expect((await directory.keyOf(erin.kid))?.kid).toBe(erin.kid)
    expect(await directory.hasSoundCaps(bob.kid)).toBe(false)
    for (const work of [() => directory.signerAt(erin.kid, index), () => directory.resolve(erin.kid)])
      expect(await refusal(work)).toBe('endorser_not_admin')
    const review = await reviewDirectory(world)
    expect((await review.signerAt(erin.kid, index)).kid).toBe(erin.kid)
    expect(await review.capsAt(bob.kid, now())).toEqual(new Set(ADMIN))
    for (const { kid } of [erin, bob]) expect(await review.hasSoundCaps(kid)).toBe(false)
    expect(await review.isUntainted(erin.kid)).toBe(false)
    expect(await review.isUntainted(alice.kid)).toBe(true)
  })
})

describe('a policy', () => {
  it('is not waited for by the keys that lean on it', { timeout: 60_000 }, async () => {
    const policy = await setPolicy(world, { recoverQuorum: 1 }, alice)
    await append(policy)
    const next = await newIdentity(bob.key.principal)
    await append(await recover(world, next, [bob.kid], 'lost', alice, next))
    const circular = await addSignatures({ ...policy, signatures: [] }, [next, alice])
    const directory = await openDirectory(world, { policies: [circular] })
    expect(await promptly(directory.resolve(next.kid))).toMatchObject({ entry: { kid: next.kid } })
    expect(await promptly(directory.policyAt(now()))).toMatchObject({ recoverQuorum: 1 })
  })

  it('is the one in force before a leaf', async () => {
    const before = now()
    await append(await setPolicy(world, { rotationGraceMs: 7 }, alice))
    const directory = await openDirectory(world)
    expect((await directory.policyAt(before)).rotationGraceMs).toBe(86_400_000)
    expect((await directory.policyAt(before + 1)).rotationGraceMs).toBe(7)
  })

  it('by a compromised admin is refused while it is current', async () => {
    await append(await setPolicy(world, { rotationGraceMs: 7 }, dave))
    await append(await revoke(world, dave.kid, 'compromised'))
    expect(await codeOf((directory) => directory.policyAt(now()))).toBe('endorser_not_admin')
    // Whoever reviews it sees what it is; nobody remembers it.
    const review = await reviewDirectory(world)
    expect(await review.policyAt(now())).toMatchObject({ rotationGraceMs: 7 })
    expect(review.policy).toBe(null)
    await append(await setPolicy(world, { rotationGraceMs: 8 }, alice))
    expect(await codeOf((directory) => directory.policyAt(now()))).toBe('accepted')
  })

  it('chain is complete and ends where the log says', async () => {
    await append(await setPolicy(world, { rotationGraceMs: 7 }, alice))
    const [policy] = fullResponse(world).policies as [Envelope]
    const { payload } = peekDocument(policySet, policy)
    const { v: _v, t: _t, by: _by, ...members } = payload
    const other = await makeDocument(policySet, { ...members, at: 1 }, [alice])
    const refused = async (policies: readonly Envelope[]) =>
      refusal(async () => (await openDirectory(world, { policies })).policyAt(now()))
    expect(await refused([])).toBe('bad_map_proof')
    expect(await refused([policy, policy])).toBe('bad_map_proof')
    expect(await refused([other])).toBe('bad_map_proof')
    const state = policyStateOf(world) satisfies PolicyState
    falsify(POLICY_NAME, { indexes: [...state.indexes, now()], policyVersion: 3 })
    expect(await codeOf((directory) => directory.policyAt(now()))).toBe('bad_map_proof')
  })
})

describe('the policy of a log', () => {
  it('is proven, or nothing that needs it is decided', async () => {
    const names = [...world.host.ledger.names()].filter((name) => name !== POLICY_NAME)
    const directory = await openDirectory(world, {}, names)
    expect(await refusal(() => directory.policyAt(now()))).toBe('bad_map_proof')
    // Dave was endorsed with caps of his own, which the quorum of the policy had to do.
    expect(await refusal(() => directory.resolve(dave.kid))).toBe('bad_map_proof')
    // Of Bob it only says how long his key had to be, which whoever leans on that key has to know.
    expect(await refusal(() => directory.resolve(bob.kid))).toBe('bad_map_proof')
    expect(await refusal(() => directory.formerSignerAt(bob.kid, now()))).toBe('accepted')
  })

  it('follows its predecessor, whatever the log says', async () => {
    const { policyHash, indexes } = policyStateOf(world)
    const { payload } = peekDocument(policySet, await setPolicy(world, { rotationGraceMs: 7 }, alice))
    const { v: _v, t: _t, by: _by, ...members } = payload
    for (const [change, code] of [
      [{}, 'accepted'],
      [{ prev: documentHash(await setPolicy(world, {}, alice)) }, 'bad_map_proof'],
      [{ policyVersion: 3 }, 'bad_map_proof'],
    ] as const) {
      const next = await makeDocument(policySet, { ...members, prev: policyHash, ...change }, [alice])
      const state = { policyVersion: 2, policyHash: documentHash(next), indexes: [...indexes, now()] }
      falsify(POLICY_NAME, state)
      const directory = await openDirectory(world, { policies: [next] })
      expect(await refusal(() => directory.policyAt(now()))).toBe(code)
    }
  })
})

describe('a document of the directory', () => {
  it('is delivered, or the key that needs it is not known', async () => {
    await append(await setCaps(world, bob.kid, ['member'], alice))
    const directory = await openDirectory(world, { capSets: [], records: [] })
    expect(await refusal(() => directory.resolve(bob.kid))).toBe('unknown_signer')
    expect(await refusal(() => directory.resolve(alice.kid))).toBe('accepted')
    const withRecords = await openDirectory(world, { capSets: [] })
    expect(await refusal(() => withRecords.capsAt(bob.kid, now()))).toBe('unknown_signer')
  })

  it('is a record where the log names a record', async () => {
    const caps = await sign(world, capsSet, { kid: bob.kid, caps: ['member'], prev: '' }, alice)
    falsify(kidName(bob.kid), { rec: documentHash(caps) }, [caps])
    expect(await codeOf((directory) => directory.resolve(bob.kid))).toBe('wrong_type')
  })

  it('is one of not too many', async () => {
    const records = new Array<Envelope>(10_001).fill(world.genesis)
    expect(await refusal(() => openDirectory(world, { records }))).toBe('limit_exceeded')
  })
})
