/** Background work of this process. */
export interface Repeating {
  /** Does the work now instead of at its next turn. */
  nudge(): void
  /** Waits for the running turn, takes a last one, and ends. */
  stop(): Promise<void>
}

/** Repeats `work`, one turn at a time. A turn that fails is reported and does not end the repetition. */
export function repeat(intervalMs: number, work: () => Promise<void>, onFailure: (error: unknown) => void): Repeating {
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  const turn = (): Promise<void> => {
    clearTimeout(timer)
    running ??= work()
      .catch(onFailure)
      .finally(() => {
        running = undefined
        if (!stopped) schedule()
      })
    return running
  }
  const schedule = (): void => {
    timer = setTimeout(() => void turn(), intervalMs)
    // Background work never keeps a process alive.
    timer.unref()
  }
  schedule()
  return {
    nudge: () => {
      if (!stopped) void turn()
    },
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await running
      await turn()
    },
  }
}
