import { pause } from '../engine/queue.ts'
import { ApiError, TransportError } from '../errors.ts'
import { AlreadyRefused, type Cosigned } from './auditor.ts'
import type { LogSource } from './log-source.ts'
import { Contradiction, FalseLeaf, keepContradiction, Unproven } from './refusals.ts'

// Looking again and again, and bringing each cosignature to the server, from where clients have it.

/** How the programs end. */
export const EXIT = { done: 0, failed: 1, usage: 2, falseLeaf: 3, contradiction: 4, unproven: 5 } as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export interface FollowOptions {
  look(source: LogSource): Promise<Cosigned>
  readonly source: LogSource
  readonly everyMs: number
  /** An unchanged checkpoint is cosigned anew after this time, so that clients can tell that it is still the newest. */
  readonly refreshMs: number
  /** Where evidence is kept. */
  readonly directory: string
  readonly signal: AbortSignal
  /** One look, and its outcome as the exit code. */
  readonly once: boolean
  say(line: string): void
}

export async function follow(options: FollowOptions): Promise<ExitCode> {
  let last: { size: number; at: number } | undefined
  for (;;) {
    const ended = await turn(options, last).then(
      (delivered) => {
        last = delivered
        return options.once ? EXIT.done : undefined
      },
      (error: unknown) => judge(options, error),
    )
    if (ended !== undefined) return ended
    if (options.signal.aborted) return EXIT.done
    await pause(options.everyMs, options.signal).catch(() => undefined)
    if (options.signal.aborted) return EXIT.done
  }
}

async function turn(
  { look, source, refreshMs, say }: FollowOptions,
  last: { size: number; at: number } | undefined,
): Promise<{ size: number; at: number }> {
  const { size, line } = await look(source)
  const now = Date.now()
  if (last && last.size === size && now - last.at < refreshMs) return last
  await source.deliver(size, line)
  say(`cosigned size ${size}`)
  return { size, at: now }
}

/** A false leaf ends it. A contradiction or trouble on the way may be over at the next look, unless only one was asked for. */
async function judge({ once, signal, say, directory }: FollowOptions, error: unknown): Promise<ExitCode | undefined> {
  if (signal.aborted) return EXIT.done
  if (error instanceof FalseLeaf || error instanceof AlreadyRefused) {
    say(`refused for ever: ${error.message}`)
    return EXIT.falseLeaf
  }
  if (error instanceof Contradiction) {
    const path = await keepContradiction(directory, error.evidence)
    say(`refused: ${error.message}; evidence in ${path}`)
    return once ? EXIT.contradiction : undefined
  }
  if (!(error instanceof Unproven || error instanceof ApiError || error instanceof TransportError)) throw error
  say(`not cosigned: ${error.message}`)
  return once ? EXIT.unproven : undefined
}
