import { createHash } from 'node:crypto'
import type { AuditEvent } from '@strongroom/sdk'
import { expect, it } from 'vitest'
import { type ChainCheck, checkChain } from '../src/audit/chain-check.ts'

// What a client makes of an audit chain, by hashes that are computed here from the definition. Catches: a chain that begins elsewhere, one
// that was put together of two, an event at a place that another has, one that was left out or never sealed, an end that was seen and is
// gone; a mistake found in a sound chain because of the order in which it came. Seen red: each of them passed over.

const ORG = 'org_1'
const NOW = Date.parse('2026-01-31T13:00:00Z')

const plain = (n: number): AuditEvent => ({
  ...{ id: `aud_${n}`, version: 1, action: 'vault.read', outcome: 'success', errorCode: null, metadata: { n } },
  occurredAt: `2026-01-31T12:00:00.00000${n}Z`,
  ...{ actor: { type: 'agent', id: 'agent:agt_1' }, targets: [{ type: 'vault', id: 'vlt_1' }] },
  ...{ context: { requestId: 'req_1', ip: '127.0.0.1', userAgent: '' }, position: null, prevHash: null, hash: null },
})

const sha256 = (...parts: readonly (string | Buffer)[]): string =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex')

/** Members by name at every level, as protocol.md 2.3 has it; there are no numbers here that could be written in two ways. */
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([k, v]) => [k, sorted(v)]),
        )
      : value

function sealed(event: AuditEvent, position: number, prevHash: string): AuditEvent & { hash: string } {
  const { position: _, prevHash: __, hash: ___, ...members } = event
  const text = JSON.stringify(sorted({ ...members, orgId: ORG }))
  return { ...event, position, prevHash, hash: sha256(Buffer.from(prevHash, 'hex'), text) }
}

const START = sha256(`strongroom audit chain 1\n${ORG}`)
function chainOf(numbers: readonly number[], start = START): (AuditEvent & { hash: string })[] {
  let previous = start
  return numbers.map((n, i) => {
    const event = sealed(plain(n), i + 1, previous)
    previous = event.hash
    return event
  })
}

const seen = (events: readonly AuditEvent[]): ChainCheck => {
  const check = checkChain(ORG, NOW)
  for (const event of events) check.see(event)
  return check
}
const broken = (events: readonly AuditEvent[], remembered?: { position: number; hash: string }) =>
  seen(events).firstBreak({ sawAll: true, remembered })

const chain = chainOf([1, 2, 3, 4, 5])
const [one, two, three, four, five] = chain as [
  ...[AuditEvent & { hash: string }, AuditEvent, AuditEvent & { hash: string }, AuditEvent, AuditEvent],
]

it('takes a sound chain in whatever order it comes, also twice, and says where it begins and ends', () => {
  for (const events of [chain, chain.toReversed(), [three, five, one, five, four, three, two]]) {
    const check = seen(events)
    expect(check.firstBreak({ sawAll: true, remembered: { position: 3, hash: three.hash } })).toBeUndefined()
    expect([check.entries(), check.span()]).toMatchObject([
      5,
      { first: { position: 1, at: one.occurredAt }, last: { position: 5 }, end: { hash: five.hash } },
    ])
  }
  expect(seen([]).firstBreak({ sawAll: true })).toBeUndefined()
})

it('names the first place where something is wrong', () => {
  const changed = (event: AuditEvent): AuditEvent => ({ ...event, action: 'vault.create' })
  expect(broken([one, changed(two), changed(three), four, five])).toMatchObject({
    ...{ problem: 'event_changed', position: 2, eventId: 'aud_2' },
  })
  expect(broken(chainOf([1, 2], sha256('elsewhere')).toReversed())).toMatchObject({
    problem: 'link_broken',
    position: 1,
  })
  // The end of another chain, each event of which fits its own hash.
  const other = chainOf([1, 2, 9, 4, 5])
  expect(broken([five, four, other[2] as AuditEvent, two, one])).toMatchObject({ problem: 'link_broken', position: 4 })
  expect(broken([one, two, other[2] as AuditEvent, four, five])).toMatchObject({ problem: 'link_broken', position: 4 })
  expect(broken([...chain, sealed(plain(7), 2, one.hash)])).toMatchObject({ problem: 'link_broken', position: 2 })
  expect(broken([one, two, four, five])).toEqual({ problem: 'position_missing', position: 3, eventId: null })
  expect(broken([plain(6), ...chain])).toMatchObject({ problem: 'event_unsealed', position: null, eventId: 'aud_6' })
})

it('holds it against an end that was seen before', () => {
  expect(broken(chain, { position: 3, hash: one.hash })).toMatchObject({ problem: 'history_rewritten', position: 3 })
  expect(broken([one, two], { position: 3, hash: three.hash })).toMatchObject({ problem: 'history_rewritten' })
})

it('misses nothing of those who are shown a part', () => {
  const some = seen([five, four, two])
  expect(some.firstBreak({ sawAll: false, remembered: { position: 3, hash: one.hash } })).toBeUndefined()
  expect([some.entries(), some.missing()]).toEqual([3, [1, 3]])
})
