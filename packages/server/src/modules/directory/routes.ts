import type { directory } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { recoverKey, recoverLog, setCaps, setPolicy } from './service.ts'

export const directoryRoutes: Handlers<typeof directory> = { setCaps, setPolicy, recoverKey, recoverLog }
