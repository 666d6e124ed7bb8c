import type { users } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { get, list, remove, setOrgRoles, setTenantRoles, update } from './service.ts'

export const userRoutes: Handlers<typeof users> = { list, get, update, remove, setOrgRoles, setTenantRoles }
