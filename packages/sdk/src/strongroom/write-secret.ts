import {
  type FieldValue,
  type ItemDetailPayload,
  type ItemRow,
  MAX_VALUE_BYTES,
  makeId,
  textValue,
  toBase64url,
} from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import type { Actor } from '../engine/actor.ts'
import { baseOf, VaultMoved } from '../engine/content.ts'
import { newItem, type PlanContext, type PlannedItem, planChange, planEdit } from '../engine/item-changes.ts'
import { listItems } from '../engine/items.ts'
import { commitItems, type ItemWork, type Written } from '../engine/write-items.ts'
import { ApiError } from '../errors.ts'
import type { RequestOptions } from './call.ts'
import type { KeyedPlace } from './core.ts'
import { absent, inVault, isVaultId, pick } from './names.ts'
import { AmbiguousReferenceError, ConfigError, ConflictError } from './public-errors.ts'
import { activeItems, FIELDS, ITEMS } from './read-secrets.ts'
import { formatRef, type ParsedRef } from './refs.ts'
import type { SecretRef } from './secret.ts'

// Writing one field by its reference. What is there is decided on the head the change is built on, so two writers of one
// reference make one item and one field, whoever comes first.

export interface SetOptions extends RequestOptions {
  /** Whether the field belongs to the environment; a new one does unless told otherwise. */
  readonly env?: boolean
  /** Refuses with a ConflictError unless the field has this version; 0 for a field that must not be there yet. */
  readonly ifVersion?: number
}

export interface SetResult {
  readonly ref: SecretRef
  readonly version: number
  /** Whether the field is new. */
  readonly created: boolean
}

type DetailField = ItemDetailPayload['fields'][number]

/** A value as it is sealed; refuses one that is too large. */
export const fieldValue = (given: string | Uint8Array): FieldValue => {
  const value: FieldValue = typeof given === 'string' ? textValue(given) : { type: 0, value: new Uint8Array(given) }
  if (value.value.length <= MAX_VALUE_BYTES) return value
  throw new ConfigError('a value is larger than 64 KiB', {
    code: 'value_too_large',
    hint: 'Store it as an attachment.',
  })
}

async function targetOf(place: KeyedPlace, asked: string): Promise<string> {
  if (isVaultId(asked)) return asked
  const known = place.session.vaultIds.get(asked)
  if (known !== undefined && place.actor.memory.vault(known)) return known
  const { head } = await inVault(place, asked, (vaultId) => listItems(place.actor, vaultId, place.options))
  return head.vault.vaultId
}

/** The vault that was found by name has another name by now. */
class NameMoved extends Error {}

/** The name that was resolved earlier must be that of the head the change is built on. */
function ensureNamed(place: KeyedPlace, { known }: PlanContext, asked: string): void {
  if (isVaultId(asked) || known.head.payload.meta.name === asked) return
  place.session.vaultIds.delete(asked)
  throw new NameMoved()
}

const MAX_TRIES = 2

/** Commits in the vault that is meant; looks a name up once more if it has moved on. */
async function inTarget<T>(place: KeyedPlace, asked: string, work: (vaultId: string) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const vaultId = await targetOf(place, asked)
    try {
      return await work(vaultId)
    } catch (error) {
      if (!(error instanceof NameMoved)) throw error
      if (tries >= MAX_TRIES) throw absent('vault_not_found', 'vault', asked)
    }
  }
}

/** Ambiguity stays an error; absence does not. */
function orUndefined<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof AmbiguousReferenceError) throw error
    return undefined
  }
}

interface Found {
  readonly row?: ItemRow
  readonly field?: DetailField
  readonly names: readonly string[]
}

/** What the reference means in the content in hand. What is not there is looked for once more in fresh content. */
async function find(place: KeyedPlace, context: PlanContext, ref: ParsedRef): Promise<Found> {
  ensureNamed(place, context, ref.vault)
  const { actor, known, isFresh, options } = context
  const active = activeItems(known.content.items.values())
  const names = active.map(({ name }) => name)
  const row = orUndefined(() => pick(active, ref.item, ITEMS))
  if (!row && !isFresh) throw new VaultMoved('an item is not in the content in hand')
  if (!row) return { names }
  const base = await baseOf(actor, known, row.itemId, options)
  const field = orUndefined(() => pick<DetailField>(base?.detail.fields ?? [], ref.field, FIELDS))
  return { row, names, ...(field && { field }) }
}

/** The same for everybody who writes this reference first, so that they notice each other. */
async function idFor(prefix: 'itm' | 'fld', ...parts: readonly string[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(parts))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `${prefix}_${toBase64url(digest).slice(0, 26)}`
}

const sendItem =
  ({ client }: Actor, vaultId: string): ItemWork['send'] =>
  (commit, call: CallOptions, [only]) => {
    if (only && only.detail.itemVersion > 1)
      return client.items.update({ params: { id: only.detail.itemId }, body: { commit } }, call)
    return client.items.create({ params: { vaultId }, body: { commit } }, call)
  }

interface Target {
  readonly fieldId: string
  readonly isNew: boolean
}

interface Setting {
  readonly place: KeyedPlace
  readonly vaultId: string
  readonly ref: ParsedRef
  readonly value: FieldValue
  readonly options: SetOptions
  /** Ids that nobody can foresee, where those that follow from the names are taken. */
  readonly isRandom: boolean
}

async function planSet(setting: Setting, context: PlanContext): Promise<{ planned: PlannedItem; target: Target }> {
  const { place, vaultId, ref, value, isRandom } = setting
  const { env, ifVersion } = setting.options
  const { row, field } = await find(place, context, ref)
  const version = field?.rev ?? 0
  if (ifVersion !== undefined && ifVersion !== version) throw versionConflict(version)
  const fieldId = field?.fieldId ?? (isRandom ? makeId('fld') : await idFor('fld', vaultId, ref.item, ref.field))
  const target = { fieldId, isNew: field === undefined }
  const added = { fieldId, label: ref.field, env: env ?? true, value }
  if (!row) {
    const itemId = isRandom ? makeId('itm') : await idFor('itm', vaultId, ref.item)
    const edit = newItem({ itemId, name: ref.item, fields: [added] })
    return { planned: await planEdit(context.dek, undefined, edit), target }
  }
  const edits = field ? { edit: [{ fieldId, value, ...(env !== undefined && { env }) }] } : { add: [added] }
  return { planned: await planChange(context, { itemId: row.itemId, ...edits }), target }
}

async function writeOnce(setting: Setting): Promise<{ readonly written: Written; readonly target: Target }> {
  const { actor, options } = setting.place
  let target: Target = { fieldId: '', isNew: true }
  const plan = async (context: PlanContext): Promise<readonly PlannedItem[]> => {
    const next = await planSet(setting, context)
    target = next.target
    return [next.planned]
  }
  const work = { plan, send: sendItem(actor, setting.vaultId), overwrites: true }
  const written = await commitItems(actor, setting.vaultId, work, options)
  return { written, target }
}

export async function setSecret(
  place: KeyedPlace,
  ref: ParsedRef,
  given: string | Uint8Array,
  options: SetOptions = {},
): Promise<SetResult> {
  const value = fieldValue(given)
  return inTarget(place, ref.vault, async (vaultId) => {
    const setting = { place, vaultId, ref, value, options, isRandom: false }
    const { written, target } = await writeOnce(setting).catch((error: unknown) => {
      // An archived item or a removed field had the id that follows from the name.
      if (error instanceof ApiError && error.code === 'id_conflict') return writeOnce({ ...setting, isRandom: true })
      throw error
    })
    const field = written.items[0]?.fields.find(({ fieldId }) => fieldId === target.fieldId)
    return { ref: formatRef(ref), version: field?.rev ?? 1, created: target.isNew }
  })
}

const versionConflict = (currentVersion: number): ConflictError =>
  new ConflictError(
    {
      code: 'vault_head_conflict',
      message: 'the field has another version than expected',
      hint: 'Read it again and decide.',
      details: { currentVersion },
    },
    409,
  )

export function removeSecret(place: KeyedPlace, ref: ParsedRef): Promise<void> {
  const { actor, options } = place
  const plan = async (context: PlanContext): Promise<readonly PlannedItem[]> => {
    const { row, field, names } = await find(place, context, ref)
    if (!row) throw absent('vault_item_not_found', 'item', ref.item, names)
    if (!field) throw absent('field_not_found', 'field', ref.field)
    return [await planChange(context, { itemId: row.itemId, remove: [field.fieldId] })]
  }
  return inTarget(place, ref.vault, async (vaultId) => {
    await commitItems(actor, vaultId, { plan, send: sendItem(actor, vaultId), overwrites: true }, options)
  })
}
