import { billing } from '@strongroom/contract'

/** What `billing charges` prints: the month as the server answers it. */
export const chargesShape = billing.distributorCharges.response
