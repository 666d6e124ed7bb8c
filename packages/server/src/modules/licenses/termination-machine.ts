import type { TerminationState } from './termination-store.ts'

// The states of a termination. The provider first, money second, what we keep last: each step can be taken again.

export const TERMINATION_EVENTS = [
  /** The provider is about to be asked. */
  'ask',
  /** It has ended there. */
  'cancelled',
  /** It ends there later. */
  'scheduled',
  'refused',
  /** It could not be reached at all, for long enough. */
  'unreachable',
  /** Nobody knows whether it has ended there, for long enough, or it gives back more than was paid. */
  'unclear',
  /** The day it was scheduled for has come. */
  'due',
  'settled',
  /** A human has said what came of it at the provider. */
  'decided',
  'resumed',
  /** Its end was asked for in another way. */
  'replaced',
  /** The period has ended, and the licence with it: nothing is left to be ended. */
  'over',
] as const
export type TerminationEvent = (typeof TERMINATION_EVENTS)[number]

type Steps = Readonly<Partial<Record<TerminationEvent, TerminationState>>>

const STEPS: Readonly<Record<TerminationState, Steps>> = {
  requested: { ask: 'cancelling' },
  cancelling: {
    cancelled: 'settling',
    scheduled: 'cancel_pending',
    refused: 'failed',
    unreachable: 'failed',
    unclear: 'in_review',
  },
  cancel_pending: { due: 'settling' },
  settling: { settled: 'completed' },
  completed: {},
  failed: { resumed: 'cancelling', replaced: 'failed', over: 'completed' },
  in_review: { cancelled: 'settling', scheduled: 'cancel_pending', decided: 'settling' },
}

/** What follows; undefined where this cannot happen in this state. */
export const nextTermination = (state: TerminationState, event: TerminationEvent): TerminationState | undefined =>
  STEPS[state][event]

const STAGES = {
  requested: 'provider',
  cancelling: 'provider',
  cancel_pending: 'provider',
  settling: 'settlement',
  completed: 'done',
  failed: 'provider',
  in_review: 'provider',
} as const
export const stageOf = (state: TerminationState) => STAGES[state]

export function nextActionOf(state: TerminationState, isReplaced: boolean) {
  switch (state) {
    case 'requested':
    case 'cancelling':
    case 'settling':
      return { type: 'poll', afterMs: 1000 } as const
    case 'cancel_pending':
      return { type: 'poll', afterMs: 3_600_000 } as const
    case 'failed':
      return isReplaced ? ({ type: 'none' } as const) : ({ type: 'resume' } as const)
    case 'in_review':
      return { type: 'contact_support' } as const
    case 'completed':
      return { type: 'none' } as const
  }
}
