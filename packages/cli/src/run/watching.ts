import type { EnvBundle, Strongroom } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { shownError } from '../errors/shown.ts'
import { asksNothing, type Part } from '../project/read-sources.ts'

// The sources of a running child, as they change. A change that cannot be read or does not verify is said aloud, and the child goes
// on with what it has.

export interface PartRead {
  readonly part: Part
  readonly bundle: EnvBundle | undefined
}

export interface Watching {
  readonly first: readonly PartRead[]
  /** From now on, with everything as it is after each change. */
  follow(onChange: (now: readonly PartRead[]) => void): void
  stop(): void
}

export async function watchParts(cli: Cli, { secrets }: Strongroom, parts: readonly Part[]): Promise<Watching> {
  const ended = new AbortController()
  const open = async (part: Part) => {
    if (asksNothing(part)) return { part, changes: undefined, bundle: undefined }
    const changes = secrets.watch(part.source, { ...part.options, signal: ended.signal })[Symbol.asyncIterator]()
    const { value } = await changes.next().catch(async (error: unknown) => {
      const { namingVariable } = await import('../project/missing-reference.ts')
      throw await namingVariable(error, part, (one) => secrets.env(one, { ...part.options, signal: ended.signal }))
    })
    return { part, changes, bundle: value?.bundle as EnvBundle | undefined }
  }
  const opened = await Promise.all(parts.map(open)).catch((error: unknown) => {
    ended.abort()
    throw error
  })
  const now: PartRead[] = opened.map(({ part, bundle }) => ({ part, bundle }))
  return {
    first: [...now],
    follow: (onChange) => {
      for (const [i, { part, changes }] of opened.entries())
        if (changes)
          followOne(changes, (bundle) => {
            now[i] = { part, bundle }
            onChange([...now])
          }).catch((error: unknown) => {
            if (!ended.signal.aborted) cli.error(shownError(error))
          })
    },
    stop: () => ended.abort(),
  }
}

async function followOne(
  changes: AsyncIterator<{ readonly bundle: EnvBundle }>,
  onBundle: (bundle: EnvBundle) => void,
): Promise<void> {
  for (let next = await changes.next(); !next.done; next = await changes.next()) onBundle(next.value.bundle)
}
