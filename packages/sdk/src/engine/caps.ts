import { type Cap, type Envelope, principalOf } from '@strongroom/protocol'
import type { Actor, CallerOptions } from './actor.ts'
import { listOf, membersOf, refuseUnless } from './answers.ts'
import { asReviewer, verifyDirectoryAnswer } from './directory.ts'
import { readVerified } from './verified.ts'

// What a key may sign in the directory (docs/reference/protocol.md 4.1): by its record, or by its last caps.set.

export interface LoggedCaps {
  readonly kid: string
  readonly caps: readonly Cap[]
  /** The entry of the log that says so. */
  readonly entry: number
  /** Of its last caps.set; empty where it has none. */
  readonly hash: string
  /** False where a compromised key vouched for it, or gave it its caps, and nobody has confirmed it since (4.3, 4.4). */
  readonly isConfirmed: boolean
}

/** Of the active keys of a principal, also of those that count for nothing: whoever asks may be about to confirm one. */
export async function readCaps(
  actor: Actor,
  principal: string,
  options: CallerOptions = {},
): Promise<readonly LoggedCaps[]> {
  return readVerified(
    actor,
    {
      ask: (call) => actor.client.keys.directory({ query: { principals: principal } }, call),
      check: async (answer, pins) => {
        const directory = await verifyDirectoryAnswer(asReviewer(actor), answer, pins)
        const result: LoggedCaps[] = []
        for (const kid of new Set(listOf(membersOf(answer, 'answer').kids, 'kids').map(String))) {
          refuseUnless(principalOf(kid) === principal, 'unknown_signer', 'the answer names a key of somebody else', {
            kid,
          })
          const { entry } = await directory.resolve(kid)
          if (entry.status !== 'active') continue
          const caps = [...(await directory.capsAt(kid, directory.view.checkpoint.size))].sort()
          const last = entry.capSets.at(-1)
          const isConfirmed = (await directory.isUntainted(kid)) && (await directory.hasSoundCaps(kid))
          result.push({ kid, caps, entry: last?.index ?? entry.added, hash: last?.docHash ?? '', isConfirmed })
        }
        return { rounds: [{ directory, heads: [] }], result }
      },
    },
    options,
  )
}

/** Refuses with `bad_inclusion` a server that takes a caps.set and logs something else. */
export async function sendCaps(
  actor: Actor,
  { payload, payloadType, signatures }: Envelope,
  { kid, hash }: Pick<LoggedCaps, 'kid' | 'hash'>,
  options: CallerOptions,
): Promise<LoggedCaps> {
  const event = { payload, payloadType, signatures: [...signatures] }
  const { signal } = options
  await actor.client.directory.setCaps({ body: { event } }, signal ? { signal } : {})
  const logged = (await readCaps(actor, principalOf(kid), options)).find((one) => one.kid === kid)
  refuseUnless(logged?.hash === hash, 'bad_inclusion', 'the caps that were signed are not those in the log', { kid })
  return logged
}
