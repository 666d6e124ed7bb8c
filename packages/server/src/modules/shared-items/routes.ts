import type { sharedItems } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { create, list, remove, view } from './service.ts'

export const sharedItemRoutes: Handlers<typeof sharedItems> = { create, view, list, remove }
