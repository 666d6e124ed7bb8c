import { ProtocolError, peekCheckpoint } from '@strongroom/protocol'
import type { Cosigned } from './auditor.ts'
import type { LogSource } from './log-source.ts'
import { Contradiction, Unproven } from './refusals.ts'
import type { Verdict, Witness } from './witness.ts'

// The witness that comes by itself, for a log whose server calls nobody: it asks for the newest checkpoint and the proof that it
// continues the one cosigned last.

function sizeOf(note: string): number {
  try {
    return peekCheckpoint(note).size
  } catch (error) {
    throw error instanceof ProtocolError ? new Unproven(`the checkpoint is refused: ${error.code}`) : error
  }
}

const contradicted = (code: 'log_fork' | 'log_rollback', origin: string, served: string, known: string, more: object) =>
  new Contradiction({
    version: 1,
    kind: 'contradiction',
    code,
    origin,
    message: 'the log is not a continuation of the one that was cosigned',
    known,
    served,
    ...more,
  })

/** One look of a witness at one log. */
export async function lookAsWitness(witness: Witness, origin: string, source: LogSource): Promise<Cosigned> {
  const { size: old, note: last } = (await witness.known(origin)) ?? { size: 0, note: '' }
  const newest = await source.newest()
  const size = sizeOf(newest)
  const { note, proof } = old > 0 && size > old ? await source.since(old) : { note: newest, proof: [] }
  // A shorter log can never be cosigned again; whether it is really the log's is asked below, by its signature.
  const verdict = await witness.submit({ old: Math.min(old, size), proof, note })
  return settle(verdict, { origin, old, last, note, proof })
}

interface Asked {
  readonly origin: string
  readonly old: number
  readonly last: string
  readonly note: string
  readonly proof: readonly string[]
}

function settle(verdict: Verdict, { origin, old, last, note, proof }: Asked): Cosigned {
  switch (verdict.kind) {
    case 'cosigned':
      return { size: verdict.size, line: verdict.line }
    case 'fork':
      throw contradicted('log_fork', origin, note, verdict.known.note, {})
    case 'unproven':
      throw contradicted('log_fork', origin, note, last, { proof })
    case 'conflict':
      if (sizeOf(note) < old) throw contradicted('log_rollback', origin, note, last, {})
      throw new Unproven('another process of this witness went on meanwhile')
    case 'unknown-log':
      throw new Unproven('the server serves a log that this witness does not know')
    case 'untrusted':
    case 'malformed':
      throw new Unproven(verdict.reason)
  }
}
