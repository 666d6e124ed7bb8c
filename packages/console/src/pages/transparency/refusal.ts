import { PROTOCOL_ERRORS, ProtocolError, type ProtocolErrorCode, recordAlarm } from '@strongroom/protocol'
import { ProofInvalidError } from '@strongroom/sdk'
import { indexedDbTrust } from '@strongroom/sdk/browser'

// What these pages verify by themselves is refused as the client refuses: with a code, with what led to it, and remembered.

interface Circumstances {
  readonly orgId: string
  /** Public parts of the answer, for whoever looks into it. */
  readonly answer: unknown
}

async function refusalOf(code: ProtocolErrorCode, why: string, { orgId, answer }: Circumstances) {
  const [, meaning, hint] = PROTOCOL_ERRORS[code]
  const at = Date.now()
  // Nothing that fails here may hide the refusal itself.
  await indexedDbTrust()
    .update((store) => recordAlarm(store, orgId, { at, code, detail: why }))
    .catch(() => undefined)
  const evidence = JSON.stringify({ code, message: why, at, org: orgId, answer }, null, 2)
  return new ProofInvalidError(`${meaning} ${why[0]?.toUpperCase() ?? ''}${why.slice(1)}.`, {
    code,
    hint,
    stage: 'log',
    evidence,
  })
}

/** Runs a check of the protocol on an answer of the server; what it refuses is an alarm. */
export async function checked<T>(circumstances: Circumstances, check: () => T | Promise<T>): Promise<T> {
  try {
    return await check()
  } catch (error) {
    if (error instanceof ProtocolError) throw await refusalOf(error.code, error.message, circumstances)
    throw error
  }
}
