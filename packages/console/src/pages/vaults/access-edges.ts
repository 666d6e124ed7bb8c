import { byName, compareNames } from '../../ui/name-order.ts'
import { type AccessRow, accessRows } from './access-rows.ts'
import type { JoinedAccess } from './queries.ts'

/** Somebody and a vault they have to do with. */
export interface AccessEdge extends AccessRow {
  readonly vaultId: string
  readonly vault: string
}

export const edgeWords = ({ role, keyIds }: AccessEdge): string =>
  `${role?.toLowerCase() ?? 'no role'}, ${keyIds.length > 0 ? 'has a key' : 'no key'}`

export interface SeenVault {
  readonly vaultId: string
  readonly name: string
  readonly access: JoinedAccess
}

/** People before agents, each by name, and their vaults by name. */
export const edgesOf = (vaults: readonly SeenVault[], nameOf: (principal: string) => string): readonly AccessEdge[] =>
  vaults
    .flatMap(({ vaultId, name: vault, access }) =>
      accessRows(access, nameOf).map((row): AccessEdge => ({ ...row, vaultId, vault })),
    )
    .sort(
      (a, b) =>
        compareNames(b.kind, a.kind) ||
        byName(a, b) ||
        compareNames(a.principal, b.principal) ||
        compareNames(a.vault, b.vault),
    )
