import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextRenewal, RENEWAL_EVENTS, RENEWAL_STATES, type RenewalEvent, type RenewalState } from './renewal-machine.ts'

// Every state with every event, written out a second time from the design. Catches: a step that is missing, one too many, one that leads
// elsewhere, money that moves at another step.

const RENEWAL: Readonly<Record<RenewalState, Readonly<Partial<Record<RenewalEvent, string>>>>> = {
  waiting: { funded: 'reserved hold', ended: 'lapsed none', over: 'lapsed none' },
  reserved: { ask: 'renewing none', ended: 'lapsed release' },
  renewing: {
    confirmed: 'renewed capture',
    refused: 'lapsed release',
    unreachable: 'lapsed release',
    unclear: 'in_review none',
  },
  renewed: {},
  lapsed: {},
  in_review: { confirmed: 'renewed capture', refused: 'lapsed release', given_up: 'lapsed release' },
}

describe('a renewal', () => {
  it.each(RENEWAL_STATES.flatMap((state) => RENEWAL_EVENTS.map((event) => [state, event] as const)))(
    '%s, %s',
    (state, event) => {
      const step = nextRenewal(state, event)
      expect(step && `${step.to} ${step.money}`).toBe(RENEWAL[state][event])
    },
  )

  it('holds once, and takes or gives back once what is held, however events come', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...RENEWAL_EVENTS), { maxLength: 20 }), (happening) => {
        let [state, held]: [RenewalState, 'none' | 'held' | 'taken' | 'given back'] = ['waiting', 'none']
        for (const event of happening) {
          const step = nextRenewal(state, event)
          if (!step) continue
          if (step.money === 'hold') expect(held).toBe('none')
          if (step.money === 'capture' || step.money === 'release') expect(held).toBe('held')
          held = ({ none: held, hold: 'held', capture: 'taken', release: 'given back' } as const)[step.money]
          state = step.to
          expect([state === 'renewed', state === 'lapsed' && held === 'held']).toEqual([held === 'taken', false])
        }
      }),
      { numRuns: 10_000 },
    )
  })
})
