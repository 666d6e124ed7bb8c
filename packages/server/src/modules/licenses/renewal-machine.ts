// The states of a renewal: the money first, then the provider, then the period. What is not here is refused.

export const RENEWAL_STATES = ['waiting', 'reserved', 'renewing', 'renewed', 'lapsed', 'in_review'] as const
export type RenewalState = (typeof RENEWAL_STATES)[number]

export const RENEWAL_EVENTS = [
  /** Budgets and credit cover it: the money is held. */
  'funded',
  /** The licence is being ended, or whoever bought it is gone. */
  'ended',
  /** The period has ended and nothing has covered the next. */
  'over',
  /** The provider is about to be asked. */
  'ask',
  'confirmed',
  'refused',
  /** It could not be reached at all until the period had ended: nothing has happened there. */
  'unreachable',
  /** Nobody knows what the provider has done, for long enough, or it asks for more than was held. */
  'unclear',
  /** A human has found out that the provider has not renewed it. */
  'given_up',
] as const
export type RenewalEvent = (typeof RENEWAL_EVENTS)[number]

interface Step {
  readonly to: RenewalState
  readonly money: 'none' | 'hold' | 'capture' | 'release'
}
const to = (state: RenewalState, money: Step['money'] = 'none'): Step => ({ to: state, money })

const STEPS: Readonly<Record<RenewalState, Readonly<Partial<Record<RenewalEvent, Step>>>>> = {
  waiting: { funded: to('reserved', 'hold'), ended: to('lapsed'), over: to('lapsed') },
  reserved: { ask: to('renewing'), ended: to('lapsed', 'release') },
  // Somebody may have been asked already: from here on only what they say ends it.
  renewing: {
    confirmed: to('renewed', 'capture'),
    refused: to('lapsed', 'release'),
    unreachable: to('lapsed', 'release'),
    unclear: to('in_review'),
  },
  renewed: {},
  lapsed: {},
  in_review: {
    confirmed: to('renewed', 'capture'),
    refused: to('lapsed', 'release'),
    given_up: to('lapsed', 'release'),
  },
}

/** What follows; undefined where this cannot happen in this state. */
export const nextRenewal = (state: RenewalState, event: RenewalEvent): Step | undefined => STEPS[state][event]
