import type { Receipt as EngineReceipt } from '../engine/receipt.ts'

/** What proves that a value came from who is trusted: to be shown, logged and compared. Plain data, without the value. */
export interface Receipt {
  readonly vaultId: string
  readonly headVersion: number
  readonly headHash: string
  /** `user:…` or `agent:…`, whose signature the content is under. */
  readonly signerKeyId: string
  readonly checkpoint: {
    readonly origin: string
    readonly treeSize: number
    readonly rootHash: string
    readonly timestamp: Date
  }
  readonly inclusion: 'verified'
  /** `first-seen`: there was no older checkpoint to hold this one against. */
  readonly consistency: 'verified' | 'first-seen'
  /** When a witness last vouched for the checkpoint; null without witnesses. */
  readonly witnessedAt: Date | null
  readonly source: 'network' | 'cache'
  readonly fetchedAt: Date
}

export const receiptFrom = (receipt: EngineReceipt): Receipt => ({
  vaultId: receipt.vaultId,
  headVersion: receipt.headVersion,
  headHash: receipt.headHash,
  signerKeyId: receipt.signer,
  checkpoint: {
    origin: receipt.checkpoint.origin,
    treeSize: receipt.checkpoint.size,
    rootHash: receipt.checkpoint.root,
    timestamp: new Date(receipt.checkpoint.at),
  },
  inclusion: 'verified',
  consistency: receipt.consistency === 'consistent' ? 'verified' : 'first-seen',
  witnessedAt: receipt.witnessedAt === null ? null : new Date(receipt.witnessedAt),
  source: receipt.source,
  fetchedAt: new Date(receipt.fetchedAt),
})
