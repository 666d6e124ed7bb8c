import type { invites } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { accept, register, show } from './invitee.ts'
import { create, endorse, list, revoke } from './service.ts'

export const inviteRoutes: Handlers<typeof invites> = { create, list, revoke, endorse, show, register, accept }
