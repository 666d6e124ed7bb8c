import type { Policy } from '../directory/documents.ts'
import { ensure } from '../errors.ts'
import type { VaultState } from '../log/state.ts'

/** 3.6: after the grace period nothing is written under a key that a former reader still holds. Writers ask it of themselves. */
export function ensureWithinGrace(
  { vaultId, rotationDue }: Pick<VaultState, 'vaultId' | 'rotationDue'>,
  { rotationGraceMs }: Pick<Policy, 'rotationGraceMs'>,
  at: number,
): void {
  ensure(
    rotationDue === null || at <= rotationDue.at + rotationGraceMs,
    'rotation_due',
    'the vault key must be rotated before anything else is written',
    { vaultId },
  )
}
