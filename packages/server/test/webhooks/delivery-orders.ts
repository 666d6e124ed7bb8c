import type { Mortal } from '../crash/mortal.ts'

export interface DeliveryOrders extends Mortal {
  /** Between two of them an hour passes. */
  readonly rounds: number
}

export const ROUND_MS = 3_600_000
