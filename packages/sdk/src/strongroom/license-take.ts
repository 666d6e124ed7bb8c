import type { Purchase as PurchaseAnswer, Termination as TerminationAnswer } from '@strongroom/contract'
import { ProtocolError } from '@strongroom/protocol'
import { handOff } from '../engine/hand-off.ts'
import type { KeyedPlace } from './core.ts'
import type { Ending, LicenseInstance } from './licenses.ts'
import { StrongroomError } from './strongroom-error.ts'

// What comes of a purchase and of a termination, and the step between that only the buyer can take.

/** Where the caller said that it goes: what comes back must be for that place. */
export interface Asked {
  readonly license: string
  readonly vault:
    | { readonly mode: 'new'; readonly name: string }
    | { readonly mode: 'existing'; readonly vaultId: string }
}

/** What was bought goes where its buyer said, and nowhere else. */
function ensureAsked(answer: PurchaseAnswer, asked: Asked | undefined): void {
  if (!asked) return
  const { mode, name, vaultId } = answer.vault
  const isThere =
    asked.vault.mode === mode &&
    (asked.vault.mode === 'new' ? asked.vault.name === name : asked.vault.vaultId === vaultId)
  if (answer.licenseId !== asked.license || !isThere)
    throw new ProtocolError('wrap_context', 'the purchase is of another licence or for another place', {
      purchaseId: answer.purchaseId,
    })
}

/** Takes it over, or has it sealed anew where it was sealed to a key that the caller no longer uses. */
export async function takeOver(
  { actor, scope, options }: KeyedPlace,
  answer: PurchaseAnswer,
  asked: Asked | undefined,
  isSealedAnew: boolean,
): Promise<PurchaseAnswer> {
  ensureAsked(answer, asked)
  if (answer.handoff?.recipientKeyId === actor.identity.kid) return (await handOff(actor, answer, options)).purchase
  if (isSealedAnew)
    throw new StrongroomError('what was bought is sealed to another key of yours', {
      code: 'sealed_to_another_key',
      hint: 'Take it over where that key is, or make the key in use here the current one.',
    })
  const { purchaseId } = answer
  return scope.client.licenses.resumePurchase({ params: { purchaseId }, query: { reseal: true } }, options)
}

export const instanceOf = (answer: PurchaseAnswer): LicenseInstance => ({
  licenseInstanceId: answer.licenseInstanceId,
  license: answer.licenseId,
  purchaseId: answer.purchaseId,
  vaultId: answer.vault.vaultId,
  itemId: answer.itemId,
})

export const dateOf = (at: string | null): Date | null => (at === null ? null : new Date(at))

export const endingOf = ({ terminationId, licenseInstanceId, effectiveAt, refund }: TerminationAnswer): Ending => ({
  terminationId,
  licenseInstanceId,
  effectiveAt: dateOf(effectiveAt),
  refund,
})
