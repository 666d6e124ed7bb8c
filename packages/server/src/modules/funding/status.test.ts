import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { playIntent, plays } from '../../../test/chain/status-model.ts'
import { microsOf, roundingOf, unitsFor } from './amounts.ts'
import { onArrival, onDeparture } from './deposits.ts'
import { DEPOSIT_STATES } from './status.ts'

// Seen red: no intent ever funded; a payment on its way hidden by one that was too small; expiry a moment late; a credited deposit
// that is gone called orphaned; remainders rounded one by one.

it('has the status that the table says, after any sequence of what can happen', () => {
  fc.assert(
    fc.property(plays, (play) => {
      expect(playIntent(play)).toBeUndefined()
    }),
    { numRuns: 500 },
  )
})

describe('a deposit', () => {
  const CASES = DEPOSIT_STATES.flatMap((state) => [false, true].map((wasCredited) => ({ state, wasCredited })))
  const same = { isSame: true, isOtherAsset: false }
  const another = { isSame: false, isOtherAsset: false }

  it('has one answer for each state and each thing the chain can say', () => {
    const rows = CASES.map((known) => [
      `${known.state}${known.wasCredited ? ' after credit' : ''}`,
      onArrival(known, same),
      onArrival(known, another),
      onArrival(known, { ...another, isOtherAsset: true }),
      onDeparture(known),
    ])
    expect(rows.map((row) => row.join(' | '))).toEqual([
      'seen | seen | seen | held | orphaned',
      'seen after credit | seen | reversed | reversed | reversed',
      'credited | credited | seen | held | orphaned',
      'credited after credit | credited | reversed | reversed | reversed',
      'orphaned | seen | seen | held | orphaned',
      'orphaned after credit | seen | reversed | reversed | reversed',
      'reversed | seen | seen | held | orphaned',
      'reversed after credit | seen | reversed | reversed | reversed',
      'held | held | seen | held | orphaned',
      'held after credit | held | reversed | reversed | reversed',
    ])
    expect([onArrival(undefined, same), onArrival(undefined, { ...same, isOtherAsset: true })]).toEqual([
      'seen',
      'held',
    ])
  })
})

describe('amounts', () => {
  const decimals = fc.integer({ min: 0, max: 30 })

  it('lose nothing on the way: what is credited and what is left make up what came', () => {
    fc.assert(
      fc.property(decimals, fc.bigInt({ min: 0n, max: 10n ** 40n }), (places, value) => {
        const { amount, remainder } = microsOf(value, places)
        // Both sides in units so small that every token has whole ones of them.
        const [whole, came] = [
          amount * 10n ** 24n + remainder * 10n ** BigInt(30 - places),
          value * 10n ** BigInt(30 - places),
        ]
        expect(whole).toBe(came)
      }),
    )
  })

  it('ask for the least that covers the target', () => {
    fc.assert(
      fc.property(decimals, fc.bigInt({ min: 1n, max: 10n ** 15n }), (places, target) => {
        const units = unitsFor(target, places)
        expect(microsOf(units, places).amount >= target).toBe(true)
        expect(microsOf(units - 1n, places).amount < target).toBe(true)
      }),
    )
  })

  it('round by what all remainders make together, never by more and never by less', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt({ min: 0n, max: 10n ** 12n - 1n }), { maxLength: 50 }), (remainders) => {
        let [before, rounded] = [0n, 0n]
        for (const remainder of remainders) {
          rounded += roundingOf(before, remainder, 18)
          before += remainder
        }
        expect(rounded).toBe(before / 10n ** 12n)
      }),
    )
  })
})
