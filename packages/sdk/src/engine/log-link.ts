import { NO_WITNESSES, POLICY_NAME, type VerifiedView, verifyTransparency } from '@strongroom/protocol'
import type { Actor, CallerOptions } from './actor.ts'
import type { Pins } from './verified.ts'

/**
 * An anchor that was given since asks for a longer log than was read last, and the answer is held against that one. That it also
 * extends what was read is proven apart; witnesses were asked for with the answer, which is of the same log or asked for again.
 */
export async function readLink(actor: Actor, log: Pins['log'], { signal }: CallerOptions): Promise<VerifiedView> {
  const { behind = null } = log
  const query = { name: POLICY_NAME, ...(behind && { have: behind.size }) }
  const answer = await actor.client.transparency.state({ query }, signal ? { signal } : {})
  const freshness = { now: actor.now(), maxStaleMs: actor.policy.maxStaleMs }
  return verifyTransparency(answer, { ...log, seen: behind, witnessPolicy: NO_WITNESSES }, freshness)
}
