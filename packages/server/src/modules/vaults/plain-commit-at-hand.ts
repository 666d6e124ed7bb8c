import type { CheckedCommit, Commit, ItemBase, VaultContent } from '@strongroom/protocol'
import type { WritableVault } from '../../access/vaults.ts'
import { keepContent, knownContent } from './known-content.ts'
import { keepDetail, knownDetail } from './known-details.ts'
import { keepDocuments, knownDocuments } from './plain-commit-documents.ts'
import type { LoggedDocument } from './plain-store.ts'

/** What the process has from earlier commits and need not read. Nothing of it can be outdated: all of it is named by hashes. */
export interface AtHand {
  readonly content: VaultContent | undefined
  readonly documents: readonly LoggedDocument[]
  readonly items: ReadonlyMap<string, ItemBase>
}

/** Taken once for each commit: what is there when it is asked for may be gone when the answer comes. */
export function atHandFor(orgId: string, vaultId: string, { expect }: Commit, itemIds: readonly string[]): AtHand {
  const content = knownContent(orgId, expect.headHash)
  const items = itemIds.flatMap((itemId): [string, ItemBase][] => {
    const known = knownDetail(orgId, content?.items.get(itemId)?.detailHash ?? '')
    return known ? [[itemId, known]] : []
  })
  return { content, documents: knownDocuments(orgId, vaultId), items: new Map(items) }
}

export function keepAtHand(
  { orgId, vaultId, headHash }: WritableVault,
  head: LoggedDocument,
  documents: readonly LoggedDocument[],
  { content, items }: CheckedCommit,
): void {
  keepContent(orgId, headHash, head.hash, content)
  for (const item of items) keepDetail(orgId, item)
  keepDocuments(orgId, vaultId, [...documents.filter(({ hash }) => hash !== headHash), head])
}
