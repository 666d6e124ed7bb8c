import type { attachments } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { finalize } from './finalize.ts'
import { finish } from './finish.ts'
import { list, ticket } from './read.ts'
import { abort, create, initialize, presign, upload } from './service.ts'

export const attachmentRoutes: Handlers<typeof attachments> = {
  initialize,
  presign,
  upload,
  abort,
  finalize,
  create,
  finish,
  list,
  ticket,
}
