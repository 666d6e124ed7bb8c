import { expect, it } from 'vitest'
import { runSuite, type Suite } from './crash/cycles.ts'

// The small form of `npm run test:writers`: sixteen clients of one vault, the server killed and then PostgreSQL, each in the middle of
// writes. Seen red: `synchronous_commit = off` (lost, and two roots of one size); a rebase that keeps its own view of an item (lost); an
// append without the lock on its log (faults, since a neighbour writes too); no line and no turns (nine rebases); Fastify's own refusal
// while the server stops (a fault: no time to come again).

const SUITE: Suite = {
  name: 'vault-writers',
  load: new URL('./crash/vault-load.ts', import.meta.url),
  pace: { ackedPerSecond: 1, inFlight: 8 },
  aim: { ackedPerSecond: 2, inFlight: 10 },
}

it('keeps every acknowledged write of sixteen clients exactly once, in the log and in what is read, through two kills', {
  timeout: 600_000,
}, async () => {
  const summary = await runSuite(SUITE, { plan: ['server', 'postgres'], seed: 4, unsafe: false, writers: 16 })
  expect(summary).toMatchObject({ cases: 2, failed: 0, lost: 0, doubled: 0, inconsistent: 0 })
  expect(summary.maxRebases).toBeLessThanOrEqual(8)
  expect(summary.acked).toBeGreaterThanOrEqual(16)
  expect(summary.checkpoints).toBeGreaterThanOrEqual(16)
})
