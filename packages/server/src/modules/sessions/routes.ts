import type { sessions } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { loginFinish, loginStart } from './login.ts'
import { end, list, logout } from './service.ts'

export const sessionRoutes: Handlers<typeof sessions> = { loginStart, loginFinish, list, end, logout }
