import { type DotenvEntry, type ItemSummary, nameProblem } from '@strongroom/sdk'

// What a pasted .env would do to a vault, line by line, before anything is saved.

export type EnvState = 'new' | 'changed' | 'same' | 'in several items' | 'no value' | 'refused name'

export interface EnvLine {
  readonly name: string
  readonly value: string
  readonly state: EnvState
  /** Where the variable is now. */
  readonly items: readonly ItemSummary[]
}

/** Which items of a vault give a variable, by name. */
export function variablePlaces(items: readonly ItemSummary[]): ReadonlyMap<string, readonly ItemSummary[]> {
  const places = new Map<string, ItemSummary[]>()
  for (const item of items)
    for (const label of item.labels) {
      const known = places.get(label)
      if (known) known.push(item)
      else places.set(label, [item])
    }
  return places
}

/** Of a name that comes twice the last counts, as for every reader of such files. */
export function lastOfEach(entries: readonly DotenvEntry[]): readonly DotenvEntry[] {
  return [...new Map(entries.map((entry) => [entry.name, entry])).values()]
}

export function diffOf(
  entries: readonly DotenvEntry[],
  items: readonly ItemSummary[],
  isSame: (name: string, value: string) => boolean,
): readonly EnvLine[] {
  const places = variablePlaces(items)
  const stateOf = ({ name, value }: DotenvEntry): EnvState => {
    const here = places.get(name) ?? []
    if (value === '') return 'no value'
    // No process would get anything of a vault with such a name in it.
    if (nameProblem(name) !== undefined) return 'refused name'
    if (here.length > 1) return 'in several items'
    if (here.length === 0) return 'new'
    return isSame(name, value) ? 'same' : 'changed'
  }
  return lastOfEach(entries).map((entry) => ({
    name: entry.name,
    value: entry.value,
    state: stateOf(entry),
    items: places.get(entry.name) ?? [],
  }))
}

export const isSaved = ({ state }: EnvLine): boolean => state === 'new' || state === 'changed'
