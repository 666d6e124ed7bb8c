import { PART_BYTES } from '@strongroom/contract'
import {
  type AssetContent,
  ciphertextSizeOf,
  type encryptDraft,
  plaintextSizeWithin,
  toBase64url,
} from '@strongroom/protocol'
import { TransportError } from '../errors.ts'
import type { Actor, CallerOptions } from './actor.ts'
import type { ObjectStore } from './object-store.ts'
import { pause } from './queue.ts'
import type { UploadTicket } from './upload-ticket.ts'
import { alarming, pinsOf } from './verified.ts'

// The parts of a ciphertext: a few buffers of 8 MiB that are filled, sent and filled again.

interface StoredPart {
  readonly partNumber: number
  readonly size: number
  readonly etag: string
}
export type PartsThere = ReadonlyMap<number, StoredPart>

interface SentPart extends StoredPart {
  readonly sha256: string
}

export interface SentParts {
  readonly parts: readonly SentPart[]
  readonly content: AssetContent
}

export interface PartsInput {
  readonly ticket: UploadTicket
  readonly encrypted: Awaited<ReturnType<typeof encryptDraft>>
  /** Absent: all of them are there, and nothing is sent. */
  readonly there: PartsThere | undefined
  /** Bytes of the content, where known. */
  readonly total: number | undefined
}

export interface PartsOptions extends CallerOptions {
  readonly concurrency?: number | undefined
  readonly onProgress?: ((sent: number, total: number | undefined) => void) | undefined
}

const AT_ONCE = 3

export async function sendParts(
  actor: Actor,
  store: ObjectStore,
  input: PartsInput,
  { concurrency = AT_ONCE, onProgress, signal }: PartsOptions,
): Promise<SentParts> {
  const { encrypted, there, total } = input
  const failing = new AbortController()
  const ending = signal ? AbortSignal.any([signal, failing.signal]) : failing.signal
  const parts: SentPart[] = []
  let arrived = 0
  const send = async (partNumber: number, bytes: Uint8Array<ArrayBuffer>): Promise<void> => {
    if (there) parts.push(await sendPart(actor, store, { ...input, there }, { partNumber, bytes }, ending))
    arrived += bytes.length
    onProgress?.(plaintextSizeWithin(arrived), total)
  }
  // The first failure ends everything at once, also the reading of a source that has nothing to give just now.
  const orEnd = (sending: Promise<void>): Promise<void> => sending.catch((error: unknown) => failing.abort(error))
  const longest = Math.min(PART_BYTES, total === undefined ? PART_BYTES : ciphertextSizeOf(total))
  const lanes = makeLanes(concurrency, longest)
  await inParts(until(encrypted.ciphertext, ending), lanes, (partNumber, bytes) => orEnd(send(partNumber, bytes)))
  await Promise.all(lanes.map(({ sending }) => sending))
  ending.throwIfAborted()
  return { parts: parts.sort((a, b) => a.partNumber - b.partNumber), content: encrypted.content() }
}

/** One buffer, and the sending of what is in it. */
interface Lane {
  buffer: Uint8Array<ArrayBuffer>
  sending: Promise<void>
}

const makeLanes = (count: number, bytes: number): Lane[] =>
  Array.from({ length: Math.max(1, count) }, () => ({ buffer: new Uint8Array(bytes), sending: Promise.resolve() }))

/** Fills one lane after the other; a lane is filled again when its part has arrived. */
async function inParts(
  ciphertext: AsyncIterable<Uint8Array>,
  lanes: readonly Lane[],
  send: (partNumber: number, bytes: Uint8Array<ArrayBuffer>) => Promise<void>,
): Promise<void> {
  let partNumber = 1
  let filled = 0
  const laneOf = (): Lane => lanes[(partNumber - 1) % lanes.length] as Lane
  const flush = (): void => {
    const lane = laneOf()
    lane.sending = send(partNumber, lane.buffer.subarray(0, filled))
    partNumber += 1
    filled = 0
  }
  for await (const chunk of ciphertext) {
    for (let at = 0; at < chunk.length; ) {
      const lane = laneOf()
      if (filled === 0) await lane.sending
      // A source that turns out longer than it said is found out at its end.
      if (filled === lane.buffer.length) lane.buffer = grown(lane.buffer)
      const taken = Math.min(lane.buffer.length - filled, chunk.length - at)
      lane.buffer.set(chunk.subarray(at, at + taken), filled)
      filled += taken
      at += taken
      if (filled === PART_BYTES) flush()
    }
  }
  if (filled > 0) flush()
}

/** A stream up to the moment the signal ends it, even if it has nothing to give. */
async function* until<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, undefined> {
  const iterator = source[Symbol.asyncIterator]()
  const ended = new Promise<never>((_, reject) => {
    const end = (): void => reject(signal.reason)
    if (signal.aborted) end()
    else signal.addEventListener('abort', end, { once: true })
  })
  ended.catch(() => undefined)
  try {
    for (;;) {
      const { done, value } = await Promise.race([iterator.next(), ended])
      if (done) return
      yield value
    }
  } finally {
    // Not waited for: a source that is being read cannot be closed before it gives something.
    Promise.resolve(iterator.return?.()).catch(() => undefined)
  }
}

function grown(buffer: Uint8Array): Uint8Array<ArrayBuffer> {
  const next = new Uint8Array(PART_BYTES)
  next.set(buffer)
  return next
}

interface PartBytes {
  readonly partNumber: number
  readonly bytes: Uint8Array<ArrayBuffer>
}

const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
const SHA256_HEX = /^[0-9a-f]{64}$/

/** Whether the part has arrived before; where the store shows its hash, as those very bytes. */
function isThere(there: StoredPart | undefined, size: number, sha256: Uint8Array): there is StoredPart {
  if (there?.size !== size) return false
  const etag = there.etag.replaceAll('"', '')
  return !SHA256_HEX.test(etag) || etag === hex(sha256)
}

async function sendPart(
  actor: Actor,
  store: ObjectStore,
  { ticket, there }: { readonly ticket: UploadTicket; readonly there: PartsThere },
  { partNumber, bytes }: PartBytes,
  signal: AbortSignal,
): Promise<SentPart> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  const part = { partNumber, size: bytes.length, sha256: toBase64url(hash) }
  const stored = there.get(partNumber)
  if (isThere(stored, bytes.length, hash)) return { ...part, etag: stored.etag }
  const etag = await putUntilTaken(actor, store, ticket, { partNumber, bytes }, signal)
  return { ...part, etag: etag ?? (await etagOf(actor, ticket, partNumber, signal)) }
}

const MAX_TRIES = 6
const FIRST_PAUSE_MS = 250

/** With a new address each time: they live some minutes only. */
async function putUntilTaken(
  actor: Actor,
  store: ObjectStore,
  { vaultId, uploadId }: UploadTicket,
  { partNumber, bytes }: PartBytes,
  signal: AbortSignal,
): Promise<string | undefined> {
  const body = { uploadId, parts: [{ partNumber, size: bytes.length }] }
  for (let tries = 1; ; tries += 1) {
    const answer = await actor.client.attachments.presign({ params: { vaultId }, body }, { signal })
    const address = await namedAddress(actor, store, vaultId, answer)
    try {
      return await store.put(address, bytes, signal)
    } catch (error) {
      const mayPass = error instanceof TransportError && error.retryable
      if (!mayPass || signal.aborted || tries >= MAX_TRIES) throw error
      await pause(Math.random() * FIRST_PAUSE_MS * 2 ** tries, signal)
    }
  }
}

/** An address at a strange place is an attempt to get at the bytes, and an alarm like any other. */
async function namedAddress(
  actor: Actor,
  store: ObjectStore,
  vaultId: string,
  { data }: { readonly data: readonly { readonly url: string }[] },
): Promise<URL> {
  const { org } = pinsOf(actor, await actor.trust.read())
  const url = data[0]?.url
  const answer = { url: String(url).replace(/[?#].*$/s, '') }
  return alarming(actor, { vaultId, answer, org }, async () => store.address(url))
}

/** Where the store does not show the tag of a part, as to pages that its rules do not know. */
async function etagOf(
  { client }: Actor,
  { vaultId, uploadId }: UploadTicket,
  partNumber: number,
  signal: AbortSignal,
): Promise<string> {
  const { data } = await client.attachments.upload({ params: { vaultId, uploadId } }, { signal })
  return data.find((part) => part.partNumber === partNumber)?.etag ?? ''
}
