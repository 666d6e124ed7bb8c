import {
  adoptRecovery,
  type Notice,
  type OrgTrust,
  ProtocolError,
  recordAlarm,
  type VerifiedRecovery,
  verifyRecovery,
} from '@strongroom/protocol'
import type { Actor, CallerOptions } from './actor.ts'
import { indexOf, listOf, membersOf } from './answers.ts'

// Docs/reference/protocol.md 9.4: the log is not the one that was seen. Unless the server proves a statement by the directory admins that it
// was restored, that is a refusal like any other; nothing that goes wrong here may hide it.

/** True if the trust store goes on with the restored log from now on, so that what was refused can be asked again. */
export async function goOnAfterRestore(
  actor: Actor,
  pins: OrgTrust,
  keepEvidence: () => Promise<string | undefined>,
  options: CallerOptions,
): Promise<boolean> {
  const recovery = await findRecovery(actor, pins, options)
  if (!recovery || !(await isWanted(actor, recovery))) return false
  const evidence = await keepEvidence()
  const notices: Notice[] = []
  try {
    await actor.trust.update((store) => {
      const adopted = adoptRecovery(store, recovery, actor.now(), evidence)
      notices.splice(0, notices.length, ...adopted.notices)
      return adopted.store
    })
  } catch (error) {
    // Another read was quicker; the next try sees what it has accepted.
    if (!(error instanceof ProtocolError && error.code === 'missing_consistency')) throw error
  }
  actor.memory.forgetAll()
  for (const notice of notices) actor.onNotice?.(notice)
  return true
}

async function isWanted({ policy }: Actor, { docHash, payload, before }: VerifiedRecovery): Promise<boolean> {
  const { onRecovery } = policy
  if (typeof onRecovery !== 'function') return onRecovery === 'accept'
  const { keptSize, reason } = payload
  return onRecovery({ docHash, keptSize, seenSize: before.size, reason })
}

/** The first recovery that is not known yet, verified; undefined where there is none. */
async function findRecovery(
  actor: Actor,
  pins: OrgTrust,
  { signal }: CallerOptions,
): Promise<VerifiedRecovery | undefined> {
  if (actor.policy.onRecovery === 'refuse') return undefined
  const call = signal ? { signal } : {}
  const { transparency } = actor.client
  const freshness = { now: actor.now(), maxStaleMs: actor.policy.maxStaleMs }
  try {
    const index = firstUnknown(await transparency.recovery({}, call), pins)
    if (index === undefined) return undefined
    const answer = await transparency.recoveryStatement({ params: { index } }, call)
    return await verifyRecovery(answer, actor.org, pins, freshness)
  } catch (error) {
    if (error instanceof ProtocolError) await alarm(actor, error)
    return undefined
  }
}

/** As the server says: a hint for what to ask, and nothing more. */
function firstUnknown(answer: unknown, { recoveries: known = [] }: OrgTrust): number | undefined {
  const listed = listOf(membersOf(answer, 'answer').recoveries, 'recoveries').map((one) => membersOf(one, 'recovery'))
  const next = listed.find(({ index, docHash }, i) => known[i]?.index !== index || known[i]?.docHash !== docHash)
  return next && indexOf(next.index)
}

/** Somebody has stated something about the log that does not hold. */
async function alarm(actor: Actor, { code, message }: ProtocolError): Promise<void> {
  const entry = { at: actor.now(), code, detail: `a recovery of the log was refused: ${message}` }
  await actor.trust.update((store) => recordAlarm(store, actor.org, entry)).catch(() => undefined)
}
