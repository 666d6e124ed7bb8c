import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

// Answers that are longer than they should be held in memory, or that go on while something happens. Each piece is made when
// the one before has been taken; a failure in between cuts the connection, since the status is long gone.

const STREAMED = Symbol('streamed')

export interface Streamed {
  readonly [STREAMED]: true
  readonly type: string
  readonly chunks: AsyncIterable<string>
}

export const streamed = (type: string, chunks: AsyncIterable<string>): Streamed => ({ [STREAMED]: true, type, chunks })

export const isStreamed = (body: unknown): body is Streamed =>
  typeof body === 'object' && body !== null && STREAMED in body

export const JSON_STREAM = 'application/json; charset=utf-8'

/** The same rows, of which the first is there already: what is refused at once is answered with a status, not by a cut. */
export async function begun<T>(rows: AsyncIterable<T>): Promise<AsyncIterable<T>> {
  const iterator = rows[Symbol.asyncIterator]()
  const first = await iterator.next()
  return (async function* () {
    if (first.done) return
    yield first.value
    yield* { [Symbol.asyncIterator]: () => iterator }
  })()
}

/** A list under a key, element by element; `first` are the members before it. */
export async function* jsonList(first: object, key: string, rows: AsyncIterable<unknown>): AsyncIterable<string> {
  const opening = JSON.stringify(first).slice(0, -1)
  yield `${opening}${opening === '{' ? '' : ','}${JSON.stringify(key)}:[`
  let isFirst = true
  for await (const row of rows) {
    yield `${isFirst ? '' : ','}${JSON.stringify(row)}`
    isFirst = false
  }
  yield ']}'
}

/** Lists under their keys, each in pieces of rows that are JSON already; `first` are the members before them. */
export async function* jsonLists(
  first: object,
  lists: Readonly<Record<string, readonly string[]>>,
): AsyncIterable<string> {
  yield JSON.stringify(first).slice(0, -1)
  for (const [key, pieces] of Object.entries(lists)) {
    yield `,${JSON.stringify(key)}:[`
    for (const [i, rows] of pieces.entries()) yield i === 0 ? rows : `,${rows}`
    yield ']'
  }
  yield '}'
}

export function sendStream(reply: FastifyReply, { type, chunks }: Streamed): FastifyReply {
  return reply.type(type).send(Readable.from(chunks, { objectMode: false }))
}
