import type { EnvRow, FieldValue, ItemRow, VerifiedHead } from '@strongroom/protocol'
import { NotCachedError } from '../engine/engine-errors.ts'
import { type EnvironmentOptions, type EnvironmentRead, readEnvironment } from '../engine/environment.ts'
import { itemsHint, keepItemsHint } from '../engine/hints.ts'
import { type ItemRead, listItems, type OpenField, readItem } from '../engine/items.ts'
import { mapLimited } from '../engine/queue.ts'
import type { Receipt as EngineReceipt } from '../engine/receipt.ts'
import { absent, inVault, type Place, pick } from './names.ts'
import { receiptFrom } from './receipt.ts'
import { formatRef, type ParsedRef } from './refs.ts'
import { Secret } from './secret.ts'
import type { StrongroomError } from './strongroom-error.ts'

// From references to secrets: names are looked up in the complete verified list of the vault, values of the environment come in
// one request however many there are, and others with their item.

export interface Reader extends Place {
  /** When the cache answers; never if absent. */
  readonly caching?: EnvironmentOptions
  readonly onReveal?: ((event: { readonly ref: string }) => void) | undefined
}

export type Outcome = { readonly ok: true; readonly secret: Secret } | { readonly ok: false; readonly error: unknown }

interface FoundValue {
  readonly label: string
  readonly rev: number
  readonly value: FieldValue
  readonly receipt: EngineReceipt
}

const secretOf = ({ onReveal }: Reader, ref: ParsedRef, { label, rev, value, receipt }: FoundValue): Secret =>
  new Secret(value.value, {
    ref: formatRef(ref),
    name: label,
    version: rev,
    receipt: receiptFrom(receipt),
    onReveal,
  })

export const ITEMS = {
  id: ({ itemId }: ItemRow) => itemId,
  name: ({ name }: ItemRow) => name,
  what: 'item',
  code: 'vault_item_not_found',
} as const
interface NamedField {
  readonly fieldId: string
  readonly label: string
}
export const FIELDS = {
  id: ({ fieldId }: NamedField) => fieldId,
  name: ({ label }: NamedField) => label,
  what: 'field',
  code: 'field_not_found',
} as const

export const itemsThatAre = (wanted: ItemRow['status'], items: Iterable<ItemRow>): ItemRow[] =>
  [...items].filter(({ status }) => status === wanted)
export const activeItems = (items: Iterable<ItemRow>): ItemRow[] => itemsThatAre('active', items)

interface Names {
  readonly items: readonly ItemRow[]
  readonly environment: readonly Pick<EnvRow, 'itemId' | 'label' | 'fieldId'>[]
}

interface Rows extends Names {
  readonly head: VerifiedHead
}

/** What is known of the vault already, or all of its rows. */
async function rowsOf({ actor, options }: Reader, vaultId: string): Promise<Rows> {
  const known = actor.memory.vault(vaultId)
  if (!known) return listItems(actor, vaultId, options)
  const { head, content } = known
  return { head, items: [...content.items.values()], environment: [...content.env.values()] }
}

const AT_ONCE = 8
const MAX_TRIES = 4

/**
 * Every reference into one vault: two requests at first, one when its names are known, in this process or from an earlier one, and
 * one more for each item beyond the environment.
 */
export async function readRefs(reader: Reader, asked: string, refs: readonly ParsedRef[]): Promise<readonly Outcome[]> {
  const { outcomes } = await inVault(reader, asked, (vaultId) => readInVault(reader, vaultId, refs))
  return outcomes
}

interface InVault {
  readonly head: VerifiedHead
  readonly outcomes: readonly Outcome[]
}

async function readInVault(reader: Reader, vaultId: string, refs: readonly ParsedRef[]): Promise<InVault> {
  const { actor, isOffline = false } = reader
  const before = actor.memory.vault(vaultId)
  const hint = before ? undefined : await itemsHint(actor, vaultId)
  const environment = hint || isOffline ? await environmentOf(reader, vaultId) : undefined
  const items = environment && hint?.under(environment.head)
  if (environment && items) return readUnder(reader, vaultId, refs, { environment, items })
  // Without the rows of exactly this head nothing shows what its items are called.
  if (isOffline || environment?.receipt.source === 'cache') throw new NotCachedError(vaultId)
  const read = await readListed(reader, vaultId, refs, environment)
  const known = actor.memory.vault(vaultId)
  if (known && known.head.hash !== before?.head.hash)
    await keepItemsHint(actor, vaultId, [...known.content.items.values()])
  return read
}

const environmentOf = ({ actor, options, caching }: Reader, vaultId: string): Promise<EnvironmentRead> =>
  readEnvironment(actor, vaultId, { ...caching, ...options })

/** By the environment and the names of items under its head. */
async function readUnder(
  reader: Reader,
  vaultId: string,
  refs: readonly ParsedRef[],
  { environment, items }: { readonly environment: EnvironmentRead; readonly items: readonly ItemRow[] },
): Promise<InVault> {
  const { head, variables } = environment
  const wanted = refs.map((ref) => locate({ items, environment: variables }, ref))
  const isBeyond = wanted.some((one) => 'itemId' in one)
  if (isBeyond && environment.receipt.source === 'cache') throw new NotCachedError(vaultId)
  const read = await readItems(reader, vaultId, wanted)
  return { head, outcomes: refs.map((ref, i) => outcomeOf(reader, ref, wanted[i] as Wanted, environment, read)) }
}

async function readListed(
  reader: Reader,
  vaultId: string,
  refs: readonly ParsedRef[],
  earlier: EnvironmentRead | undefined,
): Promise<InVault> {
  for (let tries = 1; ; tries += 1) {
    const rows = await rowsOf(reader, vaultId)
    const wanted = refs.map((ref) => locate(rows, ref))
    const isEnvironment = wanted.some((one) => 'fieldId' in one)
    const isSame = earlier?.head.hash === rows.head.hash
    const fresh = isEnvironment && !isSame ? readEnvironment(reader.actor, vaultId, reader.options) : undefined
    const environment = isSame ? earlier : await fresh
    // What was remembered or listed is of another head: names are looked up again in the newer list.
    const isMoved = environment !== undefined && environment.head.hash !== rows.head.hash
    const isAbsent =
      wanted.some((one) => 'error' in one) && tries === 1 && reader.actor.memory.vault(vaultId) !== undefined
    if ((isMoved || isAbsent) && tries < MAX_TRIES) {
      reader.actor.memory.forgetVault(vaultId)
      continue
    }
    const items = await readItems(reader, vaultId, wanted)
    const outcomes = refs.map((ref, i) => outcomeOf(reader, ref, wanted[i] as Wanted, environment, items))
    return { head: environment?.head ?? rows.head, outcomes }
  }
}

type Wanted = { readonly fieldId: string } | { readonly itemId: string } | { readonly error: StrongroomError }

/** A field of the environment is meant before one that is not: to see whether there is another one, every item would be asked for. */
function locate({ items, environment }: Names, { item, field }: ParsedRef): Wanted {
  try {
    const { itemId } = pick(activeItems(items), item, ITEMS)
    const named = environment.filter((row) => row.itemId === itemId && (row.label === field || row.fieldId === field))
    return named.length === 1 && named[0] ? { fieldId: named[0].fieldId } : { itemId }
  } catch (error) {
    return { error: error as StrongroomError }
  }
}

async function readItems(
  { actor, options }: Reader,
  vaultId: string,
  wanted: readonly Wanted[],
): Promise<ReadonlyMap<string, ItemRead>> {
  const itemIds = [...new Set(wanted.flatMap((one) => ('itemId' in one ? [one.itemId] : [])))]
  const items = await mapLimited(itemIds, AT_ONCE, (itemId) => readItem(actor, vaultId, itemId, options))
  return new Map(items.map((item) => [item.itemId, item]))
}

function outcomeOf(
  reader: Reader,
  ref: ParsedRef,
  wanted: Wanted,
  environment: EnvironmentRead | undefined,
  items: ReadonlyMap<string, ItemRead>,
): Outcome {
  if ('error' in wanted) return { ok: false, error: wanted.error }
  try {
    const found = 'fieldId' in wanted ? variableOf(environment, wanted.fieldId) : fieldOf(items.get(wanted.itemId), ref)
    return { ok: true, secret: secretOf(reader, ref, found) }
  } catch (error) {
    return { ok: false, error }
  }
}

function variableOf(environment: EnvironmentRead | undefined, fieldId: string): FoundValue {
  const variable = environment?.variables.find((one) => one.fieldId === fieldId)
  if (!environment || !variable) throw absent('field_not_found', 'field', fieldId)
  return { ...variable, receipt: environment.receipt }
}

function fieldOf(item: ItemRead | undefined, { item: asked, field }: ParsedRef): FoundValue {
  // The item is read after the list: it is what counts.
  const isNamed = item && (item.name === asked || item.itemId === asked) && item.status === 'active'
  if (!isNamed) throw absent('vault_item_not_found', 'item', asked)
  const found = pick<OpenField>(item.fields, field, FIELDS)
  return { ...found, receipt: item.receipt }
}

/** The environment of one vault, as secrets by label. */
export async function readVariables(
  reader: Reader,
  asked: string,
  options: EnvironmentOptions,
): Promise<{ readonly secrets: ReadonlyMap<string, Secret>; readonly read: EnvironmentRead }> {
  const read = await inVault(reader, asked, (vaultId) => readEnvironment(reader.actor, vaultId, options))
  return { secrets: secretsOf(reader, read), read }
}

export function secretsOf(
  reader: Reader,
  { variables, receipt, head }: Pick<EnvironmentRead, 'variables' | 'receipt' | 'head'>,
): ReadonlyMap<string, Secret> {
  const vault = head.payload.meta.name
  return new Map(
    variables.map((variable) => {
      const ref = { vault, item: variable.itemId, field: variable.label }
      return [variable.label, secretOf(reader, ref, { ...variable, receipt })]
    }),
  )
}
