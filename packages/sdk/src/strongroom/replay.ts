import { auditLeaf, documentsOf, type Envelope, fromBase64, makeLedger, parseLeaf } from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import type { Actor, CallerOptions } from '../engine/actor.ts'
import { mapLimited } from '../engine/queue.ts'

export interface ServedEntry {
  readonly leaf: string
  readonly documents?: string
  readonly updates?: string
}

const AT_ONCE = 16

/** Replays every change of a log with its documents, as an auditor does; refuses the first that breaks a rule. */
export async function replay(actor: Actor, entries: AsyncIterable<ServedEntry>, options: CallerOptions): Promise<void> {
  const ledger = makeLedger(actor.org)
  const fetchDocument = async (hash: string): Promise<Envelope> =>
    (await actor.client.transparency.document({ params: { hash } }, options as CallOptions)).document
  for await (const { leaf, documents, updates } of entries) {
    const bytes = fromBase64(leaf)
    const lists = {
      ...(documents !== undefined && { documents: fromBase64(documents) }),
      ...(updates !== undefined && { updates: fromBase64(updates) }),
    }
    const docs = await mapLimited(documentsOf(parseLeaf(bytes), lists.documents), AT_ONCE, fetchDocument)
    await auditLeaf(ledger, { leaf: bytes, docs, ...lists })
  }
}
