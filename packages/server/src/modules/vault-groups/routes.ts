import type { vaultGroups } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { create, get, list, remove, update } from './service.ts'

export const vaultGroupRoutes: Handlers<typeof vaultGroups> = { list, create, get, update, remove }
