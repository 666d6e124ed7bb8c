import type { Input, Route } from '@strongroom/contract'
import type { Ctx } from '../context.ts'

/** A call of the contract with what answers it. */
export interface Mounted {
  readonly route: Route
  /** Behind the gate: whoever calls it has made the checks. */
  handle(ctx: Ctx, input: Input<Route>): unknown
}
