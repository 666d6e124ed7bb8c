import type { catalogue } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { list, put, remove } from './service.ts'

export const catalogueRoutes: Handlers<typeof catalogue> = { list, put, remove }
