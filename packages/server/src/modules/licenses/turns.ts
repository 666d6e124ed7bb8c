import { type Deps, inOrg } from '../../context.ts'
import type { Database, Db } from '../../db/database.ts'
import type { Providers } from '../../licenses/provider.ts'

// What the steps of purchases, renewals and terminations have in common. A step is claimed before it is taken: whoever takes it may wait long
// for a provider, and whose that is is known before.

export interface Works {
  readonly deps: Pick<Deps, 'now' | 'newId' | 'log'>
  readonly worker: Database
  readonly providers: Providers
}

export const inOrgOf = <T>(
  { worker }: Pick<Works, 'worker'>,
  { orgId }: { readonly orgId: string },
  work: (db: Db) => Promise<T>,
): Promise<T> => inOrg({ database: worker }, orgId, work)

/** How often a provider is asked that cannot be reached, and one of which nobody knows what it did, before a human decides. */
export const MOST_UNREACHABLE = 6
export const MOST_UNKNOWN = 12
/** What waits for a human is asked for on, only more seldom. */
export const REVIEW_MS = 6 * 3_600_000

export const backoffMs = (attempts: number): number => Math.min(5000 * 2 ** attempts, 3_600_000)
export const later = (at: Date, ms: number): Date => new Date(at.getTime() + ms)

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
