import type { permissions } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { item, setItem, setVault, vault } from './service.ts'

export const permissionRoutes: Handlers<typeof permissions> = { vault, setVault, item, setItem }
