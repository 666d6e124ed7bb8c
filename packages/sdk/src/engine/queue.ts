// One after the other: work on one thing waits for the work before it, whether that succeeded or not.

/** Who gives up while waiting is let go at once; the place is kept, and nothing is done there. */
export type InTurn = <T>(work: () => Promise<T>, signal?: AbortSignal) => Promise<T>

export function makeQueue(): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  return (work, signal) => {
    const before = last
    const next = orAborted(before, signal).then(work)
    last = before.then(() => next).catch(() => undefined)
    return next
  }
}

/** At most `limit` at a time; the results in the order of what was asked. The first failure ends it. */
export async function mapLimited<A, B>(
  inputs: readonly A[],
  limit: number,
  work: (input: A) => Promise<B>,
): Promise<readonly B[]> {
  const results: B[] = new Array(inputs.length)
  const waiting = inputs.entries()
  const worker = async (): Promise<void> => {
    for (const [i, input] of waiting) results[i] = await work(input)
  }
  await Promise.all(Array.from({ length: Math.min(limit, inputs.length) }, worker))
  return results
}

/** Waits, unless the caller gives up first. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const giveUp = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', giveUp)
      resolve()
    }, ms)
    signal?.addEventListener('abort', giveUp, { once: true })
  })
}

/** Waits for work that cannot be stopped, unless the caller gives up first. */
export function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  return new Promise((resolve, reject) => {
    const end = (): void => reject(signal.reason)
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  }).then((done) => {
    if (signal.aborted) throw signal.reason
    return done as T
  })
}
