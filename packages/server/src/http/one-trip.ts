import type { Input, Output, Route } from '@strongroom/contract'
import type { FastifyReply } from 'fastify'
import type { Ctx, Deps, RequestFacts } from '../context.ts'
import type { KeyRow, OfferedKey } from './authenticate.ts'

// A few reads are asked so often that who asks and what they ask for are decided in one statement. Such a route brings a trip
// besides its handler; whatever the trip does not cover (access tokens, malformed input, a limit that is reached, a database
// that refuses) goes the ordinary way.

export interface TripQuestion<R extends Route> {
  readonly apiKey: OfferedKey
  readonly input: Input<R>
  readonly request: RequestFacts
}

export interface TripAnswer<T> {
  /** What is known of the key; null if there is none. */
  readonly key: KeyRow | null
  readonly found: T
}

/** A handler with a trip of its own. `found` is undefined where the request came the ordinary way. */
export interface Travelling<R extends Route, T = unknown> {
  trip(deps: Deps, question: TripQuestion<R>): Promise<TripAnswer<T>>
  handle(ctx: Ctx, input: Input<R>, found: T | undefined): Promise<Output<R> | Ready> | Ready
}

export const isTravelling = <R extends Route>(given: unknown): given is Travelling<R> =>
  typeof given === 'object' && given !== null && 'trip' in given

/** An answer whose bytes are there already. */
export type Ready = Buffer

/** Of an answer that is made of contract shapes all through and needs no cutting; writing it by its schema costs many times this. */
export const readyJson = (body: unknown): Ready => Buffer.from(JSON.stringify(body))
export const isReady = (body: unknown): body is Ready => body instanceof Buffer
export function readyBytes(reply: FastifyReply, bytes: Ready): Buffer {
  reply.header('content-type', 'application/json; charset=utf-8')
  return bytes
}
