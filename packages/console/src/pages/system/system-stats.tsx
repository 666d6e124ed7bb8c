import { useQuery } from '@tanstack/react-query'
import { Facts, Section } from '../../ui/page.tsx'
import { Answer } from '../../ui/states.tsx'
import { Status } from '../../ui/status.tsx'
import { type Operator, type Stats, statsQuery } from './queries.ts'

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

export function bytesWords(bytes: number): string {
  const at = bytes === 0 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  return `${(bytes / 1024 ** at).toFixed(at === 0 ? 0 : 1)} ${UNITS[at]}`
}

function durationWords(seconds: number): string {
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ]
  if (days > 0) return `${days} d ${hours} h`
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min` : `${Math.floor(seconds)} s`
}

const ms = (value: number): string => `${value.toFixed(1)} ms`

function Process({ system: { process, eventLoop, pool } }: Stats) {
  return (
    <Section title="Process">
      <Facts
        of={[
          ['Runs for', durationWords(process.uptimeSeconds)],
          ['Node', process.node],
          ['Memory', bytesWords(process.rssBytes)],
          ['Heap', `${bytesWords(process.heapUsedBytes)} of ${bytesWords(process.heapTotalBytes)}`],
          [
            'Event loop lag',
            `${ms(eventLoop.lagP50Ms)} median, ${ms(eventLoop.lagP99Ms)} p99, ${ms(eventLoop.lagMaxMs)} longest`,
          ],
          [
            'Database connections',
            `${pool.inUse} in use, ${pool.idle} idle, ${pool.waiting} waiting, at most ${pool.max}`,
          ],
        ]}
      />
    </Section>
  )
}

/** A number that stands is fine; an age that grows is not. */
const aged = (count: number, oldestMs: number): string =>
  count === 0 ? '0' : `${count}, the oldest for ${durationWords(oldestMs / 1000)}`

const chainWords = ({ behindBlocks, readAgoMs }: NonNullable<Stats['system']['work']['chain']>): string =>
  readAgoMs === null
    ? 'not read yet: no node of it has answered'
    : `${behindBlocks} blocks behind, read ${durationWords(readAgoMs / 1000)} ago`

function Queues({ system: { telemetry, audit, work } }: Stats) {
  const isLate = audit.oldestUnsealedMs > 60_000
  return (
    <Section title="Queues">
      <Facts
        of={[
          ['Audit events to seal', `${audit.unsealed}`],
          [
            'Oldest of them',
            <Status key="oldest" tone={isLate ? 'warn' : 'good'}>
              {`${Math.round(audit.oldestUnsealedMs / 1000)} s${isLate ? ', late' : ''}`}
            </Status>,
          ],
          ['Events to tell', aged(work.events.waiting, work.events.oldestMs)],
          ['Webhook deliveries due', aged(work.deliveries.due, work.deliveries.oldestMs)],
          ...(work.chain ? [['Chain', chainWords(work.chain)] as const] : []),
          [
            'For a human to decide',
            <Status key="review" tone={work.inReview > 0 ? 'warn' : 'good'}>
              {`${work.inReview}`}
            </Status>,
          ],
          [
            'Books that do not add up',
            <Status key="books" tone={work.booksDiffering > 0 ? 'bad' : 'good'}>
              {`${work.booksDiffering}`}
            </Status>,
          ],
          ['Telemetry to write', `${telemetry.waiting}`],
          [
            'Telemetry dropped',
            <Status key="dropped" tone={telemetry.dropped > 0 ? 'bad' : 'good'}>
              {`${telemetry.dropped}`}
            </Status>,
          ],
        ]}
      />
    </Section>
  )
}

function Sessions({ sessions: { active, users, byAge, revokedLastDay } }: Stats) {
  return (
    <Section title="Sessions">
      <Facts
        of={[
          ['Running', `${active}, of ${users} ${users === 1 ? 'person' : 'people'}`],
          ['Under 5 minutes', `${byAge.under5Minutes}`],
          ['Under 1 hour', `${byAge.under1Hour}`],
          ['Under 4 hours', `${byAge.under4Hours}`],
          ['Older', `${byAge.older}`],
          ['Ended by hand since yesterday', `${revokedLastDay}`],
        ]}
      />
    </Section>
  )
}

export function SystemStats({ operator }: { readonly operator: Operator }) {
  const stats = useQuery(statsQuery(operator))
  return (
    <Answer of={stats} what="the server itself">
      {(data) => (
        <>
          <Process {...data} />
          <Section title="Host">
            <Facts
              of={[
                ['Processors', `${data.system.host.cpus}`],
                ['Load, 1 minute', data.system.host.loadAverage1m.toFixed(2)],
                [
                  'Free memory',
                  `${bytesWords(data.system.host.freeMemoryBytes)} of ${bytesWords(data.system.host.memoryBytes)}`,
                ],
              ]}
            />
          </Section>
          <Queues {...data} />
          <Sessions {...data} />
        </>
      )}
    </Answer>
  )
}
