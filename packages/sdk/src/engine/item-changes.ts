import { ERRORS } from '@strongroom/contract'
import {
  type Dek,
  type FieldEdit,
  type FieldValue,
  type ItemBase,
  type ItemEdit,
  type ItemPlan,
  makeId,
  planItem,
  rebaseItem,
} from '@strongroom/protocol'
import { ApiError } from '../errors.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { baseIn, baseOf, sealedItemOf, VaultMoved } from './content.ts'
import { type OpenField, openFields } from './items.ts'
import type { KnownVault } from './memory.ts'

// From what a caller wants changed to plans: what each item shall be, with its values sealed.

export interface NewField {
  /** Made here if absent. */
  readonly fieldId?: string
  readonly label: string
  /** Whether it belongs to the environment. */
  readonly env?: boolean
  readonly value: FieldValue
}

export interface NewItem {
  readonly itemId?: string
  readonly name: string
  readonly website?: string
  readonly fields: readonly NewField[]
}

/** What is left out stays as it is; a renamed or re-flagged field is encrypted anew by itself. */
export interface FieldChange {
  readonly fieldId: string
  readonly label?: string
  readonly env?: boolean
  readonly value?: FieldValue
}

export interface ItemChange {
  readonly itemId: string
  readonly name?: string
  readonly website?: string
  readonly status?: 'active' | 'archived'
  readonly add?: readonly NewField[]
  readonly edit?: readonly FieldChange[]
  /** Ids of fields. */
  readonly remove?: readonly string[]
}

export interface VaultEdits {
  readonly create?: readonly NewItem[]
  readonly edit?: readonly ItemChange[]
  /** Ids of items. */
  readonly archive?: readonly string[]
}

export interface PlannedItem {
  readonly edit: ItemEdit
  /** On the version of the item that the caller's change started from: both sides are always compared with that one. */
  readonly first: ItemPlan
  /** On the version in hand. */
  readonly plan: ItemPlan
}

export async function planEdit(dek: Dek, base: ItemBase | undefined, edit: ItemEdit): Promise<PlannedItem> {
  const plan = await planItem(dek, base, edit)
  return { edit, first: plan, plan }
}

const newField = ({ fieldId, label, env = false, value }: NewField): FieldEdit => ({
  fieldId: fieldId ?? makeId('fld'),
  label,
  env,
  value,
})

export const newItem = ({ itemId, name, website = '', fields }: NewItem): ItemEdit => ({
  itemId: itemId ?? makeId('itm'),
  name,
  website,
  status: 'active',
  fields: fields.map(newField),
  assets: [],
})

export const absent = (code: 'vault_item_not_found' | 'field_not_found'): ApiError =>
  new ApiError({ code, message: ERRORS[code].message, hint: ERRORS[code].hint }, ERRORS[code].status)

/** Archiving is an edit of the status. */
export const changesOf = ({ edit = [], archive = [] }: VaultEdits): readonly ItemChange[] => [
  ...edit,
  ...archive.map((itemId): ItemChange => ({ itemId, status: 'archived' })),
]

export interface PlanContext {
  readonly actor: Actor
  readonly known: KnownVault
  readonly isFresh: boolean
  readonly dek: Dek
  readonly options: CallerOptions
}

export interface NamedOptions extends CallerOptions {
  /** Throws where the head it is to be built on does not allow an item of this name. */
  check?(context: Pick<PlanContext, 'known' | 'isFresh'>, name: string): void
  /** Throws where what is planned on a head shall not be written. */
  approve?(context: PlanContext, planned: readonly PlannedItem[]): void
}

/** Plans a change of an item that is there. */
export async function planChange(context: PlanContext, change: ItemChange): Promise<PlannedItem> {
  const { actor, known, isFresh, dek, options } = context
  const { itemId } = change
  if (!known.content.items.has(itemId)) {
    if (!isFresh) throw new VaultMoved('an item is not in the content in hand')
    throw absent('vault_item_not_found')
  }
  const renamed = (change.edit ?? []).some(({ value }) => value === undefined)
  const sealed = renamed ? await sealedItemOf(actor, known, itemId, options) : undefined
  const base = sealed ? baseIn(sealed) : await baseOf(actor, known, itemId, options)
  if (!base) throw absent('vault_item_not_found')
  const opened = sealed ? await openFields(actor, sealed.head, sealed.item.fields, sealed.values, options) : []
  return planEdit(dek, base, editOf(base, change, opened))
}

function editOf({ detail }: ItemBase, change: ItemChange, opened: readonly OpenField[]): ItemEdit {
  const { itemId, name, website, status, add = [], edit = [], remove = [] } = change
  const known = new Set(detail.fields.map(({ fieldId }) => fieldId))
  const named = [...edit.map(({ fieldId }) => fieldId), ...remove]
  if (named.some((fieldId) => !known.has(fieldId))) throw absent('field_not_found')
  const changes = new Map(edit.map((one) => [one.fieldId, one]))
  const values = new Map(opened.map(({ fieldId, value }) => [fieldId, value]))
  const kept = detail.fields
    .filter(({ fieldId }) => !remove.includes(fieldId))
    .map(({ fieldId, label, env }) => fieldEdit({ fieldId, label, env }, changes.get(fieldId), values.get(fieldId)))
  return {
    itemId,
    name: name ?? detail.name,
    website: website ?? detail.website,
    status: status ?? detail.status,
    fields: [...kept, ...add.map(newField)],
    assets: detail.assets,
  }
}

/** Label and flag are bound into the ciphertext, so changing one takes the value along. */
function fieldEdit(
  stored: { fieldId: string; label: string; env: boolean },
  change: FieldChange | undefined,
  current: FieldValue | undefined,
): FieldEdit {
  if (!change) return stored
  const { fieldId } = stored
  const label = change.label ?? stored.label
  const env = change.env ?? stored.env
  if (change.value === undefined && label === stored.label && env === stored.env) return stored
  const value = change.value ?? current
  return { fieldId, label, env, ...(value && { value }) }
}

/** What a change wants is there already. */
export class NothingChanged extends Error {
  override name = 'NothingChanged'
}

/**
 * Refuses to write what is there, on a head that was read for it. A value that is given is written also where it is the same: to compare
 * it, the old one would be read and opened before each write, and writing it again is how an item gets another writer after a key was
 * compromised, and the current key of the vault.
 */
export function ensureChanged({ isFresh }: PlanContext, planned: readonly PlannedItem[]): void {
  if (!planned.every(leavesAsItIs)) return
  throw isFresh ? new NothingChanged() : new VaultMoved('nothing differs from the content in hand')
}

// A field that gets another label or flag takes its value along, and so does one that is new.
function leavesAsItIs({ edit, plan: { base } }: PlannedItem): boolean {
  const { name, website, status, fields = [] } = base?.detail ?? {}
  const isNamedSo = edit.name === name && edit.website === website && edit.status === status
  return isNamedSo && edit.fields.length === fields.length && edit.fields.every(({ value }) => !value)
}

/** Carries a plan over to a newer head: ciphertexts stay, unless the vault key changed. */
export async function rebasePlan(context: PlanContext, planned: PlannedItem): Promise<PlannedItem> {
  const { actor, known, dek, options } = context
  const { edit, first, plan } = planned
  const current = await baseOf(actor, known, edit.itemId, options)
  if (first.base && !current) throw absent('vault_item_not_found')
  const isUnder = (fieldId: string): boolean =>
    first.next.fields.find((field) => field.fieldId === fieldId)?.dekVersion === dek.dekVersion
  const isSealed = [...first.values.keys()].every(isUnder)
  if (isSealed && current?.hash === plan.base?.hash) return planned
  const ours = isSealed ? first : await planItem(dek, first.base, edit)
  return { edit, first: ours, plan: rebaseItem(ours, current, dek.dekVersion) }
}
