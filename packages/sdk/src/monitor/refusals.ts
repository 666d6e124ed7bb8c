import { createHash } from 'node:crypto'
import { mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'

// What a cosigner says no with. A false leaf is for ever; a contradiction lasts while the log contradicts what was vouched for;
// anything else may be over at the next look.

/** A leaf of the signed log that the rules do not allow. */
export class FalseLeaf extends Error {
  override name = 'FalseLeaf'
  readonly evidence: FalseLeafEvidence
  constructor(evidence: FalseLeafEvidence) {
    super(`leaf ${evidence.leafIndex} breaks the rule ${evidence.rule}: ${evidence.message}`)
    this.evidence = evidence
  }
}

/** The log is not the one that was seen before. */
export class Contradiction extends Error {
  override name = 'Contradiction'
  readonly evidence: ContradictionEvidence
  constructor(evidence: ContradictionEvidence) {
    super(`${evidence.code}: ${evidence.message}`)
    this.evidence = evidence
  }
}

/** Nothing is proven against the log, and nothing can be vouched for either. */
export class Unproven extends Error {
  override name = 'Unproven'
}

/** What is served is not what is signed: other leaves, or a log that does not continue the one replayed so far. */
export class LeavesDiffer extends Unproven {
  override name = 'LeavesDiffer'
}

export interface FalseLeafEvidence {
  readonly version: 1
  readonly kind: 'false-leaf'
  readonly org: string
  readonly origin: string
  readonly leafIndex: number
  /** A code of docs/reference/protocol.md 9.3. */
  readonly rule: string
  readonly message: string
  readonly details: unknown
  /** A checkpoint signed by the log that the leaf is in. */
  readonly checkpoint: string
  /** base64, and the rest as it was served. */
  readonly leaf: string
  readonly documents: readonly unknown[]
  readonly documentList?: string
  readonly updateList?: string
}

export interface ContradictionEvidence {
  readonly version: 1
  readonly kind: 'contradiction'
  readonly code: 'log_fork' | 'log_rollback'
  readonly origin: string
  readonly message: string
  /** Both as the log signed them; the first may be a minimum somebody told us, without a signature. */
  readonly known: string
  readonly served: string
  /** base64, what was served as a proof that the one continues the other. */
  readonly proof?: readonly string[]
}

const isThere = (error: unknown): boolean => (error as { code?: string }).code === 'EEXIST'

async function keep(directory: string, name: string, content: unknown): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, name)
  try {
    const file = await open(path, 'wx', 0o600)
    try {
      await file.writeFile(`${JSON.stringify(content, undefined, 2)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
  } catch (error) {
    // The first evidence is the one that is kept.
    if (!isThere(error)) throw error
  }
  return path
}

const REFUSED = 'refused.json'

/** While this file is there, nothing of the log is ever cosigned again. */
export const keepRefusal = (directory: string, evidence: FalseLeafEvidence): Promise<string> =>
  keep(directory, REFUSED, evidence)

export interface Refused {
  readonly path: string
  readonly leafIndex: unknown
  readonly rule: unknown
}

export async function refusalIn(directory: string): Promise<Refused | undefined> {
  const path = join(directory, REFUSED)
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if ((error as { code?: string }).code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  return { path, ...whatItSays(text) }
}

/** A file that was cut off says no less clearly that there is something. */
function whatItSays(text: string): Pick<Refused, 'leafIndex' | 'rule'> {
  try {
    const { leafIndex, rule } = JSON.parse(text) as Partial<FalseLeafEvidence>
    return { leafIndex, rule }
  } catch {
    return { leafIndex: 'unknown', rule: 'unknown' }
  }
}

/** The same contradiction is written down once, however often it is met. */
export function keepContradiction(directory: string, evidence: ContradictionEvidence): Promise<string> {
  const name = createHash('sha256').update(`${evidence.known}\0${evidence.served}`).digest('hex').slice(0, 16)
  return keep(directory, `contradiction-${name}.json`, evidence)
}
