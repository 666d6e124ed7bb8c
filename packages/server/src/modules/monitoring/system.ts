import { cpus, freemem, loadavg, totalmem } from 'node:os'
import type { monitoring, Output } from '@strongroom/contract'
import { outsideOrgs } from '../../context.ts'
import type { Handler } from '../../http/mount.ts'
import { ageMs, type Backlog } from '../../telemetry/backlog.ts'
import * as store from './store.ts'

// For keys made by the operator on the host: how the process, the host and the session store are. Numbers only.

type Work = Output<typeof monitoring.systemStats>['work']

/** One that is set up and that nobody could read yet is not left out: whoever looks has to see that. */
function chainOf({ chainBehindBlocks, chainReadAt }: Backlog, isSetUp: boolean, now: Date): Work['chain'] {
  if (chainReadAt === null) return isSetUp ? { behindBlocks: null, readAgoMs: null } : null
  return { behindBlocks: chainBehindBlocks, readAgoMs: ageMs(chainReadAt, now) }
}

const workOf = (seen: Backlog, isChainSetUp: boolean, now: Date): Work => ({
  events: { waiting: seen.eventsWaiting, oldestMs: ageMs(seen.oldestEvent, now) },
  deliveries: { due: seen.deliveriesDue, oldestMs: ageMs(seen.oldestDelivery, now) },
  inReview: seen.inReview,
  booksDiffering: seen.booksDiffering,
  chain: chainOf(seen, isChainSetUp, now),
})

export const systemStats: Handler<typeof monitoring.systemStats> = async ({
  database: { pool },
  telemetry,
  config,
  now,
}) => {
  const { rss, heapUsed, heapTotal } = process.memoryUsage()
  const lag = telemetry.vitals.loopLag()
  return {
    process: {
      uptimeSeconds: Math.round(process.uptime()),
      node: process.versions.node,
      rssBytes: rss,
      heapUsedBytes: heapUsed,
      heapTotalBytes: heapTotal,
    },
    host: {
      cpus: cpus().length,
      loadAverage1m: loadavg()[0] ?? 0,
      memoryBytes: totalmem(),
      freeMemoryBytes: freemem(),
    },
    eventLoop: { lagP50Ms: lag.p50Ms, lagP99Ms: lag.p99Ms, lagMaxMs: lag.maxMs },
    pool: {
      inUse: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      max: config.poolSize,
    },
    telemetry: { waiting: telemetry.requests.waiting, dropped: telemetry.requests.dropped },
    audit: telemetry.audit.read(),
    work: workOf(telemetry.backlog.read(), config.chain !== undefined, now()),
  }
}

export const sessionStats: Handler<typeof monitoring.sessionStats> = async (ctx) => {
  const { active, users, revokedLastDay, ...byAge } = await outsideOrgs(ctx, (db) => store.sessionCounts(db, ctx.now()))
  return { active, users, byAge, revokedLastDay }
}
