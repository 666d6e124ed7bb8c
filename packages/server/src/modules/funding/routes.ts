import type { funding } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import {
  cancelIntent,
  createIntent,
  createSetupIntent,
  getIntent,
  listIntents,
  listPaymentMethods,
  removePaymentMethod,
} from './service.ts'

export const fundingRoutes: Handlers<typeof funding> = {
  createIntent,
  listIntents,
  getIntent,
  cancelIntent,
  listPaymentMethods,
  removePaymentMethod,
  createSetupIntent,
}
