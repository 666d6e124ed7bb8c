import type { Policy } from '../directory/documents.ts'
import { ensure } from '../errors.ts'
import type { VaultState } from '../log/state.ts'
import { MAX_CLOCK_SKEW_MS } from '../log/witness-policy.ts'

/**
 * 3.6: after the grace period nothing is written under a key that a former reader still holds. Writers ask it of themselves: the server says
 * since when, and one that names a time to come would give a grace without end.
 */
export function ensureWithinGrace(
  { vaultId, rotationDue }: Pick<VaultState, 'vaultId' | 'rotationDue'>,
  { rotationGraceMs }: Pick<Policy, 'rotationGraceMs'>,
  at: number,
): void {
  const passedMs = rotationDue && at - rotationDue.at
  ensure(
    passedMs === null || (passedMs <= rotationGraceMs && passedMs >= -MAX_CLOCK_SKEW_MS),
    'rotation_due',
    'the vault key must be rotated before anything else is written',
    { vaultId },
  )
}
