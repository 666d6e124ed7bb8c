import type { Identity, NoteSigner } from '@strongroom/protocol'

// An attack is data: which answer it changes, how, and what a good client says to it.

export interface Answer {
  status: number
  headers: Record<string, string>
  /** Parsed JSON; bytes where the answer is not JSON. */
  body: unknown
  /** Sent in place of the body as it is. */
  raw?: string
  /** Sends only the head and the first bytes, then keeps the line open: a length that is claimed. */
  isEndless?: boolean
}

export interface Asked {
  readonly method: string
  /** Without the prefix of the API, with the query. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  /** The size of the log that the client says it knows. */
  readonly have: number | undefined
}

/** An answer that was given before. */
export interface Recorded {
  readonly method: string
  readonly path: string
  readonly body: unknown
}

/** A member of the organisation who plays along: a key that the directory knows. */
export interface Accomplice {
  readonly principal: string
  readonly identity: Identity
}

/** Everything the attacker has. */
export interface Power {
  readonly asked: Asked
  /** Older answers to requests of this form, oldest first, no two alike. */
  recorded(route: string): readonly Recorded[]
  /** Asks the real server in the name of the client. */
  ask(path: string): Promise<unknown>
  /** The attacker's own keys under any name. */
  keysAs(principal: string): Promise<Identity>
  readonly accomplices: readonly Accomplice[]
  /** The log's own key. */
  readonly logKey: NoteSigner | undefined
  /** An address of another origin, which nobody should ever come to. */
  readonly elsewhere: string
}

/** The attacker lacks something: the answer goes through as it is, and the attack counts as not run. */
export class CannotAttack extends Error {
  override name = 'CannotAttack'
}

export function need<T>(thing: T | undefined | null | false, what: string): T {
  if (thing === undefined || thing === null || thing === false) throw new CannotAttack(what)
  return thing
}

export type Deed = 'env' | 'item' | 'version' | 'list' | 'share' | 'rotate' | 'me' | 'project' | 'download' | 'fallback'

/** What a client has to do so that it meets the attack. */
export const DEEDS: Readonly<Record<Deed, string>> = {
  env: 'reads the environment of a vault',
  item: 'reads an item',
  version: 'reads what an item was before its last change',
  list: 'lists the items of a vault',
  share: 'gives somebody access to a vault',
  rotate: 'rotates its own key',
  me: 'asks who it is',
  project: 'reads the environment of a project',
  download: 'downloads an attachment',
  fallback: 'reads the environment of a vault while the server denies the route',
}

export interface Attack {
  /** The row of the table: 1 to 64, or `P…` for a row of docs/reference/protocol.md 10 that has none there. */
  readonly number: string
  readonly name: string
  readonly title: string
  /** `GET /vault/:vaultId/environment-fields`: the answer that is changed. */
  readonly route: string
  readonly deed: Deed
  /** The client must have read before: the first answer of the route goes through as it is. */
  readonly second?: true
  /** The client must be set up to ask for witnesses. */
  readonly witnessed?: true
  /** The lie lies behind a wrapped key that is sound: a private key may be used before it shows. */
  readonly behindKeys?: true
  /** Everything signed is sound and may be remembered: only the bytes that belong to it lie. */
  readonly isAuthentic?: true
  /** Answers of another route that are changed besides: what leads a client to the route of the attack. */
  readonly also?: { readonly route: string; alter(answer: Answer): Answer }
  readonly expect: Expectation
  alter(answer: Answer, power: Power): Promise<Answer> | Answer
}

export interface Expectation {
  /** The name in the table. */
  readonly table: string
  /** What Strongroom's own client says, in its own codes; `same` where the right result is the honest one. */
  readonly codes: readonly string[]
}

export const ENV = 'GET /vault/:vaultId/environment-fields'
export const ITEMS = 'GET /vault/:vaultId/items'
export const ITEM = 'GET /vault/:vaultId/items/:itemId'
export const VERSION = 'GET /vault/:vaultId/items/:itemId/versions/:itemVersion'
export const WRAPPED_KEY = 'GET /vault/:vaultId/wrapped-key'
export const DIRECTORY = 'GET /vault/public-key/directory'
export const GRANTS = 'GET /vault/public-key/grants'
export const ME = 'GET /me'
export const PROJECT = 'GET /vault/env/:projectId'
/** Bytes of attachments, where the server keeps them on its own disk. */
export const OBJECT = 'GET /objects/:key'
export const TICKET = 'GET /attachments/:vaultId/assets/:assetId/download-ticket'

const DEED_OF: Readonly<Record<string, Deed>> = {
  [ENV]: 'env',
  [ITEMS]: 'list',
  [ITEM]: 'item',
  [VERSION]: 'version',
  [DIRECTORY]: 'share',
  [GRANTS]: 'rotate',
  [ME]: 'me',
  [PROJECT]: 'project',
  [TICKET]: 'download',
  [OBJECT]: 'download',
}

/** `22 field-swapped: FIELD_BINDING = field_swap`, as attack files write it. */
export type Line = readonly [number: string, name: string, title: string, table: string, codes: string]

export type More = Partial<Pick<Attack, 'second' | 'witnessed' | 'behindKeys' | 'isAuthentic' | 'deed' | 'also'>>
type Change<B> = (body: B, power: Power) => unknown

/** An attack that changes the JSON of one answer in place. */
export function changing<B>(
  route: string,
  [number, name, title, table, codes]: Line,
  change: Change<B>,
  more: More = {},
): Attack {
  return replacing(
    route,
    [number, name, title, table, codes],
    async (answer, power) => {
      await change(answer.body as B, power)
      return answer
    },
    more,
  )
}

/** An attack that puts another answer in the place of the honest one. */
export const replacing = (
  route: string,
  [number, name, title, table, codes]: Line,
  alter: Attack['alter'],
  more: More = {},
): Attack => ({
  number,
  name,
  title,
  route,
  deed: DEED_OF[route] ?? 'env',
  expect: { table, codes: codes.split(' ') },
  alter,
  ...more,
})
