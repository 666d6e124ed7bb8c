import type { attachments } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { finalize } from './finalize.ts'
import { finish } from './finish.ts'
import { create, initialize, presign, ticket, upload } from './service.ts'

export const attachmentRoutes: Handlers<typeof attachments> = {
  initialize,
  presign,
  upload,
  finalize,
  create,
  finish,
  ticket,
}
