import type { sync } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { syncVaults, vaultsData } from './service.ts'

export const syncRoutes: Handlers<typeof sync> = { sync: syncVaults, vaultsData }
