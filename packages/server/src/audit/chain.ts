import { createHash } from 'node:crypto'
import { canonicalText } from '@strongroom/protocol'

// The hash chain of an organisation's audit events:
//
//   hash_0 = SHA-256("strongroom audit chain 1\n" ‖ orgId)
//   hash_i = SHA-256(hash_{i-1} ‖ canonical(event_i))
//
// canonical(event) is the canonical JSON of docs/protocol.md 2.3 over exactly the members below, as `GET
// /monitoring/audit-events` answers them: whoever reads an event can recompute its hash. Times are written in microseconds,
// the precision of the database, so that no part of them can be changed unseen.

export interface ChainedEvent {
  readonly id: string
  readonly action: string
  /** As `2026-01-31T12:00:00.123456Z`. */
  readonly occurredAt: string
  readonly actorType: string
  readonly actorId: string
  readonly targets: unknown
  readonly outcome: string
  readonly errorCode: string | null
  readonly requestId: string
  readonly ip: string
  readonly userAgent: string
  readonly metadata: unknown
}

export const AUDIT_VERSION = 1

const canonicalEvent = (orgId: string, event: ChainedEvent): string =>
  canonicalText({
    version: AUDIT_VERSION,
    orgId,
    id: event.id,
    action: event.action,
    occurredAt: event.occurredAt,
    actor: { type: event.actorType, id: event.actorId },
    targets: event.targets,
    context: { requestId: event.requestId, ip: event.ip, userAgent: event.userAgent },
    outcome: event.outcome,
    errorCode: event.errorCode,
    metadata: event.metadata,
  })

export const startOfChain = (orgId: string): Buffer =>
  createHash('sha256').update(`strongroom audit chain 1\n${orgId}`).digest()

/** Throws for what has no canonical form; `record` writes no such event. */
export const nextHash = (previous: Buffer, orgId: string, event: ChainedEvent): Buffer =>
  createHash('sha256').update(previous).update(canonicalEvent(orgId, event)).digest()
