import { makeRandom } from './random.ts'

export const KILL_MODES = ['server', 'postgres', 'both'] as const
export type KillMode = (typeof KILL_MODES)[number]

export interface Options {
  /** One entry for each kill to be counted. */
  readonly plan: readonly KillMode[]
  readonly seed: number
  /** The mutant: PostgreSQL acknowledges before it has written. */
  readonly unsafe: boolean
  /** How many write at once; left to the suite if absent. */
  readonly writers?: number
}

const USAGE = 'usage: [--kills=N] [--seed=N] [--mode=server|postgres|both|all] [--writers=N] [--unsafe]'
const NAMES = ['kills', 'seed', 'mode', 'writers', 'unsafe']
/** Of all kills; the rest are of the server alone. */
const SHARE = { postgres: 0.25, both: 0.15 }

function planOf(mode: string, kills: number, seed: number): KillMode[] {
  const only = KILL_MODES.find((known) => known === mode)
  if (only) return Array.from({ length: kills }, () => only)
  if (mode !== 'all') throw new TypeError(USAGE)
  const postgres = Math.round(kills * SHARE.postgres)
  const both = Math.round(kills * SHARE.both)
  const all = Array.from(
    { length: kills },
    (_, i): KillMode => (i < postgres ? 'postgres' : i < postgres + both ? 'both' : 'server'),
  )
  return makeRandom(seed).shuffled(all)
}

export function readOptions(args: readonly string[], usualKills = 40): Options {
  const given = new Map(
    args.map((arg): [string, string] => [arg.replace(/^--|=.*$/g, ''), arg.replace(/^[^=]*=?/, '')]),
  )
  const unknown = [...given.keys()].find((name) => !NAMES.includes(name))
  const unsafe = given.has('unsafe')
  // The mutant loses only what PostgreSQL itself forgets.
  const mode = given.get('mode') ?? (unsafe ? 'postgres' : 'all')
  const kills = Number(given.get('kills') ?? (unsafe ? 5 : usualKills))
  const seed = Number(given.get('seed') ?? Math.floor(Math.random() * 2 ** 31))
  const writers = Number(given.get('writers') ?? 1)
  const areNumbers = [kills, seed, writers].every(Number.isSafeInteger) && kills > 0 && writers > 0
  if (unknown !== undefined || !areNumbers) throw new TypeError(USAGE)
  return { plan: planOf(mode, kills, seed), seed, unsafe, ...(given.has('writers') && { writers }) }
}
