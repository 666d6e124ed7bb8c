import type { groups } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { create, list, remove, setMembers, setTenantRoles, update } from './service.ts'

export const groupRoutes: Handlers<typeof groups> = { list, create, update, remove, setMembers, setTenantRoles }
