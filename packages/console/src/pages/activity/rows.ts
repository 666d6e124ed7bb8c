import type { ActivityEvent, AuditEvent, RequestEvent } from '@strongroom/sdk'
import type { Series } from '../../plot/step-area.tsx'

// One shape for what three lists of the server say: who did what, where, and how it ended.

export const LENSES = ['feed', 'requests', 'audit'] as const
export type Lens = (typeof LENSES)[number]

export const RESULTS = ['ok', 'denied', 'client error', 'server error'] as const
export type Result = (typeof RESULTS)[number]

export const RESULT_SERIES: readonly Series[] = [
  { label: 'ok', mark: { colour: 'chart-1', texture: 'solid' } },
  { label: 'denied', mark: { colour: 'chart-4', texture: 'hatch' } },
  { label: 'client error', mark: { colour: 'chart-6', texture: 'dots' } },
  { label: 'server error', mark: { colour: 'chart-5', texture: 'cross' } },
]

export interface Subject {
  readonly type: string
  readonly id: string
}

export interface ActivityRow {
  readonly id: string
  readonly at: Date
  /** `user:…` or `agent:…` */
  readonly who: string
  readonly what: string
  readonly where: readonly Subject[]
  readonly result: Result
  /** Of HTTP, where it is a request. */
  readonly status: number | null
  readonly code: string | null
  readonly ms: number | null
  readonly requestId: string
  /** As the server said it. */
  readonly event: RequestEvent | AuditEvent | ActivityEvent
}

function resultOf(status: number): Result {
  if (status < 400) return 'ok'
  if (status === 401 || status === 403) return 'denied'
  return status < 500 ? 'client error' : 'server error'
}

/** A route as people call it: what all of them begin with is left out. */
export const shortRoute = (template: string): string => template.replace(/^\/api\/v1(?:\/machine)?/, '')

export const requestRow = (event: RequestEvent, where: readonly Subject[] = []): ActivityRow => ({
  id: event.id,
  at: new Date(event.occurredAt),
  who: event.principal.id,
  what: `${event.method} ${shortRoute(event.routeTemplate)}`,
  where,
  result: resultOf(event.status),
  status: event.status,
  code: event.errorCode,
  ms: event.durationMs,
  requestId: event.requestId,
  event,
})

export const auditRow = (event: AuditEvent): ActivityRow => ({
  id: event.id,
  at: new Date(event.occurredAt),
  who: event.actor.id,
  what: event.action,
  where: event.targets,
  result: event.outcome === 'success' ? 'ok' : 'denied',
  status: null,
  code: event.errorCode,
  ms: null,
  requestId: event.context.requestId,
  event,
})

export const feedRow = (event: ActivityEvent): ActivityRow => ({
  id: event.id,
  at: new Date(event.occurredAt),
  who: event.actor,
  what: event.action,
  where: [
    { type: 'vault', id: event.vaultId },
    ...(event.subject === event.vaultId ? [] : [{ type: event.action.split('.')[0] ?? 'subject', id: event.subject }]),
  ],
  result: 'ok',
  status: null,
  code: null,
  ms: null,
  requestId: event.requestId,
  event,
})
