import type { aliases } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { get as item, list as items } from '../items/service.ts'
import { get, list } from '../vaults/service.ts'

export const aliasRoutes: Handlers<typeof aliases> = { list, get, items, item }
