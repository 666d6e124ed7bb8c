// A small run of the fuzz suite with a fixed seed; `npm run test:fuzz` runs a million cases with a new one each time.
// Seen red on the breakages named in fuzz.ts.
import { beforeAll, describe, expect, it } from 'vitest'
import { casesOf, openTargets, type Result, runTarget } from './run.ts'
import type { Target } from './target.ts'

const COUNT = 2000
const SEED = 1

let targets: readonly Target[]
beforeAll(async () => {
  targets = await openTargets()
})

// Cases and outcomes: a parser whose inputs are all alike would survive anything.
const runs = new Map<string, Result>()

describe('every parser', () => {
  it('refuses with a named error or accepts what is right, whatever it is given', async () => {
    for (const target of targets) {
      const to = Math.max(20, casesOf(target, COUNT))
      const result = await runTarget(target, SEED, { from: 0, to })
      expect(result.failures).toEqual([])
      runs.set(target.name, result)
    }
    expect(runs.size).toBe(targets.length)
  }, 120_000)

  it('is given inputs of which it accepts some and refuses others', () => {
    for (const [name, { outcomes, cases }] of runs) {
      if (cases < 100) continue
      expect(Object.keys(outcomes).length, `${name}: ${JSON.stringify(outcomes)}`).toBeGreaterThan(1)
    }
  })

  it('is given the same inputs again for the same seed, and others for another', async () => {
    const [first] = targets as readonly [Target]
    const again = await runTarget(first, SEED, { from: 0, to: COUNT })
    expect(again.outcomes).toEqual(runs.get(first.name)?.outcomes)
    const other = await runTarget(first, SEED + 1, { from: 0, to: COUNT })
    expect(other.outcomes).not.toEqual(again.outcomes)
  })
})
