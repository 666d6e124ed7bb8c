import type { Works } from './purchase-turn.ts'

// A step that was claimed and not taken yet. Whoever takes it may wait long for a provider; whose that is is known before.

export interface Turn {
  readonly provider: string
  take(): Promise<void>
}

/** Somebody else has taken this step: what was begun is undone, and nothing is lost. */
export class Overtaken extends Error {}

export async function unlessOvertaken(step: Promise<void>): Promise<void> {
  try {
    await step
  } catch (error) {
    if (!(error instanceof Overtaken)) throw error
  }
}

/** Claims the next step that is due and not of a provider in `busy`. Undefined if there is none. */
export type ClaimTurn = (works: Works, busy: readonly string[]) => Promise<Turn | undefined>

/** Takes one turn; false if nothing is due. */
export const takingOne =
  (claim: ClaimTurn) =>
  async (works: Works): Promise<boolean> => {
    const turn = await claim(works, [])
    await turn?.take()
    return turn !== undefined
  }
