import type { setup } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { finish, start, status } from './service.ts'

export const setupRoutes: Handlers<typeof setup> = { status, start, finish }
