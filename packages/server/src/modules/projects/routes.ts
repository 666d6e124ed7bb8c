import type { projects } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { permissions, setPermissions } from './permissions.ts'
import { archive, create, environment, get, list, update } from './service.ts'

export const projectRoutes: Handlers<typeof projects> = {
  list,
  create,
  get,
  update,
  archive,
  permissions,
  setPermissions,
  environment,
}
