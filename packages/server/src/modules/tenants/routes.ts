import type { tenants } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { create, list, update } from './service.ts'

export const tenantRoutes: Handlers<typeof tenants> = { list, create, update }
