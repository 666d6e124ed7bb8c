import type { aliases } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { itemRoutes } from '../items/routes.ts'
import { vaultRoutes } from '../vaults/routes.ts'

export const aliasRoutes: Handlers<typeof aliases> = {
  list: vaultRoutes.list,
  get: vaultRoutes.get,
  items: itemRoutes.list,
  item: itemRoutes.get,
}
