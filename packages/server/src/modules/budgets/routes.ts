import type { budgets } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { create, list, update } from './service.ts'

export const budgetRoutes: Handlers<typeof budgets> = { list, create, update }
