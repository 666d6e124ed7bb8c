import { ERRORS } from '@strongroom/contract'
import {
  decryptAttachment,
  type OrgTrust,
  ProtocolError,
  type VerifiedAsset,
  type VerifiedHead,
} from '@strongroom/protocol'
import { ApiError, TransportError } from '../errors.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { membersOf, refuseUnless, verifySigned } from './answers.ts'
import { type AttachmentInfo, checkAsset, infoOf, keyOf } from './assets.ts'
import type { ObjectStore } from './object-store.ts'
import { pause } from './queue.ts'
import type { Receipt } from './receipt.ts'
import { receiptFor } from './vaults.ts'
import { alarming, readVerified, roundOf } from './verified.ts'

// An attachment on its way down (docs/reference/protocol.md 7): row, checkpoint and signer are verified before a byte is asked for; each segment
// is given out after its tag, and the last only after sizes and hashes of the whole.

interface Ticket {
  readonly asset: VerifiedAsset
  readonly address: URL
  readonly head: VerifiedHead
  readonly receipt: Receipt
  /** For evidence, should the bytes not be what this says. */
  readonly refusal: { readonly vaultId: string; readonly answer: unknown; readonly org: OrgTrust }
}

/** The address is a credential for some minutes: only its place is kept in evidence. */
const placeOnly = (url: unknown): string => String(url).replace(/[?#].*$/s, '')

function readTicket(
  actor: Actor,
  store: ObjectStore,
  { vaultId, assetId }: { readonly vaultId: string; readonly assetId: string },
  options: CallerOptions,
): Promise<Ticket> {
  let url: unknown
  return readVerified(
    actor,
    {
      vaultId,
      ask: async (call) => {
        const answer = await actor.client.attachments.ticket({ params: { vaultId, assetId } }, call)
        url = membersOf(answer, 'answer').url
        return { ...answer, url: placeOnly(url) }
      },
      check: async (answer, pins) => {
        const { signed } = membersOf(answer, 'answer')
        const head = await verifySigned(signed, vaultId, pins.vault(vaultId))
        const asset = await checkAsset(head, answer)
        refuseUnless(asset.row.assetId === assetId, 'item_swap', 'a ticket is of another attachment', { assetId })
        const isActive = asset.row.status === 'active'
        refuseUnless(isActive, 'assets_mismatch', 'a ticket is of an archived attachment', { assetId })
        const address = store.address(url)
        const receipt = { ...receiptFor(actor, head, signed), signer: asset.by }
        const refusal = { vaultId, answer, org: pins.org }
        return { rounds: [roundOf(head)], result: { asset, address, head, receipt, refusal } }
      },
    },
    options,
  )
}

export interface OpenedAttachment extends AttachmentInfo {
  readonly head: VerifiedHead
  readonly receipt: Receipt
  /**
   * The content, once. It is whole only when this has ended without an error. With `reuseBuffers` a chunk is lent until the next is
   * asked for.
   */
  chunks(options?: { readonly reuseBuffers?: boolean }): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>
}

export async function openAttachment(
  actor: Actor,
  store: ObjectStore,
  which: { readonly vaultId: string; readonly assetId: string },
  options: CallerOptions = {},
): Promise<OpenedAttachment> {
  const ticket = await readTicket(actor, store, which, options)
  const { asset, head, receipt, refusal } = ticket
  const dek = await keyOf(actor, head, asset.content.dekVersion, options)
  const again = (): Promise<Ticket> => readTicket(actor, store, which, options)
  async function* chunks({ reuseBuffers = false }: { readonly reuseBuffers?: boolean } = {}) {
    const source = ciphertextOf(store, ticket, again, options)
    try {
      yield* decryptAttachment({ dek, asset, source, reuseBuffers })
    } catch (error) {
      if (error instanceof ProtocolError) await alarming(actor, refusal, () => Promise.reject(error))
      throw error
    }
  }
  const info = await alarming(actor, refusal, () => infoOf(asset, dek))
  return { ...info, head, receipt, chunks }
}

const MAX_FAILURES = 5
const MAX_BREAKS = 200
const FIRST_PAUSE_MS = 250

/** What the store gives, from where it broke off if it does: with a new ticket each time, verified like the first. */
async function* ciphertextOf(
  store: ObjectStore,
  first: Ticket,
  again: () => Promise<Ticket>,
  { signal }: CallerOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  let { address } = first
  let at = 0
  let failures = 0
  for (let breaks = 0; ; breaks += 1) {
    try {
      for await (const chunk of fetchFrom(store, { address, at, size: first.asset.content.ciphertextSize }, signal)) {
        at += chunk.length
        failures = 0
        yield chunk
      }
      return
    } catch (error) {
      failures += 1
      const mayPass = error instanceof TransportError && error.retryable && !signal?.aborted
      if (!mayPass || failures > MAX_FAILURES || breaks >= MAX_BREAKS) throw error
    }
    await pause(Math.random() * FIRST_PAUSE_MS * 2 ** failures, signal)
    address = sameContent(first, await again()).address
  }
}

/** The bytes from `at` on. A store that begins before that is read up to there. */
async function* fetchFrom(
  store: ObjectStore,
  { address, at, size }: { readonly address: URL; readonly at: number; readonly size: number },
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const answer = await store.get(address, at, signal)
  const isSized = answer.size === undefined || answer.size === size
  refuseUnless(isSized, 'asset_mismatch', 'an attachment has another size than its checkpoint says')
  refuseUnless(
    answer.start <= at,
    'asset_mismatch',
    'the bytes of an attachment begin behind those that were asked for',
  )
  let known = at - answer.start
  for await (const chunk of answer.body) {
    const fresh = chunk.subarray(Math.min(known, chunk.length))
    known -= chunk.length - fresh.length
    if (fresh.length > 0) yield fresh
  }
}

/** Under another key or name it is still the same content; replaced it is not. */
function sameContent({ asset: { row, content } }: Ticket, next: Ticket): Ticket {
  const isSame =
    next.asset.row.assetVersion === row.assetVersion && next.asset.content.ciphertextHash === content.ciphertextHash
  if (isSame) return next
  const { message, hint, status } = ERRORS.attachment_version_conflict
  throw new ApiError({ code: 'attachment_version_conflict', message, hint }, status)
}
