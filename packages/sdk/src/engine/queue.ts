// One after the other: work on one thing waits for the work before it, whether that succeeded or not.

export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

export function makeQueue(): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work, work)
    last = next.catch(() => undefined)
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
export function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const end = (): void => reject(signal.reason)
    signal.addEventListener('abort', end, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  }).then((done) => {
    if (signal.aborted) throw signal.reason
    return done as T
  })
}
