import { monitorEventLoopDelay } from 'node:perf_hooks'

// How this process feels: how late its event loop runs, and what memory it takes.

export interface LoopLag {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

export interface Vitals {
  /** Over the last ten to twenty seconds. */
  loopLag(): LoopLag
  stop(): void
}

const WINDOW_MS = 10_000
const RESOLUTION_MS = 20
const NONE: LoopLag = { p50Ms: 0, p99Ms: 0, maxMs: 0 }

export function startVitals(): Vitals {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  // The sampler's own interval is part of every sample.
  const late = (nanoseconds: number): number => Math.max(0, Math.round(nanoseconds / 1e3) / 1e3 - RESOLUTION_MS)
  const read = (): LoopLag =>
    histogram.count === 0
      ? NONE
      : { p50Ms: late(histogram.percentile(50)), p99Ms: late(histogram.percentile(99)), maxMs: late(histogram.max) }
  let previous = NONE
  const timer = setInterval(() => {
    previous = read()
    histogram.reset()
  }, WINDOW_MS)
  timer.unref()
  return {
    loopLag: () => {
      const current = read()
      return {
        p50Ms: Math.max(previous.p50Ms, current.p50Ms),
        p99Ms: Math.max(previous.p99Ms, current.p99Ms),
        maxMs: Math.max(previous.maxMs, current.maxMs),
      }
    },
    stop: () => {
      clearInterval(timer)
      histogram.disable()
    },
  }
}
