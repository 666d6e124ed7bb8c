import type { domains } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { add, check, list, records, remove } from './service.ts'
import { setRecords } from './set-records.ts'

export const domainRoutes: Handlers<typeof domains> = { records, check, list, add, remove, setRecords }
