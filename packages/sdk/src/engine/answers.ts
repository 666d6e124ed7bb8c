import {
  type Envelope,
  type Evidence,
  ProtocolError,
  type ProtocolErrorCode,
  peekDocument,
  principalOf,
  type ReaderTrust,
  type Recipient,
  type VerifiedHead,
  vaultAnswerShape,
  verifyVaultAnswer,
  wrappedDek,
} from '@strongroom/protocol'

// Answers of the server are any JSON until they are verified: nothing here trusts a type that the contract promises.

export function refuseUnless(
  condition: unknown,
  code: ProtocolErrorCode,
  message: string,
  details?: Record<string, unknown>,
): asserts condition {
  if (!condition) throw new ProtocolError(code, message, details)
}

export function membersOf(candidate: unknown, path: string): Readonly<Record<string, unknown>> {
  const isObject = typeof candidate === 'object' && candidate !== null && !Array.isArray(candidate)
  refuseUnless(isObject, 'malformed', `${path} is not an object`)
  return candidate as Readonly<Record<string, unknown>>
}

export function listOf(candidate: unknown, path: string): readonly unknown[] {
  refuseUnless(Array.isArray(candidate), 'malformed', `${path} is not a list`)
  return candidate
}

export function indexOf(candidate: unknown): number {
  refuseUnless(
    Number.isSafeInteger(candidate) && Number(candidate) >= 0,
    'malformed',
    'index is not a place in the log',
  )
  return Number(candidate)
}

// Evidence is checked as an environment answer: a refusal of the part they all share can be shown in that form.
const reproducible = new WeakMap<ProtocolError, unknown>()

/** What of an answer goes into an evidence file for this refusal, and what can be checked there. */
export const evidenceAnswer = (
  error: ProtocolError,
  answer: unknown,
  form: Evidence['form'] = 'other',
): Pick<Evidence, 'answer' | 'form'> => {
  const shown = reproducible.get(error)
  return shown === undefined ? { answer, form } : { answer: shown, form: 'environment' }
}

/** The first and longest part of every verification: log, directory, admins, access list, head. */
export async function verifySigned(candidate: unknown, vaultId: string, trust: ReaderTrust): Promise<VerifiedHead> {
  try {
    return await verifyVaultAnswer(vaultAnswerShape(candidate, 'signed'), vaultId, trust)
  } catch (error) {
    if (error instanceof ProtocolError)
      reproducible.set(error, { ...membersOrNone(candidate), wrappedKeys: [], fields: [] })
    throw error
  }
}

const membersOrNone = (candidate: unknown): object =>
  typeof candidate === 'object' && candidate !== null ? candidate : {}

/**
 * A principal may have several keys and the answer wraps for all of them. Those for others than this principal stay, so that
 * they are refused.
 */
export function wrapsFor({ kid, key }: Recipient, candidate: unknown): readonly Envelope[] {
  return listOf(candidate, 'wrappedKeys').filter((wrap) => {
    const { to } = peekDocument(wrappedDek, wrap).payload
    return to === kid || principalOf(to) !== key.principal
  }) as readonly Envelope[]
}
