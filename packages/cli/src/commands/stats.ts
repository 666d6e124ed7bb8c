import { command, flag } from '../model/command.ts'
import { facts, table } from '../output/table.ts'

const shapes = () => import('../schemas/monitoring.ts')
const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
const mebibytes = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MB`

export const stats = command({
  summary: 'your requests by route: how many, how many failed, how long; and what there is',
  args: {},
  flags: { window: flag.text('of this time; 24h if not given', '24h') },
  examples: [{ run: 'strongroom stats --window 1h', does: 'the last hour' }],
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

interface System {
  readonly process: { readonly uptimeSeconds: number; readonly node: string; readonly rssBytes: number }
  readonly host: { readonly cpus: number; readonly loadAverage1m: number; readonly freeMemoryBytes: number }
  readonly eventLoop: { readonly lagP99Ms: number }
  readonly pool: { readonly inUse: number; readonly waiting: number; readonly max: number }
}
interface Sessions {
  readonly active: number
  readonly users: number
}

export const system = command({
  summary: 'the process that answers, its host and its sessions; for the operator',
  args: {},
  flags: {},
  examples: [{ run: 'strongroom system', does: 'memory, load, connections, sessions' }],
  output: async () => (await shapes()).systemShape,
  run: async (cli) => {
    const strongroom = await cli.strongroom()
    const { signal } = cli
    const stats = await strongroom.request<System>({ method: 'GET', path: '/monitoring/system-stats' }, { signal })
    const sessions = await strongroom.request<Sessions>(
      { method: 'GET', path: '/monitoring/session-stats' },
      { signal },
    )
    const { process: own, host, eventLoop, pool } = stats
    const text = facts(
      [
        ['up', `${Math.round(own.uptimeSeconds / 60)} min, Node ${own.node}`],
        ['memory', `${mebibytes(own.rssBytes)}, ${mebibytes(host.freeMemoryBytes)} free on the host`],
        ['load', `${host.loadAverage1m.toFixed(2)} on ${host.cpus} CPUs`],
        ['event loop', `p99 ${Math.round(eventLoop.lagP99Ms)} ms`],
        ['connections', `${pool.inUse} of ${pool.max} in use, ${pool.waiting} waiting`],
        ['sessions', `${sessions.active} of ${sessions.users} people`],
      ],
      cli.style,
    )
    return { data: { system: stats, sessions }, text }
  },
})
