import { fieldNow, type Item, type Secret, type Strongroom } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'
import { compareNames } from '../../ui/name-order.ts'
import type { ShownItem } from './queries.ts'

// What an item was, beside what it is. Values are compared as they come and overwritten at once: a page keeps only which of them differ.

export type Difference = 'same' | 'other value' | 'other label' | 'other export' | 'removed since' | 'added since'

export interface VersionField {
  /** As the version had it; of one that was added since, as it is now. */
  readonly fieldId: string
  readonly label: string
  readonly isEnvironmentVariable: boolean
  readonly difference: Difference
}

export interface ShownVersion {
  readonly version: number
  readonly name: string
  readonly website: string
  readonly fields: readonly VersionField[]
  readonly isSame: boolean
}

type Field = Item['fields'][number]

const forget = (fields: readonly Field[], but?: Secret): void => {
  for (const { secret } of fields) if (secret !== but && Symbol.dispose in secret) secret[Symbol.dispose]()
}

function differenceOf(then: Field, now: Field | undefined): Difference {
  if (!now) return 'removed since'
  if (!then.secret.equals(now.secret)) return 'other value'
  if (then.label !== now.label) return 'other label'
  return then.isEnvironmentVariable === now.isEnvironmentVariable ? 'same' : 'other export'
}

function compare(then: Item, now: Item): ShownVersion {
  const met = new Set<Field>()
  const had = then.fields.map((field) => {
    const current = fieldNow(field, then.fields, now.fields)
    if (current) met.add(current)
    const { fieldId, label, isEnvironmentVariable } = field
    return { fieldId, label, isEnvironmentVariable, difference: differenceOf(field, current) }
  })
  const added = now.fields
    .filter((field) => !met.has(field))
    .map(({ fieldId, label, isEnvironmentVariable }) => {
      return { fieldId, label, isEnvironmentVariable, difference: 'added since' as const }
    })
  const fields = [...had, ...added].sort((a, b) => compareNames(a.label, b.label))
  const { version, name, website } = then
  const isSame = name === now.name && website === now.website && fields.every((one) => one.difference === 'same')
  return { version, name, website, fields, isSame }
}

/** Under the head it was compared with: what differs from the current version changes with that. */
export const itemVersionQuery = (
  strongroom: Strongroom,
  { vaultId, itemId, version: current }: ShownItem,
  version: number,
) =>
  queryOptions({
    queryKey: ['vault', vaultId, 'items', itemId, 'version', version, current],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<ShownVersion> => {
      const then = await strongroom.items.version(vaultId, itemId, version, { signal })
      const now = await strongroom.items.get(vaultId, itemId, { signal })
      const shown = compare(then, now)
      forget([...then.fields, ...now.fields])
      return shown
    },
  })

/** The versions that the server still keeps, by number, and whether they are opened. */
export const keptVersionsQuery = (strongroom: Strongroom, { vaultId, itemId, version }: ShownItem) =>
  queryOptions({
    queryKey: ['vault', vaultId, 'items', itemId, 'kept', version],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<ReadonlyMap<number, boolean>> => {
      const versions = await strongroom.items.versions(vaultId, itemId, { signal })
      return new Map(versions.map((one) => [one.version, one.isReadable]))
    },
  })

/** Asks for one value of a version, and forgets the others that came with it. */
export async function openVersionField(
  strongroom: Strongroom,
  { vaultId, itemId }: ShownItem,
  version: number,
  fieldId: string,
): Promise<Secret> {
  const { fields } = await strongroom.items.version(vaultId, itemId, version)
  const wanted = fields.find((field) => field.fieldId === fieldId)
  forget(fields, wanted?.secret)
  if (!wanted) throw new Error('this version has no such field')
  return wanted.secret
}
