import { fileURLToPath } from 'node:url'
import { StrongroomError } from '../../src/strongroom/strongroom-error.ts'
import { startServer } from '../engine/server.ts'
import { type Played, type Recording, recordSessions, type Session } from './sessions.ts'

// Random single changes of honest answers. Each must be refused, or make no difference to what is read and remembered.
// `npm run test:evil -- [cases] [seed]`

/** The same numbers for the same seed. */
function makeRandom(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

type Random = ReturnType<typeof makeRandom>
type Parent = Record<string, unknown> | unknown[]
interface Spot {
  readonly parent: Parent
  readonly key: string
}

const isParent = (value: unknown): value is Parent => typeof value === 'object' && value !== null

/** Every place of a value in JSON. */
function spotsIn(root: unknown): Spot[] {
  const spots: Spot[] = []
  const walk = (parent: unknown): void => {
    if (!isParent(parent)) return
    for (const key of Object.keys(parent)) {
      spots.push({ parent, key })
      walk((parent as Record<string, unknown>)[key])
    }
  }
  walk(root)
  return spots
}

const valueAt = ({ parent, key }: Spot): unknown => (parent as Record<string, unknown>)[key]
const put = ({ parent, key }: Spot, value: unknown): void => {
  ;(parent as Record<string, unknown>)[key] = value
}

/** A change of one place; `others` are the places of other answers. */
type Mutation = (spot: Spot, random: Random, spots: readonly Spot[], others: readonly Spot[]) => void

const one = <T>(list: readonly T[], random: Random): T => list[random(list.length)] as T

function flip(spot: Spot, random: Random): void {
  const value = valueAt(spot)
  if (typeof value === 'boolean') put(spot, !value)
  else if (typeof value === 'number') put(spot, value + (random(2) === 0 ? 1 : -1))
  else if (typeof value === 'string' && value.length > 0) {
    const at = random(value.length)
    const code = value.charCodeAt(at) ^ (1 << random(6))
    put(spot, value.slice(0, at) + String.fromCharCode(code) + value.slice(at + 1))
  } else put(spot, value === null ? 0 : null)
}

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  delete: ({ parent, key }) => {
    if (Array.isArray(parent)) parent.splice(Number(key), 1)
    else delete parent[key]
  },
  flip,
  swap: (spot, random, spots) => {
    const isAlike = (other: Spot): boolean => typeof valueAt(other) === typeof valueAt(spot)
    const other = one(spots.filter(isAlike), random)
    const value = valueAt(spot)
    put(spot, structuredClone(valueAt(other)))
    put(other, structuredClone(value))
  },
  replay: (spot, random, _, others) => {
    const named = others.filter((other) => other.key === spot.key)
    put(spot, structuredClone(valueAt(one(named.length > 0 ? named : others, random))))
  },
  type: (spot, random) => {
    const value = valueAt(spot)
    put(
      spot,
      one([null, 0, '', [], {}, true, [value], { value }, String(value), Number.MAX_SAFE_INTEGER, -1, 0.5], random),
    )
  },
  duplicate: ({ parent, key }) => {
    const value = structuredClone((parent as Record<string, unknown>)[key])
    if (Array.isArray(parent)) parent.splice(Number(key), 0, value)
    else parent[`${key}2`] = value
  },
}

const textOf = ({ bytes }: Played): string => new TextDecoder().decode(bytes)

function mutateBytes({ bytes }: Played, random: Random): Uint8Array<ArrayBuffer> {
  const copy = bytes.slice()
  const at = random(copy.length)
  if (random(3) === 0) return new Uint8Array([...copy.subarray(0, at), ...copy.subarray(at + 1)])
  copy[at] = (copy[at] ?? 0) ^ (1 << random(8))
  return copy
}

/** Where two texts part. */
function differenceOf(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at += 1
  return Math.max(at - 40, 0)
}

/** One changed answer, and what was changed. */
function mutate(answer: Played, all: readonly Played[], random: Random): { answer: Played; what: string } {
  const isRaw = !answer.type.includes('json') || random(10) === 0
  if (isRaw) return { answer: { ...answer, bytes: mutateBytes(answer, random) }, what: 'bytes' }
  const root = JSON.parse(textOf(answer)) as unknown
  const spots = spotsIn(root)
  const other = one(
    all.filter(({ type }) => type.includes('json')),
    random,
  )
  const kind = one(Object.keys(MUTATIONS), random)
  const spot = one(spots, random)
  MUTATIONS[kind]?.(spot, random, spots, spotsIn(JSON.parse(textOf(other))))
  const text = JSON.stringify(root)
  return {
    answer: { ...answer, bytes: new TextEncoder().encode(text) },
    what: `${kind} ${spot.key} of ${textOf(answer)
      .slice(differenceOf(textOf(answer), text))
      .slice(0, 120)}`,
  }
}

export interface Fault {
  readonly session: string
  readonly asked: string
  readonly what: string
  readonly outcome: string
}

export interface Tally {
  readonly cases: number
  readonly refused: number
  readonly same: number
  readonly faults: readonly Fault[]
  readonly seed: number
}

/** What is wrong with how a client took a changed session; undefined if nothing is. */
async function faultOf(
  recording: Recording,
  session: Session,
  answers: readonly Played[],
): Promise<string | 'refused' | undefined> {
  try {
    return (await recording.play(session, answers)) === session.honest ? undefined : 'another result'
  } catch (error) {
    if (!StrongroomError.is(error) && (error as Error).name !== 'ProtocolError') return `crashed: ${String(error)}`
    return (error as { code?: string }).code === 'client_error'
      ? `crashed: ${String((error as Error).cause)}`
      : 'refused'
  }
}

export async function runMutations(recording: Recording, cases: number, seed: number): Promise<Tally> {
  const random = makeRandom(seed)
  const all = recording.sessions.flatMap(({ answers }) => answers)
  const faults: Fault[] = []
  let [refused, same] = [0, 0]
  for (let i = 0; i < cases; i += 1) {
    const session = one(recording.sessions, random)
    const at = random(session.answers.length)
    const { answer, what } = mutate(session.answers[at] as Played, all, random)
    const outcome = await faultOf(recording, session, session.answers.with(at, answer))
    if (outcome === undefined) same += 1
    else if (outcome === 'refused') refused += 1
    else faults.push({ session: session.name, asked: answer.asked, what, outcome })
  }
  return { cases, refused, same, faults, seed }
}

export const describeTally = ({ cases, refused, same, faults, seed }: Tally): string =>
  `${cases} cases: ${refused} refused, ${same} with the honest result, ${faults.length} failures, seed ${seed}`

const [, script, count = '10000', given] = process.argv
if (script === fileURLToPath(import.meta.url)) {
  const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given)
  const server = await startServer()
  try {
    const tally = await runMutations(await recordSessions(server.url, server.founder), Number(count), seed)
    for (const fault of tally.faults) console.error(fault)
    console.log(describeTally(tally))
    process.exitCode = tally.faults.length > 0 ? 1 : 0
  } finally {
    await server.close()
  }
}
