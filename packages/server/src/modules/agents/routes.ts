import type { agents } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { replaceTenantRoles, tenantRoles } from './roles.ts'
import { archive, create, get, linkVaultItem, list, me, regenerateApiKey, update } from './service.ts'
import { simulate } from './simulate.ts'

export const agentRoutes: Handlers<typeof agents> = {
  list,
  create,
  me,
  get,
  update,
  archive,
  regenerateApiKey,
  simulate,
  linkVaultItem,
  tenantRoles,
  replaceTenantRoles,
}
