import type { feedback } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { send } from './service.ts'

export const feedbackRoutes: Handlers<typeof feedback> = { send }
