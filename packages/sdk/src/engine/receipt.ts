import { fromBase64, parseLeaf, toBase64url, type VerifiedHead, type VerifiedView } from '@strongroom/protocol'
import { membersOf } from './answers.ts'

/** What proves a read or a write: to be shown, kept and compared. */
export interface Receipt {
  readonly vaultId: string
  readonly headVersion: number
  readonly headHash: string
  /** The key that signed the content. */
  readonly signer: string
  readonly checkpoint: {
    readonly origin: string
    readonly size: number
    /** base64url */
    readonly root: string
    /** When the last entry of the log was made, by the log's own clock. */
    readonly at: number
  }
  /** False where no witness is configured: authentic, but possibly old. */
  readonly witnessed: boolean
  /** When a witness last saw this checkpoint; null without witnesses. */
  readonly witnessedAt: number | null
  /** Whether the log was held against one seen before. */
  readonly consistency: 'consistent' | 'first-seen'
  readonly source: 'network' | 'cache'
  readonly fetchedAt: number
}

export interface Origin {
  readonly source: Receipt['source']
  readonly fetchedAt: number
}

/** `transparency` is the one `head` was verified with. */
export function receiptOf(head: VerifiedHead, transparency: unknown, { source, fetchedAt }: Origin): Receipt {
  const { vault, hash, payload } = head
  const { view } = vault.directory
  const { origin, size, root } = view.checkpoint
  return {
    vaultId: vault.vaultId,
    headVersion: payload.headVersion,
    headHash: hash,
    signer: payload.by,
    checkpoint: { origin, size, root: toBase64url(root), at: timeOf(transparency) },
    witnessed: view.witnessed,
    witnessedAt: witnessTime(view),
    consistency: view.since ? 'consistent' : 'first-seen',
    source,
    fetchedAt,
  }
}

/** Of the last leaf, which verifying the transparency has shown to be in the log. */
function timeOf(transparency: unknown): number {
  const { leaf } = membersOf(membersOf(transparency, 'transparency').tip, 'tip')
  return parseLeaf(fromBase64(String(leaf))).at
}

const witnessTime = ({ checkpoint }: VerifiedView): number | null => {
  const times = checkpoint.cosignatures.map(({ timestamp }) => timestamp * 1000)
  return times.length > 0 ? Math.max(...times) : null
}
