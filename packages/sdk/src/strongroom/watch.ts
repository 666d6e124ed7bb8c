import { toBase64url } from '@strongroom/protocol'
import type { Core } from './core.ts'
import { type EnvBundle, envBundle, vaultIdsOf } from './env-bundle.ts'
import { followEvents } from './events.ts'
import { isPassing, makeBell, pauseMs } from './looking.ts'
import { durationMs } from './options.ts'
import { AbortedError } from './public-errors.ts'
import { DISPOSE, Secret } from './secret.ts'
import { type EnvOptions, type EnvSource, secretsOf } from './secrets.ts'

export interface WatchOptions extends Pick<EnvOptions, 'allowNames' | 'optional'> {
  readonly signal?: AbortSignal
  /** How often it is looked at in any case, also where the server tells of changes by itself; a minute if absent. */
  readonly interval?: number | string
}

interface Difference {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

export interface EnvChange extends Difference {
  /** The whole environment now, verified. */
  readonly bundle: EnvBundle
}

const DEFAULT_INTERVAL_MS = 60_000

/** By name, what is known of the values from look to look: a bundle that was reported is the caller's, who may have disposed of it. */
type Digests = ReadonlyMap<string, string>

/** Under a key that only this watch has: what is kept says nothing of a value, however short it is. */
async function makeDigesting(): Promise<(bundle: EnvBundle) => Promise<Digests>> {
  const key = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return async (bundle) => {
    const digests = new Map<string, string>()
    for (const name of bundle.names) {
      const bytes = new Uint8Array(bundle.get(name)?.bytes() ?? [])
      digests.set(name, toBase64url(new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes))))
      bytes.fill(0)
    }
    return digests
  }
}

/** By their values: a new vault key makes new versions of all of them. */
function differenceOf(before: Digests, now: Digests): Difference {
  const names = [...now.keys()]
  return {
    added: names.filter((name) => !before.has(name)),
    changed: names.filter((name) => before.has(name) && before.get(name) !== now.get(name)),
    removed: [...before.keys()].filter((name) => !now.has(name)),
  }
}

const isEmpty = ({ added, changed, removed }: Difference): boolean =>
  added.length + changed.length + removed.length === 0

/** The reading of a watch. That it compares values reveals them to nobody, so the caller's hook hears only of what is handed over. */
function readerFor(core: Core, source: EnvSource, { allowNames = [], optional = [] }: WatchOptions) {
  const { onReveal, ...hooks } = core.config.hooks
  const { env } = secretsOf({ ...core, config: { ...core.config, hooks } })
  return {
    // Where the cache answers for a server that is away there is nothing new, and in the end it is too old to answer.
    read: (signal: AbortSignal, isFirst: boolean): Promise<EnvBundle> =>
      env(source, { allowNames, optional, signal, ...(!isFirst && { offline: false }) }),
    handOver: (bundle: EnvBundle): EnvBundle => {
      const secrets = bundle.names.flatMap((name) => {
        const secret = bundle.get(name)
        return secret ? [[name, new Secret(secret.bytes(), { ...secret, onReveal })] as const] : []
      })
      const { receipt, duplicates } = bundle
      return envBundle({ secrets: new Map(secrets), receipt, duplicates, vaultIds: vaultIdsOf(bundle) })
    },
  }
}

/**
 * The environment now, and then each change of it. A message of the server only says that it is time to look: what is reported
 * was read and verified. Ends with an error when the environment can no longer be read or does not verify.
 */
export async function* watchEnvironment(
  core: Core,
  source: EnvSource,
  options: WatchOptions = {},
): AsyncGenerator<EnvChange> {
  const { signal, interval = DEFAULT_INTERVAL_MS } = options
  const intervalMs = durationMs(interval, 'interval')
  const { read, handOver } = readerFor(core, source, options)
  const digestsOf = await makeDigesting()
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
    let before: Digests | undefined
    while (!ended.signal.aborted) {
      const bundle = await read(ended.signal, before === undefined).catch((error: unknown) => {
        if (ended.signal.aborted || (before && isPassing(error))) return undefined
        throw error
      })
      if (bundle) {
        vaultIds = new Set(vaultIdsOf(bundle))
        const now = await digestsOf(bundle)
        const difference = differenceOf(before ?? new Map(), now)
        const change = before && isEmpty(difference) ? undefined : { ...difference, bundle: handOver(bundle) }
        before = now
        bundle[DISPOSE]()
        if (change) yield change
      }
      await bell.wait(pauseMs(intervalMs, bundle !== undefined), ended.signal)
    }
    if (signal?.aborted) throw new AbortedError(signal.reason)
  } finally {
    signal?.removeEventListener('abort', stop)
    ended.abort()
    await following
  }
}
