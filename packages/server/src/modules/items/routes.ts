import type { items } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { archive, create, field, get, importItems, list, move, update } from './service.ts'
import { version, versions } from './versions.ts'

export const itemRoutes: Handlers<typeof items> = {
  create,
  list,
  get,
  versions,
  version,
  field,
  update,
  move,
  archive,
  import: importItems,
}
