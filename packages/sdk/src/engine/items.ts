import type { Envelope } from '@strongroom/protocol'
import {
  type AssetRow,
  type EnvRow,
  envelopeHash,
  type FieldValue,
  type ItemRow,
  openVerifiedField,
  type VaultContent,
  type VerifiedField,
  type VerifiedHead,
  type VerifiedItem,
  verifyContent,
  verifyItem,
  verifyItemRow,
} from '@strongroom/protocol'
import type { Actor, CallerOptions } from './actor.ts'
import { listOf, membersOf, refuseUnless, verifySigned } from './answers.ts'
import { refuseNonceReuse } from './nonces.ts'
import type { Receipt } from './receipt.ts'
import { keysFor, receiptFor } from './vaults.ts'
import { type Pins, readVerified, roundOf } from './verified.ts'

/** Every row of a vault: complete, since it recomputes to the roots of the signed head. */
export interface ItemsRead {
  readonly items: readonly ItemRow[]
  readonly environment: readonly EnvRow[]
  readonly assets: readonly AssetRow[]
  readonly content: VaultContent
  readonly head: VerifiedHead
  readonly receipt: Receipt
}

/** The items of a vault, archived ones too, without values. */
export async function listItems(actor: Actor, vaultId: string, options: CallerOptions = {}): Promise<ItemsRead> {
  const read = await readVerified(
    actor,
    {
      vaultId,
      form: 'items',
      ask: (call) => actor.client.items.list({ params: { vaultId } }, call),
      check: async (answer, pins) => {
        const { data, environment, assets, signed } = membersOf(answer, 'answer')
        const head = await verifySigned(signed, vaultId, pins.vault(vaultId))
        const content = verifyContent(head, {
          items: listOf(data, 'data'),
          env: listOf(environment, 'environment'),
          assets: listOf(assets, 'assets'),
        })
        return { rounds: [roundOf(head)], result: itemsRead(head, content, receiptFor(actor, head, signed)) }
      },
    },
    options,
  )
  const { head, content } = read
  actor.memory.keepVault({ head, content })
  return read
}

const itemsRead = (head: VerifiedHead, content: VaultContent, receipt: Receipt): ItemsRead => ({
  items: [...content.items.values()],
  environment: [...content.env.values()],
  assets: [...content.assets.values()],
  content,
  head,
  receipt,
})

/** An item whose row, detail and ciphertexts are verified, and nothing of it opened. */
export interface SealedItem {
  readonly head: VerifiedHead
  readonly item: VerifiedItem
  /** Exactly one ciphertext for each field: the one its detail names. */
  readonly values: ReadonlyMap<string, string>
  readonly receipt: Receipt
}

export async function readSealedItem(
  actor: Actor,
  vaultId: string,
  itemId: string,
  options: CallerOptions = {},
): Promise<SealedItem> {
  const read = await readVerified(
    actor,
    {
      vaultId,
      form: 'item',
      ask: (call) => actor.client.items.get({ params: { vaultId, itemId } }, call),
      check: async (answer, pins) => {
        const checked = await checkItem(actor, { vaultId, itemId }, answer, pins)
        const values = valuesIn(answer, itemId, checked.item.fields)
        return { rounds: [roundOf(checked.head)], result: { ...checked, values } }
      },
    },
    options,
  )
  const { payload, hash } = read.item.document
  actor.memory.keepDetail(vaultId, { detail: payload, hash })
  return read
}

/** The current item of an answer, and of no other one if it is said which. */
export async function checkItem(
  actor: Actor,
  { vaultId, itemId }: { readonly vaultId: string; readonly itemId?: string },
  answer: unknown,
  pins: Pins,
) {
  const { row, proof, detail, signed } = membersOf(answer, 'answer')
  const head = await verifySigned(signed, vaultId, pins.vault(vaultId))
  const item = await verifyItem(head, verifyItemRow(head, row, proof), detail as Envelope)
  const isAsked = itemId === undefined || item.row.itemId === itemId
  refuseUnless(isAsked, 'item_swap', 'the answer is about another item', { itemId })
  // The item is its last writer's; the head over it may be somebody else's.
  const receipt = { ...receiptFor(actor, head, signed), signer: item.document.payload.by }
  return { head, item, receipt }
}

/** Of an answer exactly the ciphertexts that these fields name. */
export function valuesIn(
  answer: unknown,
  itemId: string,
  fields: readonly VerifiedField[],
): ReadonlyMap<string, string> {
  const given = membersOf(membersOf(answer, 'answer').values, 'values')
  refuseUnless(
    Object.keys(given).length === fields.length,
    'field_swap',
    'there are not exactly the values that the detail names',
    { itemId },
  )
  const values = new Map(fields.map((field) => [field.fieldId, matching(field, given)]))
  refuseNonceReuse([...values.values()].map((envelope) => ({ itemId, envelope })))
  return values
}

/** The ciphertext hash needs no key, so it is checked before one is asked for. */
function matching({ fieldId, ct }: VerifiedField, values: Readonly<Record<string, unknown>>): string {
  const envelope = Object.hasOwn(values, fieldId) ? values[fieldId] : undefined
  refuseUnless(typeof envelope === 'string', 'field_swap', 'a value is missing', { fieldId })
  const isNamed = envelopeHash(envelope) === ct
  refuseUnless(isNamed, 'field_swap', 'a ciphertext is not the one its metadata names', { fieldId })
  return envelope
}

export interface OpenField {
  readonly fieldId: string
  readonly label: string
  readonly env: boolean
  readonly rev: number
  readonly value: FieldValue
}

export interface ItemRead {
  readonly itemId: string
  readonly itemVersion: number
  readonly name: string
  readonly website: string
  readonly status: 'active' | 'archived'
  readonly assets: readonly string[]
  readonly fields: readonly OpenField[]
  readonly head: VerifiedHead
  readonly receipt: Receipt
}

/** One item with its values. Either every field opens or nothing is returned. */
export async function readItem(
  actor: Actor,
  vaultId: string,
  itemId: string,
  options: CallerOptions = {},
): Promise<ItemRead> {
  const { head, item, values, receipt } = await readSealedItem(actor, vaultId, itemId, options)
  const { itemVersion, name, website, status, assets } = item.document.payload
  const fields = await openFields(actor, head, item.fields, values, options)
  return { itemId, itemVersion, name, website, status, assets, fields, head, receipt }
}

/** Opens verified fields with the keys of their vault. */
export async function openFields(
  actor: Actor,
  head: VerifiedHead,
  fields: readonly VerifiedField[],
  values: ReadonlyMap<string, string>,
  options: CallerOptions = {},
): Promise<readonly OpenField[]> {
  if (fields.length === 0) return []
  const keys = await keysFor(actor, head, options)
  const opened: OpenField[] = []
  for (const field of fields) {
    const { fieldId, label, env, rev } = field
    const value = await openVerifiedField(keys, field, values.get(fieldId) ?? '')
    opened.push({ fieldId, label, env, rev, value })
  }
  return opened
}

export interface FieldRead extends OpenField {
  readonly itemId: string
  readonly itemName: string
  readonly head: VerifiedHead
  readonly receipt: Receipt
}

/** One field with its value. */
export async function readField(
  actor: Actor,
  vaultId: string,
  fieldId: string,
  options: CallerOptions = {},
): Promise<FieldRead> {
  const { head, item, field, value, receipt } = await readVerified(
    actor,
    {
      vaultId,
      form: 'item',
      ask: (call) => actor.client.items.field({ params: { vaultId, fieldId } }, call),
      check: async (answer, pins) => {
        const checked = await checkItem(actor, { vaultId }, answer, pins)
        const found = checked.item.fields.find((one) => one.fieldId === fieldId)
        refuseUnless(found, 'field_swap', 'the answer is about another field', { fieldId })
        const sealed = matching(found, { [fieldId]: membersOf(answer, 'answer').value })
        return { rounds: [roundOf(checked.head)], result: { ...checked, field: found, value: sealed } }
      },
    },
    options,
  )
  const [opened] = await openFields(actor, head, [field], new Map([[fieldId, value]]), options)
  const { itemId, name } = item.row
  return { ...(opened as OpenField), itemId, itemName: name, head, receipt }
}
