import { describe, expect, it } from 'vitest'
import { EXTRA_CASES, faultsOfExtra } from './extra-cases.ts'

// The cases that only the mutation run needs, run here too, so that they hold before it starts.
// Seen red: the mutation run itself switches off the step behind each of them.

describe('refused is', () => {
  it.each(EXTRA_CASES.map((one) => [one.id, one] as const))('%s', async (_id, one) => {
    expect(await faultsOfExtra(one)).toEqual([])
  })

  it('each under a name of its own', () => {
    expect(new Set(EXTRA_CASES.map(({ id }) => id)).size).toBe(EXTRA_CASES.length)
  })
})
