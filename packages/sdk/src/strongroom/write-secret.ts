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
import { nameProblem } from './env-names.ts'
import { ensureNotBlank } from './given-names.ts'
import { absent, inVault, isVaultId, pick } from './names.ts'
import { AmbiguousReferenceError, ConfigError, ConflictError, ValidationError } from './public-errors.ts'
import { activeItems, FIELDS, ITEMS } from './read-secrets.ts'
import { formatRef, type ParsedRef } from './refs.ts'
import type { SecretRef } from './secret.ts'

// Writing one field by its reference. What is there is decided on the head the change is built on, and again on each newer one, so
// a name that has moved on is not followed, and two writers of one reference make one item and one field, whoever comes first.

export interface SetOptions extends RequestOptions {
  /**
   * Whether the field belongs to the environment; a new one does unless told otherwise, or its name is one that no process should get: that would
   * keep everybody from the whole environment.
   */
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

const refusedValue = (message: string, hint: string): ValidationError =>
  new ValidationError({ code: 'validation_failed', message, hint }, 400)

/** Also of another realm, as a page of tests has it. */
const isBytes = (given: unknown): boolean => Object.prototype.toString.call(given) === '[object Uint8Array]'

/** A value as it is sealed; refuses one that is too large, and text that would not come back as it was given. */
export const fieldValue = (given: string | Uint8Array): FieldValue => {
  // Without types anything may come: a variable that is not set would be written over the value as nothing at all.
  if (typeof given !== 'string' && !isBytes(given))
    throw refusedValue('a value is neither text nor bytes', 'Give a string or a Uint8Array.')
  if (typeof given === 'string' && !given.isWellFormed())
    throw refusedValue(
      'a text value is not well-formed Unicode: it has half of a surrogate pair',
      'Give the value as bytes.',
    )
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

/** The vault that was found by name has another name by now, or was put away. */
class NameMoved extends Error {}

/** The name that was resolved earlier must be that of the head the change is built on. */
function ensureNamed({ known }: PlanContext, asked: string): void {
  const { name, status } = known.head.payload.meta
  if (!isVaultId(asked) && (name !== asked || status !== 'active')) throw new NameMoved()
}

const GONE: ReadonlySet<string> = new Set(['vault_not_found', 'vault_archived'])
const isMoved = (error: unknown): boolean =>
  error instanceof NameMoved || (error instanceof ApiError && GONE.has(error.code))

const MAX_TRIES = 2

/** Commits in the vault that is meant; looks a name up once more if it has moved on. */
async function inTarget<T>(place: KeyedPlace, asked: string, work: (vaultId: string) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const vaultId = await targetOf(place, asked)
    try {
      return await work(vaultId)
    } catch (error) {
      if (isVaultId(asked) || !isMoved(error)) throw error
      place.session.vaultIds.delete(asked)
      if (tries >= MAX_TRIES) throw error instanceof NameMoved ? absent('vault_not_found', 'vault', asked) : error
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
  /** Of the item. */
  readonly fields: readonly DetailField[]
  /** Of the active items. */
  readonly names: readonly string[]
}

/** What the reference means in the content in hand. */
async function find(context: PlanContext, ref: ParsedRef): Promise<Found> {
  ensureNamed(context, ref.vault)
  const { actor, known, options } = context
  const active = activeItems(known.content.items.values())
  const names = active.map(({ name }) => name)
  const row = orUndefined(() => pick(active, ref.item, ITEMS))
  if (!row) return { names, fields: [] }
  const fields = (await baseOf(actor, known, row.itemId, options))?.detail.fields ?? []
  const field = orUndefined(() => pick<DetailField>(fields, ref.field, FIELDS))
  return { row, names, fields, ...(field && { field }) }
}

const isAbsent = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'vault_item_not_found' || error.code === 'field_not_found')
const isRefusal = (error: unknown): boolean =>
  isAbsent(error) || error instanceof ConflictError || error instanceof AmbiguousReferenceError

/**
 * Work that is planned anew on every head. What is refused because of what is there is refused on what was read for this change:
 * what is remembered may be old.
 */
function byReference(
  { client }: Actor,
  vaultId: string,
  plan: (context: PlanContext) => Promise<PlannedItem>,
): ItemWork {
  let isFresh = false
  const unlessOld = (counts: (error: unknown) => boolean) => (error: unknown) => {
    throw !isFresh && counts(error) ? new VaultMoved('what is in hand may be old') : error
  }
  return {
    plan: async (context) => {
      isFresh = context.isFresh
      return [await plan(context).catch(unlessOld(isRefusal))]
    },
    send: (commit, call: CallOptions, [only]) => {
      const sent =
        only && only.detail.itemVersion > 1
          ? client.items.update({ params: { id: only.detail.itemId }, body: { commit } }, call)
          : client.items.create({ params: { vaultId }, body: { commit } }, call)
      return sent.catch(unlessOld(isAbsent))
    },
    replans: true,
  }
}

/** The same for everybody who writes this reference first, so that they notice each other. */
async function idFor(prefix: 'itm' | 'fld', ...parts: readonly string[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(parts))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `${prefix}_${toBase64url(digest).slice(0, 26)}`
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

/** Ids that follow from names stay with what was renamed, relabelled or archived since. */
async function newIds(
  { vaultId, ref, isRandom }: Setting,
  { known }: PlanContext,
  { row, fields }: Found,
): Promise<{ readonly itemId: string; readonly fieldId: string }> {
  const named = await idFor('itm', vaultId, ref.item)
  const isTaken = isRandom || known.content.items.has(named)
  const itemId = row?.itemId ?? (isTaken ? makeId('itm') : named)
  const labelled = await idFor('fld', itemId, ref.field)
  const isUsed = isRandom || fields.some(({ fieldId }) => fieldId === labelled)
  return { itemId, fieldId: isUsed ? makeId('fld') : labelled }
}

async function planSet(setting: Setting, context: PlanContext): Promise<{ planned: PlannedItem; target: Target }> {
  const { ref, value } = setting
  const { env, ifVersion } = setting.options
  const found = await find(context, ref)
  const { row, field } = found
  const version = field?.rev ?? 0
  if (ifVersion !== undefined && ifVersion !== version) throw versionConflict(version)
  if (row && field) {
    const { fieldId } = field
    const edit = [{ fieldId, value, ...(env !== undefined && { env }) }]
    return { planned: await planChange(context, { itemId: row.itemId, edit }), target: { fieldId, isNew: false } }
  }
  if (!row) ensureNotBlank('item', ref.item)
  ensureNotBlank('field', ref.field)
  const { itemId, fieldId } = await newIds(setting, context, found)
  const add = [{ fieldId, label: ref.field, env: env ?? nameProblem(ref.field) === undefined, value }]
  const planned = row
    ? await planChange(context, { itemId, add })
    : await planEdit(context.dek, undefined, newItem({ itemId, name: ref.item, fields: add }))
  return { planned, target: { fieldId, isNew: true } }
}

async function writeOnce(setting: Setting): Promise<{ readonly written: Written; readonly target: Target }> {
  const { actor, options } = setting.place
  let target: Target = { fieldId: '', isNew: true }
  const work = byReference(actor, setting.vaultId, async (context) => {
    const next = await planSet(setting, context)
    target = next.target
    return next.planned
  })
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
      // An item that has left the vault or a removed field had the id that follows from the name.
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
  const plan = async (context: PlanContext): Promise<PlannedItem> => {
    const { row, field, names } = await find(context, ref)
    if (!row) throw absent('vault_item_not_found', 'item', ref.item, names)
    if (!field) throw absent('field_not_found', 'field', ref.field)
    return planChange(context, { itemId: row.itemId, remove: [field.fieldId] })
  }
  return inTarget(place, ref.vault, async (vaultId) => {
    await commitItems(actor, vaultId, byReference(actor, vaultId, plan), options)
  })
}
