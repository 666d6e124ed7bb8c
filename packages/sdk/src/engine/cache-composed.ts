import type { EnvRow, VerifiedHead } from '@strongroom/protocol'
import { ApiError, TransportError } from '../errors.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { membersOf, verifySigned } from './answers.ts'
import { cacheKey, putAnswer } from './cache.ts'
import { openAnswer } from './environment-answer.ts'
import { readVerified, roundOf } from './verified.ts'

// A server without the environment route gives an environment in parts. Put together in the form of that route they can be kept,
// and verified again, like its own answers.

export interface SealedVariable {
  readonly row: EnvRow
  readonly value: string
}

/** Keeps an environment that was read in parts. Nothing is kept if somebody wrote meanwhile, or a part cannot be had. */
export async function cacheComposed(
  actor: Actor,
  head: VerifiedHead,
  fields: readonly SealedVariable[],
  options: CallerOptions,
): Promise<void> {
  if (!actor.cache) return
  const { vaultId } = head.vault
  const answer = await composed(actor, head, fields, options).catch((error: unknown) => {
    if (error instanceof ApiError || error instanceof TransportError) return undefined
    throw error
  })
  const key = cacheKey(actor.org, vaultId, actor.identity.kid)
  if (answer) await putAnswer(actor.cache, key, { fetchedAt: actor.now(), answer })
}

/** The proofs come with the wrapped keys, since they must prove the grants of these as well. */
const composed = (
  actor: Actor,
  head: VerifiedHead,
  fields: readonly SealedVariable[],
  options: CallerOptions,
): Promise<object | undefined> =>
  readVerified(
    actor,
    {
      vaultId: head.vault.vaultId,
      ask: (call) => actor.client.vaults.wrappedKey({ params: { vaultId: head.vault.vaultId } }, call),
      check: async (answer, pins) => {
        const { vaultId } = head.vault
        const { signed, wrappedKeys } = membersOf(answer, 'answer')
        const now = await verifySigned(signed, vaultId, pins.vault(vaultId))
        if (now.hash !== head.hash) return { rounds: [roundOf(now)], result: undefined }
        const whole = { ...membersOf(signed, 'signed'), wrappedKeys, fields }
        const { head: opened } = await openAnswer(actor, vaultId, whole, pins.vault(vaultId))
        return { rounds: [roundOf(opened)], result: whole }
      },
    },
    options,
  )
