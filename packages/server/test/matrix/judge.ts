import { ERRORS } from '@strongroom/contract'
import { Compile } from 'typebox/compile'
import { groupBy } from '../../src/log/group-by.ts'
import { type Answer, type Case, isWrite, nameOf } from './cases.ts'
import { contractOf } from './inventory.ts'
import { type Caller, runsOrg, seesTenant } from './relations.ts'
import type { AuditRow } from './state.ts'
import type { World } from './world.ts'

// What is wrong with an answer, in words; nothing if it is as the oracle says.

export interface Judged {
  readonly one: Case
  readonly answer: Answer
}

const codeOf = (text: string): string => {
  try {
    return (JSON.parse(text) as { error?: { code?: string } }).error?.code ?? 'no error'
  } catch {
    return 'no JSON'
  }
}

const validators = new Map<string, ReturnType<typeof Compile>>()

function judgeSuccess({ row, caller }: Case, { status, text }: Answer): string[] {
  const contract = contractOf(row.route)
  const expected = contract.status ?? 200
  if (status !== expected) return [`${status} ${codeOf(text)} instead of ${expected}`]
  const validator = validators.get(row.route) ?? Compile(contract.response)
  validators.set(row.route, validator)
  const missing = (row.shows?.(caller) ?? []).filter((shown) => !text.includes(shown))
  return [
    ...(validator.Check(row.streams ? text : JSON.parse(text))
      ? []
      : ['the answer is not in the shape of the contract']),
    ...missing.map((shown) => `does not show ${shown}`),
  ]
}

function judgeRefusal({ refusal }: Case, { status, text, requestId }: Answer): string[] {
  if (refusal === undefined) return []
  const got = `${status} ${codeOf(text)}`
  const expected = `${ERRORS[refusal].status} ${refusal}`
  if (got !== expected) return [`${got} instead of ${expected}`]
  return text.includes(`"requestId":"${requestId}"`) ? [] : ['the error names another request']
}

/** Canaries this caller may be shown by a success; a refusal shows none. */
function shownTo({ orgs }: World, { row, principal: { caller }, things, refusal }: Case): Set<string> {
  if (refusal !== undefined) return new Set()
  const places = orgs.flatMap((org) => org.places)
  const seen = places.filter(
    (place) =>
      caller !== undefined &&
      place.orgId === caller.home.orgId &&
      (caller.type === 'operator' || runsOrg(caller) || seesTenant(caller, place)),
  )
  const named = row.reveals ? Object.values(things).flatMap(({ place }) => place ?? []) : []
  return new Set([
    ...(caller ? [caller.home.orgCanary, ...onLists(caller)] : []),
    ...seen.map(({ canary }) => canary),
    ...named.flatMap((p) => [p.canary, p.orgCanary, p.vaultCanary, p.hiddenCanary]),
  ])
}

/** Everybody is on the lists of the vaults at home; an operator is on no list. */
const onLists = ({ type, home }: Caller): string[] => (type === 'operator' ? [] : [home.vaultCanary])

/** Labels of variables are written in their own way. */
const CANARY = /canary[-_](?:org|tenant|vault|hidden)[-_][a-z][0-9]?/gi
/** Documents travel as base64, and so do leaves. */
const ENCODED = /"([A-Za-z0-9+/]{24,}={0,2})"/g

function canariesIn(text: string): Set<string> {
  const decoded = [...text.matchAll(ENCODED)].map(([, part = '']) => Buffer.from(part, 'base64').toString('latin1'))
  const found = [text, ...decoded].flatMap((part) => part.match(CANARY) ?? [])
  return new Set(found.map((canary) => canary.toLowerCase().replaceAll('_', '-')))
}

function judgeCanaries(world: World, one: Case, { text }: Answer): string[] {
  const allowed = shownTo(world, one)
  const leaked = [...canariesIn(text)].filter((canary) => !allowed.has(canary))
  return leaked.map((canary) => `shows ${canary}`)
}

export const judge = (world: World, { one, answer }: Judged): string[] =>
  [
    ...(one.refusal === undefined ? judgeSuccess(one, answer) : judgeRefusal(one, answer)),
    ...judgeCanaries(world, one, answer),
  ].map((problem) => `${nameOf(one)}: ${problem}`)

/** Everything but the id of the request, and the ids that the caller sent. */
function comparable({ one, answer }: Judged): string {
  const sent = Object.values(one.things).flatMap(({ id }) => (id.length > 6 ? [id] : []))
  return [answer.requestId, ...sent].reduce((text, id) => text.replaceAll(id, '…'), `${answer.status} ${answer.text}`)
}

/** Foreign and absent are one answer: whatever is refused with the code of the absent one has its very body. */
export function judgeSameness(all: readonly Judged[]): string[] {
  const bySlot = groupBy(
    all.filter(({ one }) => one.refusal !== undefined && one.relation !== 'malformed'),
    ({ one }) => `${one.principal.name} ${one.slot}`,
  )
  return [...bySlot.values()].flatMap((group) => {
    const absent = group.find(({ one }) => one.relation === 'absent')
    if (!absent) return []
    return group
      .filter((other) => other.one.refusal === absent.one.refusal && comparable(other) !== comparable(absent))
      .map(({ one }) => `${nameOf(one)}: not the body of an absent one`)
  })
}

/** A refusal of somebody known leaves one event with its code in their organisation; a stranger leaves none. */
export function judgeAudit({ one, answer }: Judged, rows: readonly AuditRow[]): string[] {
  const { caller = one.principal.limited } = one.principal
  const found = rows.map(({ org_id, actor_id, outcome, error_code }) =>
    [org_id, actor_id, outcome, error_code].join(' '),
  )
  const isKnown = caller !== undefined && one.row.may !== 'everybody' && one.refusal !== 'missing_api_key'
  if (one.refusal !== undefined) {
    const due = isKnown ? [`${caller.home.orgId} ${caller.id} refused ${one.refusal}`] : []
    return found.join() === due.join() ? [] : [`${nameOf(one)}: audited as [${found}] instead of [${due}]`]
  }
  const changes = isWrite(one.row) && !one.row.silent && one.relation !== 'archived'
  const { secret = false } = one.row
  const isDue = isKnown && (changes || (secret !== false && (secret === true || secret(caller)))) && answer.status < 300
  const refused = rows.some(({ outcome }) => outcome === 'refused')
  return refused || (isDue && rows.length === 0) ? [`${nameOf(one)}: succeeded, audited as [${found}]`] : []
}
