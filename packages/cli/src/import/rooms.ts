import { MAX_ITEM_FIELDS } from '@strongroom/protocol'
import type { Item, NewField } from '@strongroom/sdk'
import { type FoundItem, numbered } from './source.ts'

// An item with more fields than one has room for lies in several: `env`, `env 2`, `env 3`. A field stays in the one it came into, wherever
// the file has it by now; what is new goes where there is room.

/** Fields of a file, and the item of the vault that has them or has room for them. */
export interface Room {
  readonly held: Item
  readonly fields: readonly NewField[]
}

export interface Placed {
  readonly rooms: readonly Room[]
  readonly fresh: readonly FoundItem[]
}

const holds = ({ fields }: Item, { label }: NewField): boolean => fields.some((own) => own.label === label)

/** Those of a vault that an earlier run made of this item, the first one first; none where it was not brought before. */
export async function earlierRooms(
  item: FoundItem,
  ids: ReadonlyMap<string, string>,
  isOthers: (name: string) => boolean,
  open: (itemId: string) => Promise<Item>,
): Promise<readonly Item[]> {
  const firstId = ids.get(item.name)
  if (firstId === undefined) return []
  const first = await open(firstId)
  const more = item.fields.filter((field) => !holds(first, field))
  if (first.fields.length + more.length <= MAX_ITEM_FIELDS) return [first]
  const rooms = [first]
  for (const id of numberedIds(item.name, ids, isOthers)) {
    const other = await open(id)
    // One that has nothing of the file is somebody's own.
    if (more.some((field) => holds(other, field))) rooms.push(other)
  }
  return rooms
}

/** Of `env 2`, `env 3` and so on, in their order. Some may have gone since. */
const numberedIds = (
  name: string,
  ids: ReadonlyMap<string, string>,
  isOthers: (name: string) => boolean,
): readonly string[] =>
  [...ids]
    .map(([own, id]) => ({ own, id, times: Number(/ (\d+)$/.exec(own)?.[1]) }))
    .filter(({ own, times }) => times >= 2 && own === numbered(name, times) && !isOthers(own))
    .sort((a, b) => a.times - b.times)
    .map(({ id }) => id)

/** Where each field goes. Names of new items become `taken`. */
export function placeFields(item: FoundItem, held: readonly Item[], taken: Set<string>): Placed {
  const given = held.map((): NewField[] => [])
  const left = item.fields.filter((field) => {
    const at = held.findIndex((room) => holds(room, field))
    given[at]?.push(field)
    return at < 0
  })
  const rooms = held.map((room, i) => {
    const added = left.splice(0, Math.max(0, MAX_ITEM_FIELDS - room.fields.length))
    return { held: room, fields: [...(given[i] ?? []), ...added] }
  })
  return { rooms, fresh: held.length > 0 && left.length === 0 ? [] : freshItems(item, left, held.length === 0, taken) }
}

function freshItems(
  item: FoundItem,
  fields: readonly NewField[],
  isFirst: boolean,
  taken: Set<string>,
): readonly FoundItem[] {
  const count = Math.max(1, Math.ceil(fields.length / MAX_ITEM_FIELDS))
  return Array.from({ length: count }, (_, i) => {
    const hasOwnName = isFirst && i === 0
    const name = hasOwnName ? item.name : freeName(item.name, taken)
    taken.add(name)
    const own = fields.slice(i * MAX_ITEM_FIELDS, (i + 1) * MAX_ITEM_FIELDS)
    const renamed = (item.renamed ?? []).filter((label) => own.some((field) => field.label === label))
    return { ...item, name, fields: own, renamed, files: hasOwnName ? (item.files ?? []) : [] }
  })
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let times = 2
  while (taken.has(numbered(name, times))) times += 1
  return numbered(name, times)
}
