import { platform } from '#platform'
import { toBase64url } from '../encoding/base64.ts'
import { compareText } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'
import { type Envelope, makeDocument, peekDocument } from '../identity/document.ts'
import type { Signer } from '../identity/private-keys.ts'
import type { Dek } from '../values/dek.ts'
import { type FieldValue, sealField } from '../values/field.ts'
import { type DetailField, type ItemDetailPayload, itemDetail } from './documents.ts'

// Section 6.3, step 1: from what a person changed to a signed item detail and its ciphertexts.

/** A field as the writer wants it. Without `value` the stored ciphertext is kept, which needs an unchanged label and flag. */
export interface FieldEdit {
  readonly fieldId: string
  readonly label: string
  readonly env: boolean
  readonly value?: FieldValue
}

export interface ItemEdit {
  readonly itemId: string
  readonly name: string
  readonly website: string
  readonly status: 'active' | 'archived'
  readonly fields: readonly FieldEdit[]
  readonly assets: readonly string[]
}

/** The detail an edit starts from, with its hash; undefined for a new item. */
export interface ItemBase {
  readonly detail: ItemDetailPayload
  readonly hash: string
}

/** What an item shall be, with every changed value sealed; not yet signed, so it can be rebased. */
export interface ItemPlan {
  readonly base: ItemBase | undefined
  readonly next: Pick<ItemDetailPayload, 'itemId' | 'name' | 'website' | 'status' | 'fields' | 'assets'>
  /** Envelopes of the values sealed here, by field. */
  readonly values: ReadonlyMap<string, string>
}

export async function planItem(dek: Dek, base: ItemBase | undefined, edit: ItemEdit): Promise<ItemPlan> {
  ensure(!base || base.detail.itemId === edit.itemId, 'item_swap', 'an edit starts from another item', {
    itemId: edit.itemId,
  })
  const values = new Map<string, string>()
  const fields: DetailField[] = []
  for (const field of edit.fields) {
    const stored = base?.detail.fields.find((old) => old.fieldId === field.fieldId)
    if (!field.value) {
      fields.push(keptField(stored, field))
      continue
    }
    const rev = (stored?.rev ?? 0) + 1
    const { fieldId, label, env, value } = field
    const sealed = await sealField(dek, { itemId: edit.itemId, fieldId, rev, label, env }, value)
    values.set(fieldId, sealed.envelope)
    fields.push({ ct: sealed.ct, dekVersion: dek.dekVersion, env, fieldId, label, rev, type: value.type })
  }
  const { itemId, name, website, status } = edit
  const next = {
    itemId,
    name,
    website,
    status,
    fields: fields.sort(byFieldId),
    assets: [...edit.assets].sort(compareText),
  }
  return { base, next, values }
}

const byFieldId = (a: DetailField, b: DetailField): number => compareText(a.fieldId, b.fieldId)

function keptField(stored: DetailField | undefined, { fieldId, label, env }: FieldEdit): DetailField {
  ensure(stored, 'malformed', 'a new field needs a value', { fieldId })
  // Label and flag are bound into the ciphertext, so a rename encrypts anew.
  ensure(
    stored.label === label && stored.env === env,
    'malformed',
    'a renamed or re-flagged field needs its value again',
    { fieldId },
  )
  return stored
}

export interface SignedItem {
  readonly detail: ItemDetailPayload
  readonly hash: string
  readonly envelope: Envelope
  readonly values: ReadonlyMap<string, string>
}

export const makeSalt = (): string => toBase64url(platform.randomBytes(16))

/** Signs a plan as the next version of its item. */
export async function signItem(
  plan: ItemPlan,
  place: { org: string; vaultId: string; at: number },
  signer: Signer,
): Promise<SignedItem> {
  const { base, next, values } = plan
  const envelope = await makeDocument(
    itemDetail,
    { ...place, ...next, itemVersion: (base?.detail.itemVersion ?? 0) + 1, prev: base?.hash ?? '', salt: makeSalt() },
    [signer],
  )
  const { payload, hash } = peekDocument(itemDetail, envelope)
  return { detail: payload, hash, envelope, values }
}
