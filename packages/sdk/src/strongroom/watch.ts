import type { RequestOptions } from './call.ts'
import type { Core } from './core.ts'
import { type EnvBundle, vaultIdsOf } from './env-bundle.ts'
import { followEvents } from './events.ts'
import { durationMs } from './options.ts'
import { AbortedError, ConnectionError, RateLimitError, ServerError } from './public-errors.ts'
import type { EnvOptions } from './secrets.ts'

export interface WatchOptions extends Pick<EnvOptions, 'allowNames' | 'optional'> {
  readonly signal?: AbortSignal
  /** How often it is looked at in any case, also where the server tells of changes by itself; a minute if absent. */
  readonly interval?: number | string
}

export interface EnvChange {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
  /** The whole environment now, verified. */
  readonly bundle: EnvBundle
}

const DEFAULT_INTERVAL_MS = 60_000
const RETRY_MS = 2_000

function differenceOf(before: EnvBundle | undefined, bundle: EnvBundle): EnvChange {
  const old = new Set(before?.names)
  const isChanged = (name: string): boolean => {
    const [was, is] = [before?.get(name), bundle.get(name)]
    return was !== undefined && is !== undefined && (was.version !== is.version || !is.equals(was))
  }
  return {
    added: bundle.names.filter((name) => !old.has(name)),
    changed: bundle.names.filter((name) => old.has(name) && isChanged(name)),
    removed: [...old].filter((name) => bundle.get(name) === undefined),
    bundle,
  }
}

const isEmpty = ({ added, changed, removed }: EnvChange): boolean =>
  added.length + changed.length + removed.length === 0

/** The server is away for a while: what was read stays as it is. */
const isPassing = (error: unknown): boolean =>
  error instanceof ConnectionError || error instanceof ServerError || error instanceof RateLimitError

/**
 * The environment now, and then each change of it. A message of the server only says that it is time to look: what is reported
 * was read and verified. Ends with an error when the environment can no longer be read or does not verify.
 */
export async function* watchEnvironment(
  core: Core,
  read: (options: RequestOptions) => Promise<EnvBundle>,
  { signal, interval = DEFAULT_INTERVAL_MS }: WatchOptions = {},
): AsyncGenerator<EnvChange> {
  const intervalMs = durationMs(interval, 'interval')
  const ended = new AbortController()
  const stop = (): void => ended.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted) stop()
  let vaultIds: ReadonlySet<string> = new Set()
  const bell = makeBell()
  const following = followEvents(core, ended.signal, {
    onEvent: ({ vaultId }) => vaultIds.has(vaultId) && bell.ring(),
    // What happened between two streams is looked for.
    onOpen: bell.ring,
  })
  try {
    let before: EnvBundle | undefined
    while (!ended.signal.aborted) {
      const bundle = await read({ signal: ended.signal }).catch((error: unknown) => {
        if (ended.signal.aborted || (before && isPassing(error))) return undefined
        throw error
      })
      if (bundle) {
        vaultIds = new Set(vaultIdsOf(bundle))
        const change = differenceOf(before, bundle)
        const isFirst = before === undefined
        before = bundle
        if (isFirst || !isEmpty(change)) yield change
      }
      await bell.wait(bundle ? intervalMs : Math.min(RETRY_MS, intervalMs), ended.signal)
    }
    if (signal?.aborted) throw new AbortedError(signal.reason)
  } finally {
    signal?.removeEventListener('abort', stop)
    ended.abort()
    await following
  }
}

/** Rings are not lost while nobody waits, and not counted. */
function makeBell(): { ring(): void; wait(ms: number, signal: AbortSignal): Promise<void> } {
  let isRung = false
  let wake: (() => void) | undefined
  return {
    ring: () => {
      isRung = true
      wake?.()
    },
    wait: (ms, signal) =>
      new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', done)
          wake = undefined
          isRung = false
          resolve()
        }
        const timer = setTimeout(done, ms)
        if (isRung || signal.aborted) return done()
        wake = done
        signal.addEventListener('abort', done, { once: true })
      }),
  }
}
