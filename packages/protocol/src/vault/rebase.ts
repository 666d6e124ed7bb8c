import { compareText } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'
import { sameField } from './check-commit.ts'
import type { DetailField } from './documents.ts'
import type { ItemBase, ItemPlan } from './edit.ts'

// Section 6.3, conflicts: a plan made on an older head is carried over to the newer one, or the caller decides.

/** What both sides changed differently; the product shows both and asks. */
export interface Collision {
  readonly itemId: string
  /** A field id, or the name of an attribute of the item. */
  readonly what: string
}

/**
 * Carries one plan over to the current version of its item. Ciphertexts are reused, because `rev` counts per field.
 * Refuses with `rebase_conflict` if both sides changed the same thing, or if the vault key changed under the plan.
 */
export function rebaseItem(plan: ItemPlan, current: ItemBase | undefined, dekVersion: number): ItemPlan {
  const { itemId } = plan.next
  const sealedUnderOther = plan.next.fields.filter(
    (field) => plan.values.has(field.fieldId) && field.dekVersion !== dekVersion,
  )
  ensure(sealedUnderOther.length === 0, 'rebase_conflict', 'the vault key changed: seal the values again', {
    itemId,
    reseal: sealedUnderOther.map((field) => field.fieldId),
  })
  if (current?.hash === plan.base?.hash) return plan
  ensure(current && plan.base, 'rebase_conflict', 'an item was made on both sides', {
    itemId,
    collisions: [{ itemId, what: 'item' }],
  })
  const collisions: Collision[] = []
  const attribute = <K extends 'name' | 'website' | 'status'>(what: K) =>
    merge(
      plan.base?.detail[what],
      plan.next[what],
      current.detail[what],
      (a, b) => a === b,
      () => collisions.push({ itemId, what }),
    ) as ItemPlan['next'][K]
  const next = {
    itemId,
    name: attribute('name'),
    website: attribute('website'),
    status: attribute('status'),
    fields: mergeFields(plan, current, collisions),
    assets: mergeAssets(plan.base.detail.assets, plan.next.assets, current.detail.assets),
  }
  ensure(collisions.length === 0, 'rebase_conflict', 'the same thing was changed on both sides', { itemId, collisions })
  const values = new Map([...plan.values].filter(([fieldId]) => next.fields.some((field) => field.fieldId === fieldId)))
  return { base: current, next, values }
}

/** Three-way: whoever differs from the base wins; if both do and differ from one another, it is a collision. */
function merge<T>(
  base: T | undefined,
  ours: T | undefined,
  theirs: T | undefined,
  same: (a: T, b: T) => boolean,
  collide: () => void,
): T | undefined {
  const equal = (a: T | undefined, b: T | undefined): boolean =>
    a === undefined || b === undefined ? a === b : same(a, b)
  if (equal(base, ours)) return theirs
  if (equal(base, theirs) || equal(ours, theirs)) return ours
  collide()
  return theirs
}

function mergeFields(plan: ItemPlan, current: ItemBase, collisions: Collision[]): DetailField[] {
  const sides = [plan.base?.detail.fields ?? [], plan.next.fields, current.detail.fields].map(
    (fields) => new Map(fields.map((field) => [field.fieldId, field])),
  )
  const [base, ours, theirs] = sides as [Map<string, DetailField>, Map<string, DetailField>, Map<string, DetailField>]
  const merged: DetailField[] = []
  for (const fieldId of new Set([...ours.keys(), ...theirs.keys()])) {
    const field = merge(base.get(fieldId), ours.get(fieldId), theirs.get(fieldId), sameField, () =>
      collisions.push({ itemId: plan.next.itemId, what: fieldId }),
    )
    if (field) merged.push(field)
  }
  return merged.sort((a, b) => compareText(a.fieldId, b.fieldId))
}

/** Attachments are a set: additions and removals of both sides hold. */
function mergeAssets(base: readonly string[], ours: readonly string[], theirs: readonly string[]): string[] {
  const removed = new Set(base.filter((assetId) => !ours.includes(assetId) || !theirs.includes(assetId)))
  return [...new Set([...ours, ...theirs])].filter((assetId) => !removed.has(assetId)).sort(compareText)
}
