import type { WebhookDelivery, WebhookEndpoint } from '@strongroom/sdk'
import { Status, type Tone } from '../../ui/status.tsx'

const REASONS: Record<NonNullable<WebhookEndpoint['disabledReason']>, string> = {
  manual: 'disabled',
  gone: 'disabled: it answered 410',
  failing: 'disabled: it failed for days',
  key_ended: 'disabled: its key has ended',
}

export function EndpointStatus({ of: { status, disabledReason, failingSince } }: { readonly of: WebhookEndpoint }) {
  if (status === 'disabled') return <Status tone="quiet">{REASONS[disabledReason ?? 'manual']}</Status>
  return failingSince === null ? <Status tone="good">active</Status> : <Status tone="bad">failing</Status>
}

const DELIVERY_TONES: Record<WebhookDelivery['state'], Tone> = {
  pending: 'quiet',
  delivering: 'quiet',
  retrying: 'warn',
  delivered: 'good',
  exhausted: 'bad',
  discarded: 'quiet',
}

export const DeliveryStatus = ({ of: { state } }: { readonly of: Pick<WebhookDelivery, 'state'> }) => (
  <Status tone={DELIVERY_TONES[state]}>{state}</Status>
)

export type Attempt = WebhookDelivery['attempts'][number]

/** `204`, `timeout`, `under way`. */
export function answerWord({ responseStatus, error }: Attempt): string {
  if (responseStatus !== null) return String(responseStatus)
  return error === null ? 'under way' : error.replaceAll('_', ' ')
}

export const isTaken = ({ responseStatus }: Attempt): boolean =>
  responseStatus !== null && responseStatus >= 200 && responseStatus < 300

export const answerText = (attempt: Attempt): string =>
  `${answerWord(attempt)}${attempt.durationMs === null ? '' : ` in ${attempt.durationMs} ms`}`

export interface Health {
  readonly settled: number
  readonly taken: number
  /** Of every attempt that was answered, in milliseconds. */
  readonly p95: number | undefined
  /** Success of ten deliveries each, oldest first. */
  readonly shares: readonly number[]
}

const CHUNK = 10

/** How it went lately, of what was really sent: tests are not counted. Newest first as they come. */
export function healthOf(deliveries: readonly WebhookDelivery[]): Health {
  const settled = deliveries.filter(
    ({ state, synthetic }) => !synthetic && (state === 'delivered' || state === 'exhausted' || state === 'retrying'),
  )
  const taken = settled.map(({ state }) => state === 'delivered')
  const times = deliveries
    .flatMap(({ attempts }) => attempts.map(({ durationMs }) => durationMs))
    .filter((ms) => ms !== null)
    .sort((a, b) => a - b)
  const oldestFirst = taken.toReversed()
  const size = Math.max(1, Math.min(CHUNK, Math.ceil(oldestFirst.length / 12)))
  const shares: number[] = []
  for (let from = 0; from < oldestFirst.length; from += size) {
    const part = oldestFirst.slice(from, from + size)
    shares.push(part.filter(Boolean).length / part.length)
  }
  return {
    settled: settled.length,
    taken: taken.filter(Boolean).length,
    p95: times[Math.min(times.length - 1, Math.floor(times.length * 0.95))],
    shares,
  }
}
