import { isDeepStrictEqual } from 'node:util'
import type { Random } from '../random.ts'
import type { World } from '../world.ts'

// A kind of write. To put another one under load, add a file beside this one and a line to list.ts.

export interface Problem {
  /** Acknowledged and not there; everything else that is wrong is a failure. */
  readonly isLoss: boolean
  readonly what: string
}
export const lost = (what: string): Problem => ({ isLoss: true, what })
export const failed = (what: string): Problem => ({ isLoss: false, what })

export interface Writer {
  /** One client's round of writes, each through the journal. It is repeated for ever, by each client on its own. */
  round(random: Random, name: string): Promise<void>
  /** Compares all that was ever acknowledged with what is there now. */
  check(): Promise<Problem[]>
}

export interface Kind {
  readonly name: string
  readonly clients: number
  open(world: World): Promise<Writer>
}

/** Things by id, as they were last acknowledged. */
export interface Book<T> {
  keep(id: string, thing: T): void
  /** Acknowledged as gone. */
  strike(id: string): void
  /** `listed` is everything there is now. */
  compare(listed: ReadonlyMap<string, unknown>): Problem[]
}

export function makeBook<T>(noun: string): Book<T> {
  const kept = new Map<string, T>()
  const struck = new Set<string>()
  return {
    keep: (id, thing) => kept.set(id, thing),
    strike: (id) => {
      kept.delete(id)
      struck.add(id)
    },
    compare: (listed) => [
      ...[...kept].flatMap(([id, thing]) => {
        const there = listed.get(id)
        if (there === undefined) return [lost(`${noun} ${id} is gone`)]
        if (isDeepStrictEqual(there, thing)) return []
        return [lost(`${noun} ${id} is ${JSON.stringify(there)}, acknowledged was ${JSON.stringify(thing)}`)]
      }),
      ...[...struck].flatMap((id) => (listed.has(id) ? [lost(`${noun} ${id} is there again`)] : [])),
    ],
  }
}

export const byId = <K extends string, T extends Readonly<Record<K, string>>>(
  member: K,
  list: readonly T[],
): Map<string, T> => new Map(list.map((thing) => [thing[member], thing]))
