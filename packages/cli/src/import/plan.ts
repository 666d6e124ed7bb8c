import { createHash } from 'node:crypto'
import type { Attachment, Item, NewField, Strongroom } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { withProgress } from '../prompt/progress.ts'
import { earlierRooms, placeFields, type Room } from './rooms.ts'
import { distinctItems, EMPTY, type Found, type FoundFile, type FoundItem } from './source.ts'

// What an import would do in each vault. What is there is never written over: a field or a file that is missing comes in, one that has
// another content is named and left alone.

export interface Existing {
  readonly name: string
  readonly itemId: string
  /** Fields that the item has not. */
  readonly missing: readonly NewField[]
  /** Labels of fields that have another value here. */
  readonly differing: readonly string[]
  readonly missingFiles: readonly FoundFile[]
  /** Names of files that have another content here. */
  readonly differingFiles: readonly string[]
}

export interface Plan {
  readonly vault: string
  readonly isNew: boolean
  readonly items: readonly FoundItem[]
  readonly there: readonly Existing[]
}

const isSame = (value: string | Uint8Array, held: Uint8Array): boolean => Buffer.from(value).equals(held)

function compared({ held: { name, itemId, fields: held }, fields }: Room): Omit<Existing, `${string}Files`> {
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

async function hashOf(strongroom: Strongroom, vault: string, assetId: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  const { stream } = await strongroom.attachments.download(vault, assetId, { signal })
  for await (const chunk of stream) hash.update(chunk)
  return hash.digest('hex')
}

/** Two files of an item may have one name: each of those that are here stands for one that comes. */
async function comparedFiles(
  { signal }: Cli,
  strongroom: Strongroom,
  vault: string,
  { itemId }: Item,
  files: readonly FoundFile[],
): Promise<Pick<Existing, 'missingFiles' | 'differingFiles'>> {
  const here = files.length === 0 ? [] : [...(await strongroom.attachments.list(vault, itemId, { signal }))]
  const isIt = async (held: Attachment, { size, sha256 }: FoundFile): Promise<boolean> =>
    held.size === size && (await hashOf(strongroom, vault, held.assetId, signal)) === sha256
  const [missingFiles, differingFiles]: [FoundFile[], string[]] = [[], []]
  for (const file of files) {
    const named = here.filter(({ name }) => name === file.name)
    let same: Attachment | undefined
    for (const held of named) if (!same && (await isIt(held, file))) same = held
    if (same) here.splice(here.indexOf(same), 1)
    else if (named.length > 0) differingFiles.push(file.name)
    else missingFiles.push(file)
  }
  return { missingFiles, differingFiles }
}

async function planFor(cli: Cli, strongroom: Strongroom, vault: string, own: readonly FoundItem[]): Promise<Plan> {
  const { signal } = cli
  const ids = new Map((await strongroom.items.list(vault, { signal })).map(({ name, itemId }) => [name, itemId]))
  const named = new Set(own.map(({ name }) => name))
  const taken = new Set([...named, ...ids.keys()])
  const open = (itemId: string): Promise<Item> => strongroom.items.get(vault, itemId, { signal })
  const [items, there]: [FoundItem[], Existing[]] = [[], []]
  for (const item of own) {
    const held = await earlierRooms(item, ids, (name) => named.has(name), open)
    const { rooms, fresh } = placeFields(item, held, taken)
    items.push(...fresh)
    for (const [i, room] of rooms.entries()) {
      const files = await comparedFiles(cli, strongroom, vault, room.held, i === 0 ? (item.files ?? []) : [])
      there.push({ ...compared(room), ...files })
    }
  }
  return { vault, isNew: false, items, there }
}

/** Into a vault that is made for them. */
function freshPlan(vault: string, own: readonly FoundItem[]): Plan {
  const taken = new Set(own.map(({ name }) => name))
  return { vault, isNew: true, items: own.flatMap((item) => placeFields(item, [], taken).fresh), there: [] }
}

export async function planOf(cli: Cli, { items }: Found, vaultOf: (from: string) => string): Promise<readonly Plan[]> {
  const strongroom = await cli.strongroom()
  const known = (await strongroom.vaults.list({ signal: cli.signal })).filter(({ status }) => status === 'active')
  const plans: Plan[] = []
  for (const vault of new Set(items.map(({ from }) => vaultOf(from)))) {
    const own = distinctItems(items.filter(({ from }) => vaultOf(from) === vault))
    const isNew = !known.some(({ name, vaultId }) => name === vault || vaultId === vault)
    plans.push(isNew ? freshPlan(vault, own) : await planFor(cli, strongroom, vault, own))
  }
  return plans
}

/** How many things there are to bring. */
export function countsOf(plans: readonly Plan[]): Readonly<Record<'items' | 'fields' | 'files', number>> {
  const [items, there] = [plans.flatMap((plan) => plan.items), plans.flatMap((plan) => plan.there)]
  return {
    items: items.length,
    fields: there.reduce((sum, { missing }) => sum + missing.length, 0),
    files:
      items.reduce((sum, { files = [] }) => sum + files.length, 0) +
      there.reduce((sum, { missingFiles }) => sum + missingFiles.length, 0),
  }
}

/** Whether the vaults have everything that was in the file once the plan is carried out, so that the file is needed no more. */
export const isWhole = (plans: readonly Plan[], { leftOut }: Found): boolean =>
  plans.every(({ there }) =>
    there.every(({ differing, differingFiles }) => differing.length + differingFiles.length === 0),
  ) && leftOut.every(({ reason }) => reason === EMPTY)

export async function carryOut(cli: Cli, plans: readonly Plan[]): Promise<void> {
  const { signal } = cli
  const strongroom = await cli.strongroom()
  await withProgress(cli, 'encrypting', async (progress) => {
    for (const { vault, isNew, items, there } of plans) {
      if (isNew) await strongroom.vaults.create({ name: vault }, { signal })
      const clean = items.map(({ from: _, files: __, renamed: ___, ...item }) => item)
      const made = await strongroom.items.import(vault, clean, {
        signal,
        onProgress: (count, total) => progress.update(`${vault}: ${count} of ${total} items`),
      })
      for (const { itemId, missing } of there)
        if (missing.length > 0) await strongroom.items.update(vault, itemId, { add: missing }, { signal })
      const ids = new Map(made.map(({ name, itemId }) => [name, itemId]))
      const files = [
        ...items.flatMap(({ name, files: own = [] }) => own.map((file) => ({ file, itemId: ids.get(name) ?? name }))),
        ...there.flatMap(({ itemId, missingFiles }) => missingFiles.map((file) => ({ file, itemId }))),
      ]
      for (const { file, itemId } of files) {
        progress.update(`${vault}: ${file.name}`)
        const { name, mediaType } = file
        await strongroom.attachments.upload(vault, itemId, file.open(), { name, mediaType, signal })
      }
    }
  })
}
