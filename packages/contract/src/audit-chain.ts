import { canonicalText } from '@strongroom/protocol'

// The hash chain of an organisation's audit events:
//
//   hash_0 = SHA-256("strongroom audit chain 1\n" ‖ orgId)
//   hash_i = SHA-256(hash_{i-1} ‖ canonical(event_i))
//
// canonical(event) is the canonical JSON of docs/reference/protocol.md 2.3 over exactly the members below, as `GET
// /monitoring/audit-events` answers them: whoever reads an event can recompute its hash. Times are written in microseconds,
// the precision of the database, so that no part of them can be changed unseen. What is hashed is said here and nowhere else, since the
// server seals with it and whoever verifies must not come to another form; each hashes in its own way.

export const AUDIT_VERSION = 1

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

/** An event with its open parts in canonical form already. */
export type WrittenEvent = Omit<ChainedEvent, 'targets' | 'metadata'> & {
  readonly targets: string
  readonly metadata: string
}

export const auditChainStart = (orgId: string): string => `strongroom audit chain 1\n${orgId}`

/** Members in the order of the canonical form; every event of an organisation is written like this, many thousands a minute. */
export function canonicalAuditEvent(orgId: string, event: WrittenEvent): string {
  const { action, actorId, actorType, ip, requestId, userAgent, errorCode, id, occurredAt, outcome } = event
  const actor = `{"id":${canonicalText(actorId)},"type":${canonicalText(actorType)}}`
  const request = `"requestId":${canonicalText(requestId)},"userAgent":${canonicalText(userAgent)}`
  return (
    `{"action":${canonicalText(action)},"actor":${actor},"context":{"ip":${canonicalText(ip)},${request}},` +
    `"errorCode":${canonicalText(errorCode)},"id":${canonicalText(id)},"metadata":${event.metadata},` +
    `"occurredAt":${canonicalText(occurredAt)},"orgId":${canonicalText(orgId)},"outcome":${canonicalText(outcome)},` +
    `"targets":${event.targets},"version":${AUDIT_VERSION}}`
  )
}

/** Throws for what has no canonical form; no such event is ever written. */
export const writtenEvent = (event: ChainedEvent): WrittenEvent => ({
  ...event,
  targets: canonicalText(event.targets),
  metadata: canonicalText(event.metadata),
})
