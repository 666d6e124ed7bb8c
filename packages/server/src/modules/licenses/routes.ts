import type { licenses } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { purchase, quote } from './buy.ts'
import { environment, list } from './environment.ts'
import { handOff } from './hand-off.ts'
import { purchaseStatus, resumePurchase } from './resume.ts'
import { sandboxCredit } from './sandbox.ts'
import { resumeTermination, terminate, terminationStatus } from './terminate.ts'

export const licenseRoutes: Handlers<typeof licenses> = {
  list,
  quote,
  purchase,
  purchaseStatus,
  handOff,
  resumePurchase,
  environment,
  terminate,
  terminationStatus,
  resumeTermination,
  sandboxCredit,
}
