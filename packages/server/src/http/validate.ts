import type { Route } from '@strongroom/contract'
import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { ApiError } from '../errors.ts'
import { onceFor } from './once-for.ts'

// Shapes are checked as the contract says: bodies literally, URLs after turning text into numbers and booleans. Nothing is
// dropped or repaired silently.

type Part = 'params' | 'query' | 'body'
type Check = (value: unknown) => unknown

function compile(part: Part, schema: TSchema): Check {
  const validator = Compile(schema)
  const read: Check = part === 'body' ? (value) => value : textReader(schema)
  return (value) => {
    const candidate = read(value)
    if (validator.Check(candidate)) return candidate
    throw new ApiError('validation_failed', {
      details: { in: part, problems: problemsOf(validator.Errors(candidate)) },
    })
  }
}

const LITERALS: Readonly<Record<string, RegExp>> = {
  integer: /^(?:0|-?[1-9][0-9]{0,14})$/,
  number: /^(?!-0(?:\.0+)?$)-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?$/,
  boolean: /^(?:true|false)$/,
}

/** What a URL says becomes a number or a boolean only where the contract wants one and the text is written exactly like one. */
function textReader(schema: TSchema): Check {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> }
  const literals = Object.entries(properties).flatMap(([name, { type = '' }]) => {
    const form = LITERALS[type]
    return form ? [{ name, form }] : []
  })
  if (literals.length === 0) return (value) => value
  return (value) => {
    const read: Record<string, unknown> = { ...(value as object) }
    for (const { name, form } of literals) {
      const text = read[name]
      if (typeof text === 'string' && form.test(text)) read[name] = JSON.parse(text)
    }
    return read
  }
}

/** Without a page a list is given whole, and how long a page would be says nothing; not so where it is read on from a place, `after`. */
function ofWholeList(schema: TSchema, query: Record<string, unknown>): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, unknown> }
  const isWhole = query.page === undefined && query.after === undefined
  const isIdle = 'page' in properties && isWhole && typeof query.limit === 'string'
  if (!isIdle) return query
  const { limit: _, ...rest } = query
  return rest
}

interface Violation {
  readonly instancePath?: string
  readonly keyword?: string
  readonly message?: string
}

/** Where and what, never the value: it could be a secret in the wrong place. */
const problemsOf = (errors: Iterable<Violation>): { path: string; problem: string }[] =>
  // That an object has members too many is said of each of them besides.
  [...errors]
    .filter(({ keyword }) => keyword !== 'additionalProperties')
    .slice(0, 5)
    .map((violation) => ({ path: namesOf(violation.instancePath || '/'), problem: wordsFor(violation) }))

/** Nothing fits a schema that is `false`, which is how the contract has members that there are not. */
const wordsFor = ({ keyword, message }: Violation): string =>
  keyword === 'boolean' ? 'is not a member that this route takes' : (message ?? keyword ?? 'invalid')

/** A member that is not in the contract has a name the caller made up: only what looks like a name is said back. */
const namesOf = (path: string): string =>
  path
    .split('/')
    .map((name) => (/^(?:[A-Za-z]{0,24}|[0-9]{1,5})$/.test(name) ? name : '?'))
    .join('/')

/** Of what a route takes that takes no body: many programs send an empty object whenever they have nothing to say. */
const isNothing = (body: unknown): boolean =>
  body === undefined ||
  (typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0)

export const takesNoBody = (): ApiError =>
  new ApiError('validation_failed', {
    details: { in: 'body', problems: [{ path: '/', problem: 'this route takes no body but an empty object' }] },
  })

const NO_MEMBERS: TSchema = { type: 'object', additionalProperties: false, properties: {} } as TSchema

type Parts = Pick<FastifyRequest, 'params' | 'query' | 'body'>

type Read = (request: Parts) => unknown

/** The input of a route, checked. Refuses with `validation_failed`. */
export const inputReader =
  (route: Route): Read =>
  (request) =>
    readerOf(route)(request)

export const readerOf = onceFor(compileInput)

function compileInput(route: Route): Read {
  const params = route.params && compile('params', route.params)
  const asked = route.query ?? NO_MEMBERS
  const query = compile('query', asked)
  const body = route.body && compile('body', route.body)
  // For a body that may be left out as a whole.
  const { default: otherwise } = (route.body ?? {}) as { default?: unknown }
  return (request) => {
    if (!route.body && !isNothing(request.body)) throw takesNoBody()
    return {
      ...(params && { params: params(request.params) }),
      query: query(ofWholeList(asked, { ...(request.query as object) })),
      ...(body && { body: body(request.body ?? otherwise) }),
    }
  }
}

const TURN = /^[A-Za-z0-9_-]{1,64}$/

/** `Vault-Turn`: what the answer of a conflict brought, for the commit that is built on top of it. */
export function readTurn(text: string | undefined): string | undefined {
  if (text === undefined || TURN.test(text)) return text
  throw new ApiError('validation_failed', { details: { header: 'Vault-Turn' } })
}

const HAVE = /^[1-9][0-9]{0,14}$/

/** `Tlog-Have`: the size of the log that the caller knows (docs/reference/protocol.md 5.4). */
export function readHave(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!HAVE.test(text)) throw new ApiError('validation_failed', { details: { header: 'Tlog-Have' } })
  return Number(text)
}
