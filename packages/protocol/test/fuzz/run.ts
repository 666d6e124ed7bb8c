import { utf8 } from '../../src/encoding/bytes.ts'
import { ProtocolError } from '../../src/errors.ts'
import { type Fixtures, fixtures } from './fixtures.ts'
import { makeRandom } from './random.ts'
import type { Target } from './target.ts'
import { clientTargets } from './targets-client.ts'
import { identityTargets } from './targets-identity.ts'
import { logTargets } from './targets-log.ts'
import { vaultTargets } from './targets-vault.ts'

// Runs cases and counts how they end. A case is named by seed, parser and number, and by nothing else.

export async function openTargets(): Promise<readonly Target[]> {
  const made: Fixtures = await fixtures()
  return [...identityTargets(made), ...logTargets(made), ...vaultTargets(made), ...clientTargets(made)]
}

export interface Failure {
  readonly target: string
  readonly index: number
  readonly error: string
}

export interface Result {
  readonly cases: number
  /** Of processor time: a busy machine must not make parsers look slow. */
  readonly microseconds: number
  /** `accepted`, or the code of the refusal. */
  readonly outcomes: Readonly<Record<string, number>>
  readonly failures: readonly Failure[]
}

/** A parser of a few kilobytes that takes so long has found an input to hang on. */
const TOO_LONG_MS = 10_000
const MAX_FAILURES = 5

export const casesOf = ({ share }: Target, count: number): number => Math.ceil(count * share)

export interface Range {
  readonly from: number
  readonly to: number
}

/** Runs the cases of one parser from `from` to just before `to`; `watch` hears of each before it begins. */
export async function runTarget(
  target: Target,
  seed: number,
  { from, to }: Range,
  watch: (index: number) => void = () => {},
): Promise<Result> {
  const random = makeRandom(seed, target.name)
  const outcomes: Record<string, number> = {}
  const failures: Failure[] = []
  const started = process.threadCpuUsage()
  let before = performance.now()
  for (let index = from; index < to; index++) {
    watch(index)
    random.start(index)
    const input = target.input(random)
    let outcome = await outcomeOf(target, input)
    const now = performance.now()
    if (typeof outcome === 'string' && now - before > TOO_LONG_MS) outcome = new Error(`took ${now - before} ms`)
    before = now
    const name = typeof outcome === 'string' ? outcome : 'FAILED'
    outcomes[name] = (outcomes[name] ?? 0) + 1
    if (typeof outcome !== 'string' && failures.length < MAX_FAILURES)
      failures.push({ target: target.name, index, error: describe(outcome) })
  }
  const { user, system } = process.threadCpuUsage(started)
  return { cases: to - from, microseconds: user + system, outcomes, failures }
}

/** How a case ended: accepted, refused with a code, or an error that must not be. */
async function outcomeOf(target: Target, input: unknown): Promise<unknown> {
  try {
    const ended = target.run(input as never)
    // Most parsers answer at once; waiting for them all the same would double the time of a run.
    if (ended instanceof Promise) await ended
    return 'accepted'
  } catch (error) {
    return error instanceof ProtocolError ? error.code : error
  }
}

const describe = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? String(error)).split('\n').slice(0, 4).join('\n') : String(error)

/** The input of one case, made again: bytes as they are, anything else as JSON, in which lone surrogates are escaped. */
export function inputOf(target: Target, seed: number, index: number): Uint8Array {
  const random = makeRandom(seed, target.name)
  random.start(index)
  const input = target.input(random)
  return input instanceof Uint8Array ? input : utf8(JSON.stringify(input) ?? String(input))
}
