import type { Item, NewField, Strongroom } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { withProgress } from '../prompt/progress.ts'
import { distinctItems, EMPTY, type Found, type FoundItem } from './source.ts'

// What an import would do in each vault. What is there is never written over: a field that is missing comes in, one that has another
// value is named and left alone.

export interface Existing {
  readonly name: string
  readonly itemId: string
  /** Fields that the item has not. */
  readonly missing: readonly NewField[]
  /** Labels of fields that have another value here. */
  readonly differing: readonly string[]
}

export interface Plan {
  readonly vault: string
  readonly isNew: boolean
  readonly items: readonly FoundItem[]
  readonly there: readonly Existing[]
}

const isSame = (value: string | Uint8Array, held: Uint8Array): boolean => Buffer.from(value).equals(held)

function compared({ name, itemId, fields: held }: Item, { fields }: FoundItem): Existing {
  const heldAs = new Map(held.map(({ label, secret }) => [label, secret.bytes()]))
  return {
    name,
    itemId,
    missing: fields.filter(({ label }) => !heldAs.has(label)),
    differing: fields
      .filter(({ label, value }) => {
        const own = heldAs.get(label)
        return own !== undefined && !isSame(value, own)
      })
      .map(({ label }) => label),
  }
}

async function planFor(
  { signal }: Cli,
  strongroom: Strongroom,
  vault: string,
  own: readonly FoundItem[],
): Promise<Plan> {
  const ids = new Map((await strongroom.items.list(vault, { signal })).map(({ name, itemId }) => [name, itemId]))
  const there: Existing[] = []
  for (const item of own) {
    const itemId = ids.get(item.name)
    if (itemId !== undefined) there.push(compared(await strongroom.items.get(vault, itemId, { signal }), item))
  }
  return { vault, isNew: false, items: own.filter(({ name }) => !ids.has(name)), there }
}

export async function planOf(cli: Cli, { items }: Found, vaultOf: (from: string) => string): Promise<readonly Plan[]> {
  const strongroom = await cli.strongroom()
  const known = (await strongroom.vaults.list({ signal: cli.signal })).filter(({ status }) => status === 'active')
  const plans: Plan[] = []
  for (const vault of new Set(items.map(({ from }) => vaultOf(from)))) {
    const own = distinctItems(items.filter(({ from }) => vaultOf(from) === vault))
    const isNew = !known.some(({ name, vaultId }) => name === vault || vaultId === vault)
    plans.push(isNew ? { vault, isNew, items: own, there: [] } : await planFor(cli, strongroom, vault, own))
  }
  return plans
}

/** How many things there are to bring. */
export function countsOf(plans: readonly Plan[]): { readonly items: number; readonly fields: number } {
  const there = plans.flatMap((plan) => plan.there)
  return {
    items: plans.reduce((sum, { items }) => sum + items.length, 0),
    fields: there.reduce((sum, { missing }) => sum + missing.length, 0),
  }
}

/** Whether the vaults have everything that was in the file once the plan is carried out, so that the file is needed no more. */
export const isWhole = (plans: readonly Plan[], { leftOut }: Found): boolean =>
  plans.every(({ there }) => there.every(({ differing }) => differing.length === 0)) &&
  leftOut.every(({ reason }) => reason === EMPTY)

export async function carryOut(cli: Cli, plans: readonly Plan[]): Promise<void> {
  const { signal } = cli
  const strongroom = await cli.strongroom()
  await withProgress(cli, 'encrypting', async (progress) => {
    for (const { vault, isNew, items, there } of plans) {
      if (isNew) await strongroom.vaults.create({ name: vault }, { signal })
      const clean = items.map(({ from: _, ...item }) => item)
      await strongroom.items.import(vault, clean, {
        signal,
        onProgress: (count, total) => progress.update(`${vault}: ${count} of ${total} items`),
      })
      for (const { itemId, missing } of there)
        if (missing.length > 0) await strongroom.items.update(vault, itemId, { add: missing }, { signal })
    }
  })
}
