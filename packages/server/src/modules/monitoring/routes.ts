import type { monitoring } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { auditEvents, entityCounts, metricStats, requestEvents, vaultActivityEvents } from './service.ts'
import { sessionStats, systemStats } from './system.ts'

export const monitoringRoutes: Handlers<typeof monitoring> = {
  metricStats,
  entityCounts,
  requestEvents,
  auditEvents,
  vaultActivityEvents,
  systemStats,
  sessionStats,
}
