import type { Route } from '@strongroom/contract'
import build from 'fast-json-stringify'
import { onceFor } from './once-for.ts'

/** Writes an answer by the schema of its route: what the contract does not name is left out. */
export type Write = (body: unknown) => string

export const writerOf = onceFor((route: Route): Write => build(route.response as Parameters<typeof build>[0]))

export const serialiser =
  (route: Route): Write =>
  (body) =>
    writerOf(route)(body)
