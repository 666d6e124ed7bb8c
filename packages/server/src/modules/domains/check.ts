import { type CheckedSet, RECORD_TYPES, type RecordType } from '@strongroom/contract'
import type { Config } from '../../config.ts'
import { isInNetworks, isPublicAddress } from '../../outside/addresses.ts'
import type { EgressPolicy } from '../../outside/egress.ts'
import type { ZoneRecord } from './records.ts'
import { type Answer, askAll } from './resolver.ts'
import { expectedOf, type Value } from './values.ts'

// What a resolver answers beside what is kept here. The SOA is left out: its serial is the name server's, and caches lag behind it.

interface RecordSet {
  readonly name: string
  readonly type: RecordType
  readonly expected: readonly Value[]
}

const MOST_SETS = 200
const MOST_VALUES = 16
const MOST_CHARACTERS = 500

const typeOf = (text: string): RecordType | undefined => RECORD_TYPES.find((type) => type === text)

/** Records that are disabled are not served, so nobody can find them. */
function setsOf(records: readonly ZoneRecord[]): readonly RecordSet[] {
  const sets = new Map<string, RecordSet>()
  for (const record of records) {
    const type = typeOf(record.type)
    if (!type || record.disabled) continue
    const { name } = record
    const key = `${name} ${type}`
    sets.set(key, { name, type, expected: [...(sets.get(key)?.expected ?? []), expectedOf(type, record)] })
  }
  return [...sets.values()]
}

const keysOf = (values: readonly Value[]): ReadonlySet<string> => new Set(values.map(({ key }) => key))

const isEqual = (a: ReadonlySet<string>, b: ReadonlySet<string>): boolean =>
  a.size === b.size && [...a].every((key) => b.has(key))

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** One line without anything that a terminal or a page would obey. */
const harmless = (text: string): string =>
  text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)

const cut = (text: string): string => (text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text)

const isAddress = (type: RecordType): boolean => type === 'A' || type === 'AAAA'

/** The name of a domain is easily claimed, and what a name leads to inside is nobody's to learn: such an address is not told. */
function shownOf({ type, expected }: RecordSet, values: readonly Value[], { allowed }: EgressPolicy): string[] {
  const known = keysOf(expected)
  const isTold = ({ key }: Value): boolean =>
    !isAddress(type) || known.has(key) || isPublicAddress(key) || isInNetworks(key, allowed)
  return values.slice(0, MOST_VALUES).map((value) => (isTold(value) ? cut(harmless(value.text)) : 'private address'))
}

function judge(set: RecordSet, answer: Answer, policy: EgressPolicy): CheckedSet {
  const { name, type } = set
  const expected = set.expected.map(({ text }) => harmless(text))
  if ('reason' in answer) {
    const { reason } = answer
    const verdict = reason === 'NXDOMAIN' || reason === 'NODATA' ? 'missing' : 'no_answer'
    return { name, type, expected, found: [], foundTotal: 0, verdict, reason }
  }
  const { values } = answer
  const isSame = isEqual(keysOf(values), keysOf(set.expected))
  const found = shownOf(set, values, policy)
  return { name, type, expected, found, foundTotal: values.length, verdict: isSame ? 'same' : 'differs', reason: null }
}

export interface Checked {
  readonly resolvers: string[]
  readonly sets: CheckedSet[]
  readonly unchecked: number
}

export async function checkRecords(
  { dnsResolvers, egress }: Pick<Config, 'dnsResolvers' | 'egress'>,
  records: readonly ZoneRecord[],
): Promise<Checked> {
  const sets = setsOf(records)
  const { resolvers, answers } = await askAll(dnsResolvers, sets.slice(0, MOST_SETS))
  const judged = answers.map((set) => judge(set, set.answer, egress))
  return { resolvers: [...resolvers], sets: judged, unchecked: sets.length - judged.length }
}
