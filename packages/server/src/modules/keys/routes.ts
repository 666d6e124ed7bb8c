import type { keys } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { rotate } from '../user-keys/service.ts'
import { addOwn, directory, grant, grants, holders, own, pending, register, wrapped } from './service.ts'

export const keyRoutes: Handlers<typeof keys> = {
  register,
  pending,
  grants,
  directory,
  wrapped,
  grant,
  holders,
  own,
  addOwn,
  rotateOwn: rotate,
}
