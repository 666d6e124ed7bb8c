import type { ItemSummary } from '@strongroom/sdk'
import { sortedNames } from '../../ui/name-order.ts'
import { variablePlaces } from './env-diff.ts'

// Variables beside the vaults of a project: what is missing where, and what is there twice.

export interface MatrixVault {
  readonly vaultId: string
  readonly name: string
  /** Undefined where the caller cannot read it. */
  readonly items: readonly ItemSummary[] | undefined
}

export interface MatrixCell {
  readonly items: readonly ItemSummary[]
  /** Whether a process of the project gets this one: of several vaults the first counts. */
  readonly counts: boolean
}

export interface MatrixRow {
  readonly name: string
  /** By vault; undefined where nothing is known of it. */
  readonly cells: ReadonlyMap<string, MatrixCell | undefined>
  readonly isDuplicate: boolean
  readonly isMissing: boolean
}

/** The order in which a project's vaults are asked. */
const inOrder = (vaults: readonly MatrixVault[]): readonly MatrixVault[] =>
  [...vaults].sort((a, b) => (a.vaultId < b.vaultId ? -1 : 1))

export function matrixOf(vaults: readonly MatrixVault[]): readonly MatrixRow[] {
  const ordered = inOrder(vaults).map(({ vaultId, items }) => ({ vaultId, places: items && variablePlaces(items) }))
  const names = new Set(ordered.flatMap(({ places }) => [...(places?.keys() ?? [])]))
  return sortedNames(names).map((name) => {
    const first = ordered.find(({ places }) => places?.has(name))?.vaultId
    const cells = new Map(
      ordered.map(({ vaultId, places }) => [
        vaultId,
        places && { items: places.get(name) ?? [], counts: vaultId === first },
      ]),
    )
    const known = [...cells.values()].filter((cell) => cell !== undefined)
    return {
      name,
      cells,
      isDuplicate: known.some(({ items }) => items.length > 1),
      isMissing: known.some(({ items }) => items.length === 0),
    }
  })
}

export const missingIn = (rows: readonly MatrixRow[], vaultId: string): readonly string[] =>
  rows.flatMap(({ name, cells }) => (cells.get(vaultId)?.items.length === 0 ? [name] : []))
