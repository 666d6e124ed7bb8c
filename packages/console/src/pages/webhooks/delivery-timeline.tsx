import type { WebhookDelivery } from '@strongroom/sdk'
import { scaleTime } from 'd3-scale'
import { MARGIN, sayTime, TimeAxis } from '../../plot/axes.tsx'
import { PlotFrame } from '../../plot/plot-frame.tsx'
import { usePlotWidth } from '../../plot/plot-width.ts'
import { gapText, spanOf } from './timeline-scale.ts'
import { answerText, answerWord, isTaken } from './webhook-words.tsx'

const LABEL = 216
const MARGIN_RIGHT = 44
const ROW = 30
const AXIS = 24
const AXIS_LEFT = MARGIN.left

interface Members {
  readonly deliveries: readonly WebhookDelivery[]
  readonly name: string
  readonly summary: string
}

/** Dots for attempts: full where it was taken, crossed where it was not, hollow for the next one. */
export function DeliveryTimeline({ deliveries, name, summary }: Members) {
  const twin = {
    columns: ['Attempt', 'Event', 'Answer', 'Milliseconds', 'Time'],
    rows: deliveries.flatMap(({ eventId, eventType, attempts, nextAttemptAt }) => [
      ...attempts.map((one) => [
        `${eventId} ${one.attempt}`,
        eventType,
        answerWord(one),
        one.durationMs,
        sayTime(new Date(one.startedAt)),
      ]),
      ...(nextAttemptAt === null
        ? []
        : [[`${eventId} next`, eventType, 'not yet', null, sayTime(new Date(nextAttemptAt))]]),
    ]),
  }
  return (
    <PlotFrame name={name} summary={summary} twin={twin} legend={<Signs />}>
      <Drawn deliveries={deliveries} />
    </PlotFrame>
  )
}

function Signs() {
  const sign = (label: string, kind: 'taken' | 'refused' | 'next') => (
    <li className="flex items-center gap-1.5">
      <svg aria-hidden="true" width="14" height="14">
        <Sign x={7} y={7} kind={kind} />
      </svg>
      {label}
    </li>
  )
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-label text-ink-2">
      {sign('taken', 'taken')}
      {sign('not taken', 'refused')}
      {sign('next attempt', 'next')}
    </ul>
  )
}

function Sign({ x, y, kind }: { readonly x: number; readonly y: number; readonly kind: 'taken' | 'refused' | 'next' }) {
  if (kind === 'taken') return <circle cx={x} cy={y} r="5" className="fill-seal" />
  if (kind === 'next')
    return <circle cx={x} cy={y} r="4.5" className="fill-bg stroke-ink" strokeWidth="1.5" strokeDasharray="2.5 2" />
  return (
    <g className="stroke-danger" strokeWidth="2">
      <circle cx={x} cy={y} r="4.5" className="fill-bg" />
      <path d={`M${x - 2.5} ${y - 2.5}l5 5m0-5l-5 5`} strokeWidth="1.5" />
    </g>
  )
}

function Drawn({ deliveries }: Pick<Members, 'deliveries'>) {
  const [room, width] = usePlotWidth()
  const { from, to } = spanOf(deliveries)
  const left = width < 520 ? 12 : LABEL
  const isNarrow = left !== LABEL
  const row = isNarrow ? ROW + 14 : ROW
  const height = deliveries.length * row + AXIS
  const x = scaleTime()
    .domain([from, to])
    .range([left + 8, Math.max(left + 9, width - MARGIN_RIGHT)])
  return (
    <div ref={room} className="min-w-0">
      <svg aria-hidden="true" width={width} height={height} className="block">
        {deliveries.map((delivery, at) => (
          <g key={delivery.deliveryId} transform={`translate(0 ${at * row})`}>
            <line x1="0" x2={width} y1={row - 0.5} y2={row - 0.5} className="stroke-rule" />
            <text x="0" y={isNarrow ? 12 : row / 2} dy="0.32em" className="fill-ink-2 text-[12px]">
              {delivery.eventType.length > 36 ? `${delivery.eventType.slice(0, 35)}…` : delivery.eventType}
            </text>
            <Attempts delivery={delivery} place={(time) => x(new Date(time))} y={isNarrow ? row - 14 : row / 2} />
          </g>
        ))}
        <g transform={`translate(${left - AXIS_LEFT} 0)`}>
          <TimeAxis
            scale={x.copy().range(x.range().map((place) => place - left + AXIS_LEFT))}
            width={width - left + AXIS_LEFT}
            height={height}
          />
        </g>
      </svg>
    </div>
  )
}

interface AttemptsMembers {
  readonly delivery: WebhookDelivery
  place(time: string): number
  readonly y: number
}

const ROOM_FOR_WORDS = 46

function Attempts({ delivery: { attempts, nextAttemptAt }, place, y }: AttemptsMembers) {
  const times = [...attempts.map(({ startedAt }) => startedAt), ...(nextAttemptAt === null ? [] : [nextAttemptAt])]
  return (
    <>
      {times.slice(1).map((time, at) => {
        const before = times[at] ?? time
        const [start, end] = [place(before), place(time)]
        const isNext = at + 1 >= attempts.length
        return (
          <g key={time}>
            <line
              {...{ x1: start + 6, x2: Math.max(start + 6, end - 6), y1: y, y2: y }}
              className="stroke-edge"
              strokeDasharray={isNext ? '3 3' : undefined}
            />
            {end - start > ROOM_FOR_WORDS && (
              <text x={(start + end) / 2} y={y - 5} textAnchor="middle" className="fill-ink-3 text-[11px]">
                {gapText(Date.parse(time) - Date.parse(before))}
              </text>
            )}
          </g>
        )
      })}
      {attempts.map((one) => (
        <g key={one.attempt}>
          <title>{`${sayTime(new Date(one.startedAt))}: ${answerText(one)}`}</title>
          <Sign x={place(one.startedAt)} y={y} kind={isTaken(one) ? 'taken' : 'refused'} />
        </g>
      ))}
      <LastAnswer attempts={attempts} place={place} y={y} isLast={nextAttemptAt === null} />
      {nextAttemptAt !== null && <Sign x={place(nextAttemptAt)} y={y} kind="next" />}
    </>
  )
}

/** What the last one was answered, in words beside it. */
function LastAnswer({
  attempts,
  place,
  y,
  isLast,
}: Omit<AttemptsMembers, 'delivery'> & Pick<WebhookDelivery, 'attempts'> & { readonly isLast: boolean }) {
  const last = attempts.at(-1)
  if (!last || !isLast) return null
  return (
    <text x={place(last.startedAt) + 10} y={y} dy="0.32em" className="fill-ink-2 text-[11px]">
      {answerWord(last)}
    </text>
  )
}
