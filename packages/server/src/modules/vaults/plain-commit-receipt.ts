import { vaultName } from '@strongroom/protocol'
import type { WritableVault } from '../../access/vaults.ts'
import type { TxCtx } from '../../context.ts'
import type { LockedLog } from '../../log/log-store.ts'
import { type SignedRow, sortDocuments } from '../../log/signers.ts'
import { type Growth, transparencyAfter } from '../../log/transparency.ts'
import { answerAbout } from './answer.ts'
import type { Logged } from './plain-commit-rows.ts'
import type { CommitSurroundings, LoggedDocument } from './plain-store.ts'

// The receipt of a plain commit, from what was read before it and what it changed, without asking the database again.

interface Before {
  readonly log: LockedLog
  readonly vault: WritableVault
  readonly around: CommitSurroundings
}

export function documentIn({ documents }: CommitSurroundings, hash: string): LoggedDocument {
  const found = documents.find((document) => document.hash === hash)
  if (!found) throw new Error('the log has lost a document')
  return found
}

export const stateIn = ({ states }: CommitSurroundings, name: string) =>
  states.find((state) => state.name === name)?.state

/** The vault as the leaf leaves it, proven from what was read before it and what it changed. */
export async function signedAfter(
  ctx: TxCtx,
  { around, vault, log }: Before,
  head: LoggedDocument,
  { applied, grown, note }: Logged,
  unstored: Growth['unstored'] = [],
) {
  const aclHash = String(stateIn(around, vaultName(vault.vaultId))?.aclHash)
  const vouching = around.signers.flatMap((name): SignedRow[] =>
    hashesOf(stateIn(around, name)).map((hash) => ({ name, ...documentIn(around, hash) })),
  )
  const asked = around.documents.filter(
    ({ hash, kind }) =>
      around.adminsChain.includes(hash) || hash === aclHash || kind === 'org.genesis' || kind === 'policy.set',
  )
  const documents = sortDocuments([...[head, ...asked].map((document) => ({ name: null, ...document })), ...vouching])
  const place = { vaultId: vault.vaultId, adminsChain: around.adminsChain, headHash: head.hash, aclHash }
  return answerAbout(place, documents, (names) =>
    transparencyAfter(ctx.db, vault.orgId, { log, grown, note, unstored }, names, ctx.request.have, (name) => {
      const changed = applied.updates.find((update) => update.name === name)
      return changed?.state ?? stateIn(around, name) ?? null
    }),
  )
}

/** The documents that stand behind the entry of a key. */
function hashesOf(entry: CommitSurroundings['states'][number]['state'] | undefined): string[] {
  if (!entry) return []
  const { rec, capSets } = entry as unknown as { rec: string; capSets: readonly { docHash: string }[] }
  return [rec, ...capSets.map(({ docHash }) => docHash)]
}
