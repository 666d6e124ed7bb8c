import type { ErrorCode } from '@strongroom/contract'
import { KINDS, type Kind } from './kinds.ts'
import type { Ids, Row } from './oracle.ts'
import type { Caller, Principal, Relation, Thing } from './relations.ts'
import { NOBODY, type World } from './world.ts'

// From a row of the oracle to requests, each with the answer it must get.

export interface Case {
  readonly row: Row
  readonly principal: Principal
  readonly caller: Caller
  /** The id that is varied; '' for a route without ids. */
  readonly slot: string
  readonly relation: Relation
  readonly things: Readonly<Record<string, Thing>>
  /** The code it is refused with; undefined if it succeeds. */
  readonly refusal: ErrorCode | undefined
  /** In place of the body of the row. */
  readonly body?: string
  readonly moreQuery?: string
}

export const isWrite = ({ route }: Row): boolean => !route.startsWith('GET ')
export const nameOf = ({ principal, slot, relation, body, moreQuery }: Case): string =>
  [slot === '' ? principal.name : `${principal.name}, ${slot} ${relation}`, body, moreQuery].join(' ').trimEnd()

const lacksKey = ({ keysOnly }: Row, { headers }: Pick<Principal, 'headers'>): boolean =>
  keysOnly === true && !('x-api-key' in headers)

export const mayCall = (row: Row, principal: Principal): boolean =>
  row.may === 'everybody' ||
  (principal.caller !== undefined && !lacksKey(row, principal) && row.may(principal.caller) === undefined)

/** What the oracle says. The order is that of the rings: who, may they, is it well formed, is it theirs. */
export function refusalOf(
  row: Row,
  principal: Principal,
  things: Readonly<Record<string, Thing>>,
  asked: Caller,
): ErrorCode | undefined {
  const { refusal, caller } = principal
  if (lacksKey(row, principal)) return 'missing_api_key'
  if (row.may !== 'everybody') {
    if (!caller) return refusal
    const denied = row.may(caller)
    if (denied) return denied
  }
  if (Object.values(things).some(({ relation }) => relation === 'malformed')) return 'validation_failed'
  const own = row.also?.(asked)
  if (own) return own
  for (const [name, slot] of Object.entries(row.ids ?? {})) {
    const thing = things[name]
    const refused = thing && slot.refuses(asked, thing, things)
    if (refused) return refused
  }
  return row.ends
}

interface Variation {
  readonly slot: string
  readonly relation: Relation
}

/** Whoever may not call the route is refused before anything is read: what would be theirs and what nobody has are enough. */
const FOR_THE_REFUSED: readonly Relation[] = ['own', 'absent']
const FOR_STRANGERS: readonly Relation[] = ['own']

/** Where only an access list decides, roles of callers have no part: one in so many tries what the others need not. */
const EVERY = 3

function variations(row: Row, principal: Principal, isThorough: boolean): Variation[] {
  const isRefused = !mayCall(row, principal)
  const tried = principal.caller ? FOR_THE_REFUSED : FOR_STRANGERS
  const slots = Object.entries(row.ids ?? {})
  if (slots.length === 0) return [{ slot: '', relation: 'own' }]
  return slots.slice(0, isRefused ? 1 : slots.length).flatMap(([slot, { kind, except = [] }], at) => {
    const { relations, seldom = [] }: Kind = KINDS[kind]
    return (
      [...relations, 'absent' as const, 'malformed' as const]
        // All of them in order is one case, not one for each id.
        .filter((relation) => !(at > 0 && relation === 'own') && !except.includes(relation))
        .filter((relation) => !isRefused || tried.includes(relation))
        .filter((relation) => isThorough || !seldom.includes(relation))
        .map((relation) => ({ slot, relation }))
    )
  })
}

/** While the first id is somewhere else, the others are there too; while another is, the first is at home. */
function relationOf(row: Row, name: string, { slot, relation }: Variation): Relation {
  if (name === slot) return relation
  const [first] = Object.keys(row.ids ?? {})
  const { kind, within } = row.ids?.[name] ?? {}
  const follows = within === slot || (slot === first && (relation === 'other-tenant' || relation === 'other-org'))
  return follows && kind !== undefined && (KINDS[kind] as Kind).relations.includes(relation) ? relation : 'own'
}

async function thingsOf(world: World, row: Row, caller: Caller, varied: Variation, fresh: boolean) {
  const entries = await Promise.all(
    Object.entries(row.ids ?? {}).map(async ([name, { kind }]) => {
      const thing = await world.thing(kind, relationOf(row, name, varied), caller, fresh)
      return [name, thing] as const
    }),
  )
  return Object.fromEntries(entries)
}

export async function casesOf(world: World, row: Row, principals: readonly Principal[]): Promise<Case[]> {
  const cases: Case[] = []
  let allowed = 0
  // Where nobody needs to be known, credentials are not looked at: some of each kind stand for all.
  const askers = row.may === 'everybody' ? principals.filter((_, at) => at % 7 === 0) : principals
  for (const principal of row.by === 'founder' ? [world.orgs[0].founder.principal] : askers) {
    const caller = principal.caller ?? { ...NOBODY, home: world.orgs[0].places[0] }
    for (const varied of variations(row, principal, mayCall(row, principal) && allowed++ % EVERY === 0)) {
      const things = await thingsOf(world, row, caller, varied, false)
      const refusal = refusalOf(row, principal, things, caller)
      cases.push({ row, principal, caller, ...varied, things, refusal })
    }
  }
  return cases
}

/** The same case with objects of its own, for a request that changes them. */
export const refresh = async (world: World, one: Case): Promise<Case> => ({
  ...one,
  things: await thingsOf(world, one.row, one.caller, one, true),
})

export interface Answer {
  readonly status: number
  readonly text: string
  readonly requestId: string
}

const urlOf = ({ route, path = {}, query }: Row, ids: Ids): { readonly method: string; readonly url: string } => {
  const [method = '', template = ''] = route.split(' ')
  const fixed = typeof path === 'function' ? path(ids) : path
  const url = template.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(ids[name] ?? fixed[name] ?? ''))
  const search = new URLSearchParams(query?.(ids))
  return { method, url: `/api/v1${url}${search.size > 0 ? `?${search}` : ''}` }
}

const idsOf = ({ things }: Case): Ids => Object.fromEntries(Object.entries(things).map(([name, { id }]) => [name, id]))

/** The body of the row, made for this case. */
export const bodyOf = async ({ material }: World, one: Case): Promise<string | undefined> =>
  one.row.body && JSON.stringify(await one.row.body(idsOf(one), material, one.things, one.caller))

/** Reads until everything due has come, and leaves. */
async function readStream({ body }: Response, due: readonly string[]): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    if (due.every((shown) => text.includes(shown))) break
  }
  return text
}

export async function send(world: World, one: Case): Promise<Answer> {
  const { row, principal } = one
  const { method, url } = urlOf(row, idsOf(one))
  const body = one.body ?? (await bodyOf(world, one))
  const more = one.moreQuery === undefined ? '' : `${url.includes('?') ? '&' : '?'}${one.moreQuery}`
  const response = await fetch(`${world.h.url}${url}${more}`, {
    method,
    headers: { ...principal.headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body }),
  })
  return {
    status: response.status,
    text:
      row.streams && response.ok ? await readStream(response, row.shows?.(one.caller) ?? []) : await response.text(),
    requestId: response.headers.get('x-request-id') ?? '',
  }
}
