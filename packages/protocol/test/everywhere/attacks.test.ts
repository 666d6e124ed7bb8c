import { describe, expect, it } from 'vitest'
import { ATTACKS, HONEST } from '../attacks/all.ts'
import { faultsOf, runHonest } from '../attacks/attack.ts'
import { readStateless } from '../attacks/auditor.ts'
import { RESIDUAL } from '../attacks/false-leaves.ts'
import { openWorld } from '../world/world.ts'

// Section 10: malicious servers and members against whole reads and writes, on every platform. For each attack: refused with
// the named code, nothing given out, the trust store and the log as they were, and no private key used before the lie could
// be seen.
// Seen red: each verification step switched off in turn (test/mutation); and a caps.set cached by its hash alone, a head
// dated back, an item list that hides rows, ciphertext hashes compared after unwrapping.

const all = Object.values(ATTACKS).flat()

describe('the suite', () => {
  it('holds at least sixty attacks, each under a name of its own', () => {
    expect(all.length).toBeGreaterThanOrEqual(60)
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
  })
})

describe('what honest servers and members do is accepted', () => {
  it.each(HONEST.map((one) => [one.theme, one.title, one] as const))('%s: %s', async (_theme, _title, honest) => {
    await expect(runHonest(honest)).resolves.toBeUndefined()
  })
})

describe.each(Object.entries(ATTACKS))('%s: refused is', (_theme, attacks) => {
  it.each(attacks.map((one) => [one.title, one] as const))('%s', async (_title, attack) => {
    expect(await faultsOf(attack)).toEqual([])
  })
})

describe('without memory and without an auditor, append-only witnesses do not protect against', () => {
  // Not a wish: the limit that section 5.5 states, kept here so that nobody claims more. The auditor’s half is above.
  it.each(RESIDUAL.map((one) => [one.title, one] as const))('%s', async (_title, { lie }) => {
    const world = await openWorld()
    await lie(world)
    expect(await readStateless(world, false)).toBe(3)
  })
})
