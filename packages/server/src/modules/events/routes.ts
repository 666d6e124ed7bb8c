import type { events } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { stream } from './service.ts'

export const eventRoutes: Handlers<typeof events> = { stream }
