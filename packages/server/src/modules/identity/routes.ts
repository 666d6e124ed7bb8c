import type { identity } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { me, tenantContext } from './service.ts'

export const identityRoutes: Handlers<typeof identity> = { me, tenantContext }
