import type { ProtocolErrorCode } from '../../src/errors.ts'
import type { World } from '../world/world.ts'

/**
 * A refusal that no whole read or write leads to: limits, malformed input, and mistakes of the caller. Data like the
 * attacks, so that the mutation run can use both.
 */
export interface ExtraCase {
  readonly id: string
  readonly code: ProtocolErrorCode
  /** Where what a person is told is itself the promise: part of the message. */
  readonly says?: string
  run(world: () => Promise<World>): unknown
}

export const extra = (id: string, code: ProtocolErrorCode, run: ExtraCase['run'], says?: string): ExtraCase => ({
  id,
  code,
  run,
  ...(says !== undefined && { says }),
})
