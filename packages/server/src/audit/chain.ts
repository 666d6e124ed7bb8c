import { createHash, hash } from 'node:crypto'
import { canonicalText } from '@strongroom/protocol'

// The hash chain of an organisation's audit events:
//
//   hash_0 = SHA-256("strongroom audit chain 1\n" ‖ orgId)
//   hash_i = SHA-256(hash_{i-1} ‖ canonical(event_i))
//
// canonical(event) is the canonical JSON of docs/reference/protocol.md 2.3 over exactly the members below, as `GET
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

/** An event with its open parts in canonical form already. */
export type WrittenEvent = Omit<ChainedEvent, 'targets' | 'metadata'> & {
  readonly targets: string
  readonly metadata: string
}

/** Members in the order of the canonical form; every event of an organisation is written like this, many thousands a minute. */
function canonicalEvent(orgId: string, event: WrittenEvent): string {
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

export const startOfChain = (orgId: string): Buffer =>
  createHash('sha256').update(`strongroom audit chain 1\n${orgId}`).digest()

/** Throws for what has no canonical form; `record` writes no such event. */
export const nextHash = (previous: Buffer, orgId: string, event: ChainedEvent): Buffer => {
  const { targets, metadata } = event
  return nextHashOf(previous, orgId, { ...event, targets: canonicalText(targets), metadata: canonicalText(metadata) })
}

export const nextHashOf = (previous: Buffer, orgId: string, event: WrittenEvent): Buffer =>
  hash('sha256', Buffer.concat([previous, Buffer.from(canonicalEvent(orgId, event))]), 'buffer')
