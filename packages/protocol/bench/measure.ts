type Run = () => unknown

async function cpuOf(run: Run, times: number): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / times
}

/**
 * CPU time of one call in microseconds, for contenders that take turns: the best of many short batches, since other work on
 * the machine only adds, and turns, since it does not add evenly.
 */
export async function cpuMicroseconds(
  runs: readonly Run[],
  { rounds = 40, batchMs = 60 }: { rounds?: number; batchMs?: number } = {},
): Promise<number[]> {
  const times: number[] = []
  for (const run of runs) {
    for (let i = 0; i < 20; i++) await run()
    const start = process.hrtime.bigint()
    await run()
    times.push(Math.max(1, Math.ceil(batchMs / (Number(process.hrtime.bigint() - start) / 1e6))))
  }
  const best = runs.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < rounds; round++) {
    for (const [i, run] of runs.entries()) best[i] = Math.min(best[i] as number, await cpuOf(run, times[i] as number))
  }
  return best
}
