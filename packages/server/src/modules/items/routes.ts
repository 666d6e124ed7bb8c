import type { items } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { archive, create, field, get, importItems, list, move, update } from './service.ts'

export const itemRoutes: Handlers<typeof items> = {
  create,
  list,
  get,
  field,
  update,
  move,
  archive,
  import: importItems,
}
