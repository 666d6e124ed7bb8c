// Catches: acts made of documents that do not belong together, of another organisation, twice, or with a gentler name; states
// that outgrow what a state may hold; leaves that go back in time or change more than a leaf can.
// Seen red: `pick` not called; the leaf type taken from the first document; `org` not compared; `ensureReadable` and the
// bound on updates removed; `lastAt` not asked.
import { beforeAll, describe, expect, it } from 'vitest'
import { capsSet, invite, keyAdd, keyRevoke } from '../../src/directory/documents.ts'
import type { JsonObject } from '../../src/encoding/canonical.ts'
import { documentHash, type Envelope, makeDocument } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { kidName, vaultName } from '../../src/log/state.ts'
import type { LogState } from '../../src/transition/draft.ts'
import { MAX_UPDATES, transition } from '../../src/transition/transition.ts'
import { vaultAdmins } from '../../src/vault/documents.ts'
import { wrappedDek } from '../../src/wraps/wrapped-key.ts'
import { refusal } from '../log/refusal.ts'
import { ORG, openWorld, T0, type World } from '../world/world.ts'
import { aclWith, commitDocs, kidStateOf, newIdentity, nextHead, refuses, register, revoke } from './desk.ts'

let world: World
let erin: Identity
beforeAll(async () => {
  world = await openWorld()
  erin = await newIdentity('user:ou_erin')
})

describe('an act', () => {
  it('consists of at least one document', async () => {
    await refuses(world, [], 'bad_transition')
  })

  it('names no document twice', async () => {
    const event = await register(world, erin, ['member'], world.actors.alice)
    await refuses(world, [event, event], 'bad_transition')
    await refuses(world, [event, { ...event, signatures: [...event.signatures].reverse() }], 'bad_transition')
  })

  it('is one act: two of one kind, or two kinds that stand alone, are refused', async () => {
    const { alice, carol, bob } = world.actors
    const add = await register(world, erin, ['member'], alice)
    const end = await revoke(world, carol.kid, 'removed')
    await refuses(world, [end, await revoke(world, bob.kid, 'removed')], 'bad_transition')
    await refuses(world, [add, end], 'bad_transition')
    await refuses(world, [end, add], 'bad_transition')
    await refuses(world, [add, await nextHead(world)], 'bad_transition')
  })

  it('brings no wraps where none belong', async () => {
    const { wraps } = await commitDocs(world, { rotate: 'scheduled' })
    await refuses(world, [await register(world, erin, ['member'], world.actors.alice), ...wraps], 'bad_transition')
    await refuses(world, [await revoke(world, world.actors.carol.kid, 'removed'), ...wraps], 'bad_transition')
  })

  it('changes access list, admins, creation and key only together with a head', async () => {
    const made = await commitDocs(world, {
      acl: aclWith(world, { 'user:ou_bob1': 'admin' }),
      admins: ['user:ou_alice', 'user:ou_bob1'],
      rotate: 'scheduled',
    })
    for (const alone of [made.acl, made.admins, made.epoch, [...made.acl, ...made.epoch, ...made.wraps]])
      await refuses(world, alone, 'bad_transition')
  })

  it('is made of documents of the log: an invite, an item or a stranger’s kind is none', async () => {
    const { alice } = world.actors
    const members = { inviteId: 'inv_one', inviteKey: 'A'.repeat(59), caps: ['member'], expires: T0, note: '' }
    const promise = await makeDocument(invite, { org: ORG, at: T0, ...members } as never, [alice])
    await refuses(world, [promise], 'bad_transition')
    await refuses(world, [promise, await nextHead(world)], 'bad_transition')
    const stranger = { ...promise, payloadType: 'application/vnd.in-toto+json' }
    await refuses(world, [stranger], 'wrong_type')
  })

  it.each(['vault.commit', 'vault.move', 'project.commit', 'grant.add'])(
    'cannot call itself %s by a document of that name',
    async (name) => {
      const head = await nextHead(world)
      await refuses(world, [{ ...head, payloadType: `application/vnd.vault.v3.${name}+json` }], 'bad_transition')
    },
  )

  it('is of documents whose type and content agree', async () => {
    const event = await register(world, erin, ['member'], world.actors.alice)
    await refuses(world, [{ ...event, payloadType: 'application/vnd.vault.v3.key.revoke+json' }], 'bad_signature')
    const signed = await makeDocument(keyRevoke, { org: ORG, at: T0, kid: erin.kid, reason: 'removed' }, [
      world.actors.alice,
    ])
    await refuses(world, [{ ...signed, payloadType: 'application/vnd.vault.v3.key.add+json' }], 'wrong_type')
  })

  it('is of this organisation in each of its documents', async () => {
    const { alice, carol } = world.actors
    const members = { at: T0, kid: erin.kid, key: erin.key.bundle, caps: ['member'] as const }
    const foreign = await makeDocument(keyAdd, { org: 'org_other', ...members } as never, [alice, erin])
    await refuses(world, [foreign], 'genesis_mismatch')
    const end = { org: 'org_other', at: T0, kid: carol.kid, reason: 'removed' as const }
    await refuses(world, [await makeDocument(keyRevoke, end, [alice])], 'genesis_mismatch')
    await refuses(world, [await nextHead(world, { org: 'org_other' })], 'genesis_mismatch')
    const made = await commitDocs(world, { rotate: 'scheduled' })
    const payload = JSON.parse(atob((made.wraps[0] as Envelope).payload))
    const { v: _v, t: _t, by: _by, ...wrap } = payload
    const foreignWrap = await makeDocument(wrappedDek, { ...wrap, org: 'org_other' }, [alice])
    await refuses(world, [...made.all.filter((one) => one !== made.wraps[0]), foreignWrap], 'genesis_mismatch')
  })

  it('is not older than the leaf before it', async () => {
    const event = await register(world, erin, ['member'], world.actors.alice)
    await refuses(world, [event], 'bad_transition', world.now - 1)
    const applied = await transition(world.host.ledger, world.host.leaves.length, { docs: [event], at: world.now })
    expect(applied.t).toBe('key.add')
  })
})

describe('a history', () => {
  /** The same log with one state in the place of another. */
  const withState = (name: string, change: object): LogState => ({
    ...world.host.ledger,
    get: (asked) =>
      asked === name
        ? ({ ...(world.host.state(name) as JsonObject), ...change } as JsonObject)
        : world.host.ledger.get(asked),
  })
  const rising = (length: number): number[] => Array.from({ length }, (_, i) => i)
  const codeOf = (before: LogState, docs: readonly Envelope[]) =>
    refusal(() => transition(before, 5000, { docs, at: world.now }))

  it('of admins that is full takes no more, rather than becoming unreadable for ever', async () => {
    const { alice } = world.actors
    const members = { org: ORG, at: T0, vaultId: world.prod, admins: ['user:ou_alice'] }
    const former = await makeDocument(vaultAdmins, { ...members, adminsVersion: 2, prev: 'A'.repeat(43) }, [alice])
    const adminsHash = documentHash(former)
    const after = (length: number): LogState => {
      const changed = withState(vaultName(world.prod), { adminsHash, adminsIndexes: rising(length) })
      return {
        ...changed,
        document: (docHash) => (docHash === adminsHash ? former : world.host.ledger.document(docHash)),
      }
    }
    const next = async (length: number) => {
      const admins = await makeDocument(vaultAdmins, { ...members, adminsVersion: length + 1, prev: adminsHash }, [
        alice,
      ])
      return [admins, ...(await commitDocs(world, { acl: aclWith(world, {}) })).all]
    }
    expect(await codeOf(after(1023), await next(1023))).toBe('accepted')
    expect(await codeOf(after(1024), await next(1024))).toBe('limit_exceeded')
  })

  it('of draining keys that is full waits for values to be encrypted again', async () => {
    const draining = rising(1024).map((i) => ({ dekVersion: i + 1, dekCommit: 'A'.repeat(43) }))
    const many = withState(vaultName(world.prod), { draining })
    expect(await codeOf(many, (await commitDocs(world, { rotate: 'scheduled' })).all)).toBe('limit_exceeded')
  })

  it('of caps that is full takes no more', async () => {
    const { bob, alice } = world.actors
    const docHash = 'A'.repeat(43)
    const capSets = (length: number) => rising(length).map((index) => ({ index, docHash }))
    const event = () =>
      makeDocument(capsSet, { org: ORG, at: T0, kid: bob.kid, caps: ['member'], prev: docHash }, [alice])
    expect(await codeOf(withState(kidName(bob.kid), { capSets: capSets(1023) }), [await event()])).toBe('accepted')
    expect(await codeOf(withState(kidName(bob.kid), { capSets: capSets(1024) }), [await event()])).toBe(
      'limit_exceeded',
    )
  })
})

describe('a log state', () => {
  it('that has lost a document, or has another in its place, decides nothing', async () => {
    const { alice, bob } = world.actors
    const docs = [await register(world, erin, ['member'], alice)]
    const act = { docs, at: world.now }
    const lost: LogState = { ...world.host.ledger, document: () => undefined }
    expect(await refusal(() => transition(lost, 50, act))).toBe('bad_transition')
    const revocation = await revoke(world, bob.kid, 'removed')
    const genesisHash = documentHash(world.genesis)
    const other: LogState = {
      ...world.host.ledger,
      document: (docHash) => (docHash === genesisHash ? revocation : world.host.ledger.document(docHash)),
    }
    expect(await refusal(() => transition(other, 50, act))).toBe('wrong_type')
    const byDave = { docs: [await register(world, erin, ['member'], world.actors.dave)], at: world.now }
    const { rec } = kidStateOf(world, world.actors.dave.kid)
    const third: LogState = {
      ...world.host.ledger,
      document: (docHash) => (docHash === rec ? revocation : world.host.ledger.document(docHash)),
    }
    expect(await refusal(() => transition(third, 50, byDave))).toBe('wrong_type')
  })
})

describe('a leaf', () => {
  it('changes no more states than its list can name', async () => {
    const { carol } = world.actors
    const grants = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ vaultId: world.prod, kid: carol.kid, dekVersion: i + 1 }))
    const before = (count: number): LogState => ({
      ...world.host.ledger,
      grantsOfKid: () => grants(count),
      endedGrantsOfKid: () => [],
    })
    const docs = [await revoke(world, carol.kid, 'superseded')]
    const act = { docs, at: world.now }
    expect((await transition(before(MAX_UPDATES - 1), 50, act)).updates).toHaveLength(MAX_UPDATES)
    expect(await refusal(() => transition(before(MAX_UPDATES), 50, act))).toBe('limit_exceeded')
  })
})
