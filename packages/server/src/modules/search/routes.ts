import type { search } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { query } from './service.ts'

export const searchRoutes: Handlers<typeof search> = { query }
