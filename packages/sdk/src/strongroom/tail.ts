import type { Core } from './core.ts'
import { followEvents, type VaultEvent } from './events.ts'
import { isPassing, makeBell, pauseMs } from './looking.ts'
import type { Monitoring } from './monitoring.ts'

const POLL_MS = 5_000

/** Every event once and in order: the stream only says when to ask. */
export async function* tail(
  core: Core,
  activity: Monitoring['activity'],
  { signal, after, interval = POLL_MS }: NonNullable<Parameters<Monitoring['tail']>[0]> = {},
): AsyncGenerator<VaultEvent> {
  let last = after ?? (await newest(activity, signal))
  let hasBegun = after === undefined
  const ended = new AbortController()
  const stop = (): void => ended.abort()
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted) stop()
  const bell = makeBell()
  const following = followEvents(core, ended.signal, { onEvent: bell.ring, onOpen: bell.ring })
  try {
    while (!ended.signal.aborted) {
      const rows = await activity({ after: last }, { signal: ended.signal })
        .all()
        .catch((error: unknown) => {
          if (ended.signal.aborted || (hasBegun && isPassing(error))) return undefined
          throw error
        })
      if (rows) {
        hasBegun = true
        yield* rows
        last = rows.at(-1)?.seq ?? last
        if (rows.length > 0) continue
      }
      await bell.wait(pauseMs(interval, rows !== undefined), ended.signal)
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    ended.abort()
    await following
  }
}

async function newest(activity: Monitoring['activity'], signal: AbortSignal | undefined): Promise<number> {
  let last = 0
  for await (const { seq } of activity({}, { signal })) last = seq
  return last
}
