import type { AccessRole } from '@strongroom/sdk'
import type { JoinedAccess } from './queries.ts'

/** Who has to do with a vault: a role on its signed list, a wrapped key, or one without the other. */
export interface AccessRow {
  readonly principal: string
  readonly name: string
  readonly kind: 'person' | 'agent'
  /** Null for somebody with a key who is not on the list. */
  readonly role: AccessRole | null
  readonly keyIds: readonly string[]
}

const kindOf = (principal: string): AccessRow['kind'] => (principal.startsWith('user:') ? 'person' : 'agent')

export const accessRows = (
  { holders, strangers }: JoinedAccess,
  nameOf: (principal: string) => string,
): readonly AccessRow[] =>
  [...strangers.map((one) => ({ ...one, name: '', role: null })), ...holders].map(
    ({ principal, name, role, keyIds }) => ({
      ...{ principal, name: name || nameOf(principal), kind: kindOf(principal), role, keyIds },
    }),
  )

/** Where the signed list and the wrapped keys say different things. */
export const isMismatch = ({ role, keyIds }: AccessRow): boolean => role === null || keyIds.length === 0
