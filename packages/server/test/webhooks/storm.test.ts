import { expect, inject, it } from 'vitest'
import { copyDatabase } from '../postgres.ts'
import { runStorm } from './storm.ts'

// The small form of `npm run test:webhooks`. Catches: an event that is fanned out but not claimed again after a kill, a fan-out that is not
// one transaction with its deliveries, a retry that is forgotten, an event that is told before it is committed.
// Seen red: a second retry left out.

it('delivers every committed event to every endpoint, and none that was rolled back, through faults and kills', async () => {
  const logins = await copyDatabase(inject('postgres'))
  const result = await runStorm(logins, { events: 40, kills: 1, seed: 7, faults: 0.4 })
  await logins.drop()
  expect(result.failures).toEqual([])
  expect(result.rolledBack).toBeGreaterThan(0)
  // Whoever is killed in the middle sends again; nothing else does.
  expect(result.duplicates).toBeLessThanOrEqual(32)
})
