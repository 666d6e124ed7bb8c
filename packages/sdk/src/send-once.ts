import { TransportError } from './errors.ts'

// What a person can send only once, under codes that nobody has seen yet: where its answer was lost, they would be locked out of what
// the server has taken.

/** Together a quarter of a minute: a network that comes back, a server that starts again. */
const PAUSES_MS = [0, 500, 1000, 2000, 4000, 8000]

/** Not what somebody ended: of a connection that broke, `fetch` knows nothing but a TypeError. */
const isLost = (error: unknown): boolean =>
  error instanceof TransportError && (error.cause === undefined || error.cause instanceof TypeError)

/** Whether it was taken; what was not is sent again. What is refused then may have been taken between the two. */
async function lookOrSend<T>(send: () => Promise<T>, look: () => Promise<T>): Promise<T> {
  try {
    return await look()
  } catch (error) {
    if (isLost(error)) throw error
  }
  return send().catch((refusal: unknown) => {
    if (isLost(refusal)) throw refusal
    return look().catch(() => {
      throw refusal
    })
  })
}

/** Sends it. Without an answer, `look` tells whether the server has it: then that is the answer. */
export async function sendOnce<T>(send: () => Promise<T>, look: () => Promise<T>): Promise<T> {
  try {
    return await send()
  } catch (lost) {
    if (!isLost(lost)) throw lost
    for (const ms of PAUSES_MS) {
      await new Promise((resolve) => setTimeout(resolve, ms))
      try {
        return await lookOrSend(send, look)
      } catch (error) {
        if (!isLost(error)) throw error
      }
    }
    throw lost
  }
}
