import type { vaults } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { environmentFields } from './environment.ts'
import { archive, commit, create, get, list, publicKeys, restore, update, wrappedKey } from './service.ts'

export const vaultRoutes: Handlers<typeof vaults> = {
  create,
  list,
  get,
  update,
  archive,
  restore,
  commit,
  wrappedKey,
  publicKeys,
  environmentFields,
}
