import { createHash } from 'node:crypto'
import { auditChainStart, canonicalAuditEvent, writtenEvent } from '@strongroom/contract'
import type { AuditEvent } from '@strongroom/sdk'

// The chain of an organisation, checked by whoever reads it. Events come newest first and roughly in the order of the chain, some of them
// twice, since others are written meanwhile; so each is held against those beside it as soon as both are known.

export type ChainProblem =
  /** The event is not the one that was sealed. */
  | 'event_changed'
  /** It does not follow the one before it, or the start of this organisation. */
  | 'link_broken'
  /** Nothing stands at a position. */
  | 'position_missing'
  /** It was recorded long ago, and is in no chain. */
  | 'event_unsealed'
  /** What this machine has seen as the end is not in the chain any more, or is another one. */
  | 'history_rewritten'

export interface ChainEnd {
  readonly position: number
  /** Hexadecimal. */
  readonly hash: string
}

export interface Break {
  readonly problem: ChainProblem
  /** Null for what was never given one. */
  readonly position: number | null
  readonly eventId: string | null
}

/** Where one of them stands in time. */
interface Placed {
  readonly position: number
  readonly at: string
}

export interface ChainCheck {
  see(event: AuditEvent): void
  /** Positions below the end at which nothing was seen. */
  missing(): readonly number[]
  /** The first of what is wrong, of all that was seen; missing ones only where everything should have been seen. */
  firstBreak(options: { readonly sawAll: boolean; readonly remembered?: ChainEnd | undefined }): Break | undefined
  readonly entries: () => number
  readonly waiting: () => number
  /** Undefined while nothing is sealed. */
  readonly span: () => { readonly first: Placed; readonly last: Placed; readonly end: ChainEnd } | undefined
}

/** A server that seals at all has sealed by then, and no clock should be further off. */
const UNSEALED_AFTER_MS = 600_000

function hashOf(previous: string, orgId: string, event: AuditEvent): string | undefined {
  const { actor, context, ...rest } = event
  try {
    const written = writtenEvent({ ...rest, actorType: actor.type, actorId: actor.id, ...context })
    const sha256 = createHash('sha256').update(Buffer.from(previous, 'hex'))
    return sha256.update(canonicalAuditEvent(orgId, written)).digest('hex')
  } catch {
    // No event that was sealed lacks a canonical form.
    return undefined
  }
}

export function checkChain(orgId: string, now: number): ChainCheck {
  const hashes = new Map<number, string>([[0, createHash('sha256').update(auditChainStart(orgId)).digest('hex')]])
  /** What the next one says of a position that was not seen yet. */
  const expected = new Map<number, { readonly hash: string; readonly by: Break }>()
  const waiting = new Map<string, string>()
  const ids = new Map<number, string>()
  const breaks: Break[] = []
  let [first, last]: (Placed | undefined)[] = []

  function link(position: number, previous: string, eventId: string): void {
    const before = hashes.get(position - 1)
    const broken: Break = { problem: 'link_broken', position, eventId }
    if (before === undefined) expected.set(position - 1, { hash: previous, by: broken })
    else if (before !== previous) breaks.push(broken)
  }

  function seal(event: AuditEvent, position: number, previous: string, hash: string): void {
    const { id: eventId, occurredAt: at } = event
    waiting.delete(eventId)
    const known = hashes.get(position)
    if (known === hash && ids.get(position) === eventId) return
    if (hashOf(previous, orgId, event) !== hash) breaks.push({ problem: 'event_changed', position, eventId })
    // Two events cannot have one place.
    if (known !== undefined) return void breaks.push({ problem: 'link_broken', position, eventId })
    hashes.set(position, hash)
    ids.set(position, eventId)
    link(position, previous, eventId)
    const wanted = expected.get(position)
    if (wanted && wanted.hash !== hash) breaks.push(wanted.by)
    expected.delete(position)
    if (!first || position < first.position) first = { position, at }
    if (!last || position > last.position) last = { position, at }
  }

  const missing = (): readonly number[] => {
    const to = last?.position ?? 0
    if (hashes.size === to + 1) return []
    return Array.from({ length: to }, (_, i) => i + 1).filter((position) => !hashes.has(position))
  }

  return {
    see: (event) => {
      const { id, position, prevHash, hash, occurredAt } = event
      if (position === null || prevHash === null || hash === null) waiting.set(id, occurredAt)
      else seal(event, position, prevHash, hash)
    },
    missing,
    entries: () => hashes.size - 1,
    waiting: () => waiting.size,
    span: () =>
      first && last && { first, last, end: { position: last.position, hash: hashes.get(last.position) ?? '' } },
    firstBreak: ({ sawAll, remembered }) => {
      const gone = sawAll ? missing().slice(0, 1) : []
      const late = [...waiting].filter(([, at]) => Date.parse(at) < now - UNSEALED_AFTER_MS).slice(-1)
      const isOther =
        remembered && (sawAll || hashes.has(remembered.position)) && hashes.get(remembered.position) !== remembered.hash
      const all: Break[] = [
        ...breaks,
        ...gone.map((position): Break => ({ problem: 'position_missing', position, eventId: null })),
        ...(isOther ? [{ problem: 'history_rewritten', position: remembered.position, eventId: null } as const] : []),
        ...late.map(([eventId]): Break => ({ problem: 'event_unsealed', position: null, eventId })),
      ]
      const at = ({ position }: Break): number => position ?? Number.POSITIVE_INFINITY
      return all.sort((a, b) => at(a) - at(b))[0]
    },
  }
}
