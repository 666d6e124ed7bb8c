import type { billing } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { distributorCharges } from '../charges/service.ts'
import { balance, creditTransactions, readiness } from './service.ts'

export const billingRoutes: Handlers<typeof billing> = { balance, creditTransactions, readiness, distributorCharges }
