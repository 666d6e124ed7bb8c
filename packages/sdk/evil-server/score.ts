import type { Attack } from './attack.ts'

// What became of each attack. An attack that no client was served counts as not run, never as passed.

export type Verdict = 'not run' | 'delivered' | 'passed' | 'FAILED'

export interface ScoreLine {
  readonly number: string
  readonly name: string
  readonly verdict: Verdict
  /** How many altered answers were served. */
  readonly delivered: number
  /** What the client said, where it was reported. */
  readonly reported: string | null
  /** Why the answer could not be altered. */
  readonly lacking: string | null
}

interface Entry {
  delivered: number
  reported: string | null
  lacking: string | null
  /** Requests that came to the other origin. */
  strayed: number
}

export interface Score {
  delivered(attack: Attack): void
  lacking(attack: Attack, what: string): void
  strayed(attack: Attack | undefined): void
  /** `code` is what a client said, `same` if its result was the honest one, `accepted` if it took the lie. */
  report(attack: Attack, code: string): void
  lines(): readonly ScoreLine[]
}

export function makeScore(attacks: readonly Attack[]): Score {
  const entries = new Map<string, Entry>()
  const entryOf = ({ name }: Attack): Entry => {
    const entry = entries.get(name) ?? { delivered: 0, reported: null, lacking: null, strayed: 0 }
    entries.set(name, entry)
    return entry
  }
  return {
    delivered: (attack) => {
      entryOf(attack).delivered += 1
    },
    lacking: (attack, what) => {
      entryOf(attack).lacking = what
    },
    strayed: (attack) => {
      if (attack) entryOf(attack).strayed += 1
    },
    report: (attack, code) => {
      entryOf(attack).reported = code
    },
    lines: () =>
      attacks.map((attack) => {
        const { delivered, reported, lacking } = entryOf(attack)
        return {
          number: attack.number,
          name: attack.name,
          verdict: verdictOf(attack, entryOf(attack)),
          delivered,
          reported,
          lacking,
        }
      }),
  }
}

function verdictOf({ expect }: Attack, { delivered, reported, strayed }: Entry): Verdict {
  if (delivered === 0) return 'not run'
  if (strayed > 0) return 'FAILED'
  if (reported === null) return 'delivered'
  // Another client has codes of its own: what counts is that it refused, or gave the honest result where that is right.
  const isRight = expect.codes.includes('same') ? reported === 'same' : reported !== 'same' && reported !== 'accepted'
  return isRight ? 'passed' : 'FAILED'
}

export function printScore(lines: readonly ScoreLine[]): string {
  const count = (verdict: Verdict): number => lines.filter((line) => line.verdict === verdict).length
  const rows = lines.map(({ number, name, verdict, reported, lacking }) =>
    [number.padStart(3), name.padEnd(36), verdict.padEnd(9), reported ?? (lacking === null ? '' : `needs ${lacking}`)]
      .join('  ')
      .trimEnd(),
  )
  const sum = `${count('passed')} passed, ${count('FAILED')} failed, ${count('delivered')} delivered without a report, ${count('not run')} not run`
  return `${rows.join('\n')}\n${sum}\n`
}
