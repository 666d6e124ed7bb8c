import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Bytes, fromHex } from '../../src/encoding/bytes.ts'
import { platform as nodePlatform } from '../../src/platform/node.ts'
import type { Platform } from '../../src/platform/platform.ts'
import { platform as webPlatform } from '../../src/platform/web.ts'

// Data that is not ours and never committed: the folder named by STRONGROOM_VECTORS, beside the project by default.

const projectRoot = resolve(import.meta.dirname, '../../../..')
const folder = resolve(projectRoot, process.env.STRONGROOM_VECTORS ?? '../shared/vectors')

/** Whether the folder holds this; says so once where it does not, because a skipped suite must give its reason. */
export function hasData(name: string): boolean {
  const found = existsSync(resolve(folder, name))
  if (!found) console.info(`skipped: ${name}, because the folder named by STRONGROOM_VECTORS does not hold it`)
  return found
}

export const readData = (...path: readonly string[]): string => readFileSync(resolve(folder, ...path), 'utf8')

/** Both implementations of the platform run in Node, the one for browsers on its WebCrypto. */
export const PLATFORMS: readonly (readonly [name: string, platform: Platform])[] = [
  ['node', nodePlatform],
  ['web', webPlatform],
]

export type Verdict = 'valid' | 'invalid' | 'acceptable'
export interface WycheproofCase {
  readonly tcId: number
  readonly comment?: string
  readonly flags: readonly string[]
  readonly result: Verdict
}

interface WycheproofFile<G, T> {
  readonly numberOfTests: number
  readonly testGroups: readonly (G & { readonly tests: readonly (T & WycheproofCase)[] })[]
}

/** The cases of a Wycheproof file, each with its group. Refuses a file that does not hold as many as it says. */
export function wycheproof<G extends object, T extends object>(name: string): readonly (T & G & WycheproofCase)[] {
  const file = JSON.parse(readData('wycheproof', `${name}_test.json`)) as WycheproofFile<G, T>
  const cases = file.testGroups.flatMap(({ tests, ...group }) => tests.map((test) => ({ ...group, ...test })))
  if (cases.length !== file.numberOfTests)
    throw new Error(`${name} holds ${cases.length} of ${file.numberOfTests} cases`)
  return cases as unknown as readonly (T & G & WycheproofCase)[]
}

export interface Tally {
  readonly file: string
  readonly total: number
  /** Cases that were run. */
  run: number
  readonly mismatches: string[]
}

export const makeTally = (file: string, total: number): Tally => ({ file, total, run: 0, mismatches: [] })

/** Counts one case, and notes it where the outcome is not the expected one. */
export function judge(tally: Tally, { tcId, comment = '' }: WycheproofCase, outcome: unknown, expected: unknown): void {
  tally.run++
  if (outcome !== expected) tally.mismatches.push(`${tcId} ${comment}: ${String(outcome)}, not ${String(expected)}`)
}

export const report = ({ file, total, run, mismatches }: Tally): void =>
  console.info(`${file}: ${run} of ${total} cases run, ${mismatches.length} mismatches`)

export const bytes = (hex: string): Bytes => fromHex(hex)

/** A platform may say no by an exception; the protocol then says it with a code of its own. */
export async function orThrown<T>(run: () => T | Promise<T>): Promise<T | 'thrown'> {
  try {
    return await run()
  } catch {
    return 'thrown'
  }
}
