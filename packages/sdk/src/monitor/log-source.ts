import { documentHash, type Envelope, envelopeShape, fromBase64, ProtocolError } from '@strongroom/protocol'
import type { Client } from '../client.ts'
import { mapLimited, pause } from '../engine/queue.ts'
import { ApiError } from '../errors.ts'
import { Unproven } from './refusals.ts'

// The log of an organisation as its API serves it. Nothing here is believed: what comes is hashed against signed checkpoints by
// whoever asked.

export interface ServedLeaf {
  readonly leaf: Uint8Array
  readonly documents: Uint8Array | undefined
  readonly updates: Uint8Array | undefined
}

export interface LogSource {
  /** The newest checkpoint, as a note. */
  newest(): Promise<string>
  /** The checkpoint of a size. */
  checkpointOf(size: number): Promise<string>
  /** The newest checkpoint again, with base64 hashes that should prove that it continues the log of `from`. */
  since(from: number): Promise<{ readonly note: string; readonly proof: readonly string[] }>
  /** At least one leaf from `start` on, and none from `end` on. */
  leaves(start: number, end: number): Promise<readonly ServedLeaf[]>
  /** The documents of these hashes. */
  documents(hashes: readonly string[]): Promise<ReadonlyMap<string, Envelope>>
  deliver(size: number, line: string): Promise<void>
}

const AT_ONCE = 8
const MAX_WAITS = 60

function textOf(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new Unproven(`the server sent no ${what}`)
  return value
}

function bytesOf(value: unknown, what: string): Uint8Array {
  try {
    return fromBase64(textOf(value, what))
  } catch (error) {
    throw error instanceof ProtocolError ? new Unproven(`the server sent a ${what} that is no base64`) : error
  }
}

const optional = (value: unknown, what: string): Uint8Array | undefined =>
  value === undefined ? undefined : bytesOf(value, what)

/** Waits where the server asks for it; a long log is many requests. */
async function patiently<T>(ask: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let waits = 0; ; waits++) {
    try {
      return await ask()
    } catch (error) {
      const isBusy = error instanceof ApiError && (error.status === 429 || error.status === 503)
      if (!isBusy || waits >= MAX_WAITS) throw error
      await pause((error.retryAfter ?? 1) * 1000, signal)
    }
  }
}

export function apiSource({ transparency }: Pick<Client, 'transparency'>, signal?: AbortSignal): LogSource {
  const asking = <T>(ask: () => Promise<T>): Promise<T> => patiently(ask, signal)
  const options = signal ? { signal } : {}
  const document = async (hash: string): Promise<readonly [string, Envelope]> => {
    const answer = await asking(() => transparency.document({ params: { hash } }, options)).catch((error: unknown) => {
      if (error instanceof ApiError && (error.status === 404 || error.status === 403))
        throw new Unproven(`the document ${hash} is withheld: ${error.code}`)
      throw error
    })
    return [hash, openDocument(hash, answer.document)]
  }
  return {
    newest: async () => textOf((await asking(() => transparency.checkpoint({}, options))).checkpoint, 'checkpoint'),
    checkpointOf: async (size) => {
      const ask = () => transparency.proof({ params: { index: size - 1 }, query: { size } }, options)
      return textOf((await asking(ask)).checkpoint, 'checkpoint')
    },
    since: async (from) => {
      const { checkpoint, consistency } = await asking(() =>
        transparency.state({ query: { name: 'policy', have: from } }, options),
      )
      const hashes: readonly unknown[] = Array.isArray(consistency?.hashes) ? consistency.hashes : []
      return { note: textOf(checkpoint, 'checkpoint'), proof: hashes.map((hash) => textOf(hash, 'hash')) }
    },
    leaves: async (start, end) => {
      const { entries } = await asking(() => transparency.entries({ query: { start, end } }, options))
      if (!Array.isArray(entries) || entries.length === 0 || entries.length > end - start)
        throw new Unproven(`the server served no leaf ${start}, or more than were asked for`)
      return entries.map((entry) => ({
        leaf: bytesOf(entry.leaf, 'leaf'),
        documents: optional(entry.documents, 'list of documents'),
        updates: optional(entry.updates, 'list of updates'),
      }))
    },
    documents: async (hashes) => new Map(await mapLimited(hashes, AT_ONCE, document)),
    deliver: async (size, line) => {
      await asking(() => transparency.addCosignatures({ body: { size, signatures: [line] } }, options))
    },
  }
}

/** Another document than was asked for says nothing about the log. */
function openDocument(hash: string, served: unknown): Envelope {
  try {
    const envelope = envelopeShape(served, 'document')
    if (documentHash(envelope) === hash) return envelope
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
  }
  throw new Unproven(`the server sent another document than ${hash}`)
}
