import type { userKeys } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { recoveryFinish, recoveryStart } from './recover.ts'
import { change, get, register, revoke, rotate, setRecovery } from './service.ts'

export const userKeyRoutes: Handlers<typeof userKeys> = {
  get,
  register,
  change,
  rotate,
  revoke,
  setRecovery,
  recoveryStart,
  recoveryFinish,
}
