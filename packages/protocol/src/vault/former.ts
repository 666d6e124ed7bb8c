import { ensure } from '../errors.ts'
import { type Envelope, peekDocument, type VerifiedDocument, verifyDocument } from '../identity/document.ts'
import { type ItemDetailPayload, itemDetail } from './documents.ts'
import { detailFields, type VerifiedField, type VerifiedItem } from './rows.ts'
import type { VerifiedHead } from './vault.ts'

// Section 6.6: what an item was. A detail names the one before it by its hash, so whoever has verified the current one can tell whether
// an older one is what it followed. A server can keep versions back; it cannot show others.

declare const provenDetail: unique symbol
/** A detail that the next one names. What it says is proven; whether its signer still counts is not asked. */
export interface ProvenDetail {
  readonly [provenDetail]: true
  readonly envelope: Envelope
  readonly payload: ItemDetailPayload
  readonly hash: string
}

/** The details before a verified item, the newest first: each is the one that the next names, without a gap. */
export function verifyWayBack(item: VerifiedItem, envelopes: readonly Envelope[]): readonly ProvenDetail[] {
  let next: ItemDetailPayload = item.document.payload
  return envelopes.map((envelope) => {
    const { payload, hash } = peekDocument(itemDetail, envelope)
    const { itemId, itemVersion } = next
    ensure(hash === next.prev, 'detail_mismatch', 'an earlier version is not the one that the next names', { itemId })
    ensure(payload.vaultId === next.vaultId, 'vault_swap', 'an earlier version is of another vault', { itemId })
    ensure(payload.itemId === itemId, 'item_swap', 'an earlier version is of another item', { itemId })
    ensure(payload.itemVersion === itemVersion - 1, 'detail_mismatch', 'an earlier version has another number', {
      itemId,
    })
    next = payload
    return { envelope, payload, hash } as unknown as ProvenDetail
  })
}

declare const formerItem: unique symbol
/** An earlier version that a writer signed whose key still counts. */
export interface VerifiedFormer {
  readonly [formerItem]: true
  readonly document: VerifiedDocument<typeof itemDetail>
  readonly fields: readonly VerifiedField[]
}

/** 4.4 holds for it as for the current version: what a compromised key signed is not taken for what somebody wrote. */
export async function verifyFormer({ vault }: VerifiedHead, { envelope }: ProvenDetail): Promise<VerifiedFormer> {
  const { directory } = vault
  const document = await verifyDocument(itemDetail, envelope, directory.org, directory.keyOf)
  const { by, itemId } = document.payload
  const { entry } = await directory.resolve(by)
  ensure(entry.status !== 'compromised', 'signer_compromised', 'an earlier version was written by a compromised key', {
    itemId,
    by,
  })
  return { document, fields: detailFields(document.payload) } as unknown as VerifiedFormer
}
