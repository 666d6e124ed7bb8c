import { VaultMoved } from '../engine/content.ts'
import type { PlanContext, PlannedItem } from '../engine/item-changes.ts'
import { listVaults, readVault } from '../engine/vaults.ts'
import type { KeyedPlace } from './core.ts'
import { orAbsent } from './names.ts'
import { ConflictError, ValidationError } from './public-errors.ts'
import { activeItems } from './read-secrets.ts'

// Names that are given to something: not blank, and not those of something else, so that a name leads to one thing on every machine.

type Named = 'vault' | 'item' | 'field'

const aOf = (what: Named): string => `${what === 'item' ? 'an' : 'a'} ${what}`

export function ensureNotBlank(what: Named, name: string): void {
  if (name.trim() !== '') return
  const body = { message: `the name of ${aOf(what)} is empty`, hint: 'Give a name that is not only blanks.' }
  throw new ValidationError({ code: 'validation_failed', ...body }, 400)
}

const CHOOSE = 'Choose another name, or change the one that is there.'

const taken = (what: Named, name: string, hint = CHOOSE): ConflictError =>
  new ConflictError({ code: 'name_taken', message: `there is ${aOf(what)} ${JSON.stringify(name)} already`, hint }, 409)

/** Refuses a name that an active vault in sight is verified to have, other than `own`. Of two who ask at once, both may get it. */
export async function ensureVaultName(
  { actor, options }: KeyedPlace,
  name: string,
  own?: string,
  hint?: string,
): Promise<void> {
  ensureNotBlank('vault', name)
  for (const { claimed, verify } of await listVaults(actor, options)) {
    if (claimed.name !== name || claimed.status !== 'active' || claimed.vaultId === own) continue
    const vault = await orAbsent(verify(options))
    if (vault?.name === name && vault.status === 'active') throw taken('vault', name, hint)
  }
}

/** The same for an archived vault that comes back under the name it had: an archived one cannot be renamed. */
export async function ensureReturning(place: KeyedPlace, vaultId: string): Promise<void> {
  const { name } = await readVault(place.actor, vaultId, place.options)
  await ensureVaultName(place, name, vaultId, 'Rename or archive the one that has the name, then restore.')
}

type OnHead = Pick<PlanContext, 'known' | 'isFresh'>

function ensureFree({ known, isFresh }: OnHead, names: readonly string[], own?: string): void {
  const others = activeItems(known.content.items.values()).filter(({ itemId }) => itemId !== own)
  const held = new Set(others.map(({ name }) => name))
  const [first] = names.filter((name) => held.has(name))
  if (first === undefined) return
  throw isFresh ? taken('item', first) : new VaultMoved('an item has the name in the content in hand')
}

/** Refuses, on the head a change is built on, a name that an active item other than `own` has. */
export function itemNameCheck(name: string, own?: string): (context: OnHead) => void {
  ensureNotBlank('item', name)
  return (context) => ensureFree(context, [name], own)
}

/** The same for an item that comes back under the name it had. */
export const returningCheck =
  (itemId: string) =>
  (context: OnHead): void => {
    const { name } = context.known.content.items.get(itemId) ?? {}
    if (name !== undefined) ensureFree(context, [name], itemId)
  }

/** The same for an item that arrives from another vault, or gets a name it had before. */
export const arrivingCheck =
  (itemId: string) =>
  (context: OnHead, name: string): void =>
    ensureFree(context, [name], itemId)

/** Refuses blank names of what is new, and two that are one. */
export function ensureOwnNames(what: Named, names: readonly string[]): void {
  const seen = new Set<string>()
  for (const name of names) {
    ensureNotBlank(what, name)
    if (seen.has(name)) throw taken(what, name)
    seen.add(name)
  }
}

/** The same as for one item for many new ones, which have names of their own among themselves too. */
export function newNamesCheck(names: readonly string[]): (context: OnHead, left: readonly string[]) => void {
  ensureOwnNames('item', names)
  return ensureFree
}

/**
 * Refuses a label that another field of the item has, on the head a change is built on: a reference would mean either. Two that another
 * client has made stay as they are, so that one can be renamed or removed.
 */
export function ensureOwnLabels({ isFresh }: Pick<PlanContext, 'isFresh'>, planned: readonly PlannedItem[]): void {
  for (const { base, next } of planned.map(({ plan }) => plan)) {
    const before = new Map(base?.detail.fields.map(({ fieldId, label }) => [fieldId, label]))
    const twice = next.fields.find(
      ({ fieldId, label }) =>
        before.get(fieldId) !== label &&
        next.fields.some((other) => other.label === label && other.fieldId !== fieldId),
    )
    if (twice)
      throw isFresh ? taken('field', twice.label) : new VaultMoved('a field has the label in the content in hand')
  }
}
