import {
  decodeProof,
  documentsOf,
  fromBase64,
  leafHash,
  parseLeaf,
  type VerifiedHead,
  type VerifiedView,
  verifyInclusion,
} from '@strongroom/protocol'
import type { Actor } from './actor.ts'
import { listOf, membersOf, refuseUnless } from './answers.ts'

// Docs/reference/protocol.md 6.3, step 3: a writer verifies its own inclusion before it reports success.

export interface OwnCommit {
  readonly index: number
  readonly headHash: string
}

/** Refuses with `bad_inclusion` unless the own head is in the log that `head` was verified in. */
export async function proveCommitted(actor: Actor, head: VerifiedHead, own: OwnCommit): Promise<void> {
  const { state, directory } = head.vault
  if (head.hash === own.headHash) {
    const isThere = state.headIndex === own.index
    refuseUnless(isThere, 'bad_inclusion', 'the change is in another leaf than the server says', { index: own.index })
    return
  }
  // Others have written since, which a repeated request shows. The next head names ours; any later one takes a proof.
  if (head.payload.prev === own.headHash) return
  await proveLeaf(actor, directory.view, own)
}

async function proveLeaf(actor: Actor, view: VerifiedView, { index, headHash }: OwnCommit): Promise<void> {
  const { size, root } = view.checkpoint
  const { transparency } = actor.client
  const [served, proof] = await Promise.all([
    transparency.entries({ query: { start: index, end: index + 1 } }),
    transparency.proof({ params: { index }, query: { size } }),
  ])
  const { leaf, documents } = membersOf(listOf(membersOf(served, 'entries').entries, 'entries')[0], 'entry')
  const bytes = fromBase64(String(leaf))
  const hashes = decodeProof(membersOf(proof, 'proof').hashes)
  verifyInclusion({ leafHash: leafHash(bytes), index, size, root, proof: hashes })
  const named = documentsOf(parseLeaf(bytes), typeof documents === 'string' ? fromBase64(documents) : undefined)
  refuseUnless(named.includes(headHash), 'bad_inclusion', 'the leaf that the server names is another change', { index })
}
