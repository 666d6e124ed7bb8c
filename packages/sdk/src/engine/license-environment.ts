import {
  type Envelope,
  envelopeHash,
  openVaultKeys,
  openVerifiedField,
  type VerifiedItem,
  verifyItem,
  verifyItemRow,
} from '@strongroom/protocol'
import type { Actor, CallerOptions } from './actor.ts'
import { listOf, membersOf, refuseUnless, verifySigned, wrapsFor } from './answers.ts'
import type { EnvironmentRead, Variable } from './environment.ts'
import { isLicenseMark } from './hand-off.ts'
import { refuseNonceReuse } from './nonces.ts'
import { receiptFor } from './vaults.ts'
import { readVerified, roundOf } from './verified.ts'

// The variables of one licence. Which item is a licence's only the server says; so the item says it too, under the signature of whoever
// put it into the vault.

export interface LicenseRead extends EnvironmentRead {
  /** What the signed item says it is: `license:<slug>/<id>`, or something else. */
  readonly mark: string
}

export const readLicenseEnvironment = (
  actor: Actor,
  licenseInstanceId: string,
  options: CallerOptions = {},
): Promise<LicenseRead> =>
  readVerified(
    actor,
    {
      ask: (call) =>
        actor.client.licenses.environment({ params: { licenseInstanceId }, query: { include: 'wrapped-key' } }, call),
      check: async (answer, pins) => {
        const { vaultId, item: given, signed, wrappedKeys, data } = membersOf(answer, 'answer')
        const head = await verifySigned(signed, String(vaultId), pins.vault(String(vaultId)))
        const { row, proof, detail } = membersOf(given, 'item')
        const item = await verifyItem(head, verifyItemRow(head, row, proof), detail as Envelope)
        const { website: mark, status, by } = item.document.payload
        // One that says it is of another licence was not mixed up by accident.
        const isOther = isLicenseMark(mark) && !mark.endsWith(`/${licenseInstanceId}`)
        refuseUnless(!isOther && status === 'active', 'item_swap', 'the item is not that of the licence', { mark })
        const keys = await openVaultKeys(head, wrapsFor(actor.identity, wrappedKeys), actor.identity)
        const variables: Variable[] = []
        for (const { field, envelope } of sealedIn(item, data)) {
          const { label, fieldId, rev } = field
          const value = await openVerifiedField(keys, field, envelope)
          variables.push({ label, fieldId, itemId: item.row.itemId, rev, value })
        }
        const receipt = { ...receiptFor(actor, head, signed), signer: by }
        return { rounds: [roundOf(head)], result: { variables, head, receipt, mark } }
      },
    },
    options,
  )

/** Exactly the variables that the item names, each with the ciphertext that it names. */
function sealedIn({ fields, row: { itemId } }: VerifiedItem, data: unknown) {
  const given = new Map(
    listOf(data, 'data').map((one) => {
      const { row, value } = membersOf(one, 'field')
      return [String(membersOf(row, 'row').fieldId), value]
    }),
  )
  const wanted = fields.filter(({ env }) => env)
  refuseUnless(given.size === wanted.length, 'field_swap', 'there are not exactly the variables of the item', {
    itemId,
  })
  const sealed = wanted.map((field) => {
    const envelope = given.get(field.fieldId)
    const isNamed = typeof envelope === 'string' && envelopeHash(envelope) === field.ct
    refuseUnless(isNamed, 'field_swap', 'a ciphertext is not the one its metadata names', { fieldId: field.fieldId })
    return { field, envelope }
  })
  refuseNonceReuse(sealed.map(({ envelope }) => ({ itemId, envelope })))
  return sealed
}
