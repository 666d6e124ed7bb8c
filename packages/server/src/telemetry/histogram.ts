// Durations in fixed log-scale buckets: the same in every process and every minute, so that histograms add up. Four edges per
// doubling, from a quarter of a millisecond to a minute: a quantile is off by less than a fifth.

const FIRST_EDGE_MS = 0.25
const EDGES_PER_DOUBLING = 4
/** The last bucket has no upper edge. */
export const BUCKETS = 74

/** What is at most this long and longer than the edge before belongs to bucket `index`. */
export const upperEdgeMs = (index: number): number => FIRST_EDGE_MS * 2 ** (index / EDGES_PER_DOUBLING)

export function bucketOf(durationMs: number): number {
  if (!(durationMs > FIRST_EDGE_MS)) return 0
  return Math.min(BUCKETS - 1, Math.ceil(Math.log2(durationMs / FIRST_EDGE_MS) * EDGES_PER_DOUBLING - 1e-9))
}

/** The duration that a share of `q` of the requests did not exceed, interpolated inside its bucket; 0 without requests. */
export function quantileMs(buckets: readonly number[], q: number): number {
  const total = buckets.reduce((sum, count) => sum + count, 0)
  const wanted = q * total
  let below = 0
  for (const [index, count] of buckets.entries()) {
    if (count > 0 && below + count >= wanted) {
      const from = index === 0 ? 0 : upperEdgeMs(index - 1)
      return round(from + (upperEdgeMs(index) - from) * ((wanted - below) / count))
    }
    below += count
  }
  return 0
}

const round = (ms: number): number => Math.round(ms * 1000) / 1000
