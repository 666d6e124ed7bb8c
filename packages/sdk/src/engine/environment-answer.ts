import { environmentAnswerShape, type OpenedEnvironment, openEnvironment, type ReaderTrust } from '@strongroom/protocol'
import type { Actor } from './actor.ts'
import { wrapsFor } from './answers.ts'
import { refuseNonceReuse } from './nonces.ts'

/** The answer in the form of docs/reference/protocol.md 4.5, in which it is verified, kept, and shown as evidence. */
export function inOneForm(answer: unknown): unknown {
  const isObject = typeof answer === 'object' && answer !== null
  const { signed, wrappedKeys, data } = (isObject ? answer : {}) as Record<string, unknown>
  return { ...(typeof signed === 'object' ? signed : {}), wrappedKeys, fields: data }
}

/** The whole of docs/reference/protocol.md 6.4, with the wraps for this key of several that the principal may have. */
export async function openAnswer(
  actor: Actor,
  vaultId: string,
  answer: unknown,
  trust: ReaderTrust,
): Promise<OpenedEnvironment> {
  const shaped = environmentAnswerShape(answer, 'answer')
  const own = { ...shaped, wrappedKeys: wrapsFor(actor.identity, shaped.wrappedKeys) }
  const opened = await openEnvironment(own, vaultId, trust, actor.identity)
  refuseNonceReuse(opened.fields.map(({ row }, i) => ({ itemId: row.itemId, envelope: shaped.fields[i]?.value ?? '' })))
  return opened
}
