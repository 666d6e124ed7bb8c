import type { WebhookDelivery } from '@strongroom/sdk'

// Attempts on one axis of time, so that the gaps between them are seen as long as they are.

const SHORTEST_MS = 10_000

export interface Span {
  readonly from: Date
  readonly to: Date
}

/** From the first attempt to the last or the next one; never shorter than can be drawn. */
export function spanOf(deliveries: readonly WebhookDelivery[]): Span {
  const times = deliveries.flatMap(({ createdAt, attempts, nextAttemptAt }) => [
    Date.parse(createdAt),
    ...attempts.map(({ startedAt }) => Date.parse(startedAt)),
    ...(nextAttemptAt === null ? [] : [Date.parse(nextAttemptAt)]),
  ])
  const [from, to] = [Math.min(...times), Math.max(...times)]
  const room = Math.max(0, SHORTEST_MS - (to - from)) / 2
  return { from: new Date(from - room), to: new Date(to + room) }
}

/** `5 s`, `31 min`, `2 h`, `1.2 d`: how long somebody was waited for. */
export function gapText(ms: number): string {
  if (ms < 60_000) return `${Math.max(0, Math.round(ms / 1000))} s`
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`
  return ms < 86_400_000 ? `${Math.round(ms / 3_600_000)} h` : `${(ms / 86_400_000).toFixed(1)} d`
}
