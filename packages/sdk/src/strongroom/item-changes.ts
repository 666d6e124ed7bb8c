import {
  type ItemChange as EngineChange,
  ensureChanged,
  NothingChanged,
  type PlanContext,
  type PlannedItem,
} from '../engine/item-changes.ts'
import { moveItem } from '../engine/move-item.ts'
import { changeItems, importItems } from '../engine/write-items.ts'
import type { KeyedPlace } from './core.ts'
import {
  arrivingCheck,
  ensureOwnLabels,
  ensureOwnNames,
  itemNameCheck,
  newNamesCheck,
  returningCheck,
} from './given-names.ts'
import { locate } from './item-reads.ts'
import type { ItemChange, ItemPlace, NewField, NewItem } from './items.ts'
import { vaultIdOf } from './names.ts'
import { ValidationError } from './public-errors.ts'
import { fieldValue } from './write-secret.ts'

const fieldOf = ({ label, value, isEnvironmentVariable = false }: NewField) => ({
  label,
  env: isEnvironmentVariable,
  value: fieldValue(value),
})

const changeOf = (itemId: string, { name, website, add, edit, remove }: ItemChange): EngineChange => ({
  itemId,
  ...(name !== undefined && { name }),
  ...(website !== undefined && { website }),
  ...(add && { add: add.map(fieldOf) }),
  ...(edit && {
    edit: edit.map(({ fieldId, label, value, isEnvironmentVariable }) => ({
      fieldId,
      ...(label !== undefined && { label }),
      ...(isEnvironmentVariable !== undefined && { env: isEnvironmentVariable }),
      ...(value !== undefined && { value: fieldValue(value) }),
    })),
  }),
  ...(remove && { remove }),
})

/** In the one form that a name is looked for in (docs/reference/protocol.md 2.3). */
const normalLabels = <F extends { readonly label?: string }>(fields: readonly F[]): readonly F[] =>
  fields.map((field) => (field.label === undefined ? field : { ...field, label: field.label.normalize() }))

const normalItem = ({ name, fields, ...more }: NewItem): NewItem => ({
  ...more,
  name: name.normalize(),
  fields: normalLabels(fields),
})

const normalChange = ({ name, add, edit, ...more }: ItemChange): ItemChange => ({
  ...more,
  ...(name !== undefined && { name: name.normalize() }),
  ...(add && { add: normalLabels(add) }),
  ...(edit && { edit: normalLabels(edit) }),
})

const labelsOf = (fields: readonly { readonly label?: string }[]): readonly string[] =>
  fields.flatMap(({ label }) => label ?? [])

const newItemOf = ({ name, website, fields }: NewItem) => ({
  name,
  ...(website !== undefined && { website }),
  fields: fields.map(fieldOf),
})

export async function create(place: KeyedPlace, vault: string, given: NewItem): Promise<ItemPlace> {
  const item = normalItem(given)
  const check = itemNameCheck(item.name)
  ensureOwnNames('field', labelsOf(item.fields))
  const vaultId = await vaultIdOf(place, vault)
  const edits = { create: [newItemOf(item)] }
  const { items } = await changeItems(place.actor, vaultId, edits, { ...place.options, check })
  return { vaultId, itemId: items[0]?.itemId ?? '' }
}

export async function importAll(
  place: KeyedPlace,
  vault: string,
  given: readonly NewItem[],
  onProgress: ((done: number, total: number) => void) | undefined,
): Promise<readonly { readonly itemId: string; readonly name: string }[]> {
  const items = given.map(normalItem)
  const check = newNamesCheck(items.map(({ name }) => name))
  for (const { fields } of items) ensureOwnNames('field', labelsOf(fields))
  const vaultId = await vaultIdOf(place, vault)
  const more = { ...place.options, check, ...(onProgress && { onProgress }) }
  const done = await importItems(place.actor, vaultId, items.map(newItemOf), more)
  return done.items.map(({ itemId, name }) => ({ itemId, name }))
}

export async function update(place: KeyedPlace, vault: string, item: string, wanted: ItemChange): Promise<ItemPlace> {
  const change = normalChange(wanted)
  const { name, add = [], edit = [] } = change
  ensureOwnNames('field', labelsOf([...add, ...edit]))
  const { vaultId, itemId } = await locate(place, vault, item)
  const check = name === undefined ? {} : { check: itemNameCheck(name, itemId) }
  const approve = (context: PlanContext, planned: readonly PlannedItem[]): void => {
    ensureChanged(context, planned)
    ensureOwnLabels(context, planned)
  }
  const more = { ...place.options, ...check, approve }
  await changeItems(place.actor, vaultId, { edit: [changeOf(itemId, change)] }, more).catch((error: unknown) => {
    // A version more would say that something was changed, and would push one out of the history that says what.
    if (!(error instanceof NothingChanged)) throw error
  })
  return { vaultId, itemId }
}

export async function move(place: KeyedPlace, vault: string, item: string, to: string): Promise<ItemPlace> {
  const { vaultId: from, itemId } = await locate(place, vault, item)
  const vaultId = await vaultIdOf(place, to)
  if (vaultId === from) {
    const body = { message: 'the item is in this vault already', hint: 'Name another vault.' }
    throw new ValidationError({ code: 'validation_failed', ...body }, 400)
  }
  await moveItem(place.actor, { itemId, from, to: vaultId }, { ...place.options, check: arrivingCheck(itemId) })
  return { vaultId, itemId }
}

export async function archive(place: KeyedPlace, vault: string, item: string): Promise<void> {
  const { vaultId, itemId } = await locate(place, vault, item)
  await changeItems(place.actor, vaultId, { archive: [itemId] }, place.options)
}

export async function restore(place: KeyedPlace, vault: string, item: string): Promise<ItemPlace> {
  const { vaultId, itemId } = await locate(place, vault, item, 'archived')
  const more = { ...place.options, check: returningCheck(itemId) }
  await changeItems(place.actor, vaultId, { edit: [{ itemId, status: 'active' }] }, more)
  return { vaultId, itemId }
}
