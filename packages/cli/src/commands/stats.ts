import type { monitoring, Output } from '@strongroom/contract'
import { command, flag } from '../model/command.ts'
import { facts, table } from '../output/table.ts'
import { shortDuration } from '../output/time.ts'
import { operatorOf } from '../place/operator.ts'

const shapes = () => import('../schemas/monitoring.ts')
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
const mebibytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MB`

export const stats = command({
  summary: 'your requests by route: how many, how many failed, how long; and what there is',
  args: {},
  flags: { window: flag.text('of this time; 24h if not given', '24h') },
  examples: [{ run: 'strongroom stats --window 1h', does: 'the last hour' }],
  next: 'strongroom logs',
  output: async () => (await shapes()).statsShape,
  run: async (cli, { flags }) => {
    const strongroom = await cli.strongroom()
    const { signal } = cli
    const metrics = await strongroom.monitoring.metrics(flags.window === undefined ? {} : { window: flags.window }, {
      signal,
    })
    const counts = await strongroom.monitoring.counts({ signal })
    const routes = table(
      metrics.data,
      [
        { title: 'ROUTE', of: ({ method, route }) => `${method} ${route}` },
        { title: 'REQUESTS', of: ({ requests }) => requests, right: true },
        { title: 'FAILED', of: ({ errorRate }) => percent(errorRate), right: true },
        { title: 'P50 MS', of: ({ p50Ms }) => Math.round(p50Ms), right: true },
        { title: 'P95 MS', of: ({ p95Ms }) => Math.round(p95Ms), right: true },
        { title: 'P99 MS', of: ({ p99Ms }) => Math.round(p99Ms), right: true },
      ],
      cli.style,
    )
    return { data: { ...metrics, counts }, text: `${facts(Object.entries(counts), cli.style)}\n\n${routes}` }
  },
})

type Work = Output<typeof monitoring.systemStats>['work']

const chainText = ({ behindBlocks, readAgoMs }: NonNullable<Work['chain']>): string =>
  readAgoMs === null
    ? 'not read yet: no node of STRONGROOM_CHAIN_RPC has answered'
    : `${behindBlocks} blocks behind, read ${shortDuration(readAgoMs)} ago`

/** A number that stands is fine; an age that grows is not. */
function waiting({ events, deliveries, chain }: Work): (readonly [string, string])[] {
  const aged = (words: string, oldestMs: number): string =>
    oldestMs === 0 ? words : `${words}, the oldest for ${shortDuration(oldestMs)}`
  return [
    ['events', aged(`${events.waiting} waiting`, events.oldestMs)],
    ['deliveries', aged(`${deliveries.due} due`, deliveries.oldestMs)],
    ...(chain ? [['chain', chainText(chain)] as const] : []),
  ]
}

export const system = command({
  summary: 'the process that answers, its host and its sessions; for the operator',
  about:
    'Asks the running server, with a global-admin key in STRONGROOM_API_KEY or STRONGROOM_API_KEY_FILE and its address in STRONGROOM_SERVER.',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom system', does: 'memory, load, connections, what waits, sessions' }],
  next: 'strongroom admin global-admin-key list',
  output: async () => (await shapes()).systemShape,
  run: async (cli) => {
    const { monitoring } = await operatorOf(cli)
    const { signal } = cli
    const stats = await monitoring.systemStats({}, { signal })
    const sessions = await monitoring.sessionStats({}, { signal })
    const { process: own, host, eventLoop, pool, work } = stats
    const text = facts(
      [
        ['up', `${shortDuration(own.uptimeSeconds * 1000)}, Node ${own.node}`],
        ['memory', `${mebibytes(own.rssBytes)}, ${mebibytes(host.freeMemoryBytes)} free on the host`],
        ['load', `${host.loadAverage1m.toFixed(2)} on ${host.cpus} CPUs`],
        ['event loop', `p99 ${Math.round(eventLoop.lagP99Ms)} ms`],
        ['connections', `${pool.inUse} of ${pool.max} in use, ${pool.waiting} waiting`],
        ...waiting(work),
        ['for a human', `${work.inReview} in review, ${work.booksDiffering} books that do not add up`],
        ['sessions', `${sessions.active} of ${sessions.users} people`],
      ],
      cli.style,
    )
    return { data: { system: stats, sessions }, text }
  },
})
