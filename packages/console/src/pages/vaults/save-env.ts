import { formatRef, type ItemSummary, parseDotenv, type Strongroom } from '@strongroom/sdk'
import { diffOf, type EnvLine, lastOfEach, variablePlaces } from './env-diff.ts'

/** Holds a pasted text against the vault. Values that are there already are opened here, compared, and overwritten in memory. */
export async function compareEnv(
  strongroom: Strongroom,
  vaultId: string,
  items: readonly ItemSummary[],
  text: string,
): Promise<readonly EnvLine[]> {
  const entries = parseDotenv(text)
  const places = variablePlaces(items)
  const refs: Record<string, string> = {}
  for (const { name } of lastOfEach(entries)) {
    const [only, ...others] = places.get(name) ?? []
    if (only && others.length === 0) refs[name] = formatRef({ vault: vaultId, item: only.itemId, field: name })
  }
  const current = Object.keys(refs).length === 0 ? {} : await strongroom.secrets.getAll(refs)
  const lines = diffOf(entries, items, (name, value) => current[name]?.equals(value) ?? false)
  for (const secret of Object.values(current)) if (Symbol.dispose in secret) secret[Symbol.dispose]()
  return lines
}

interface Target {
  readonly vaultId: string
  /** Where new variables go: an item that is there, or the name of a new one. */
  readonly into: ItemSummary | string
  onProgress(done: number, total: number): void
}

const variable = ({ name, value }: EnvLine) => ({ label: name, value, isEnvironmentVariable: true })

function byItem(lines: readonly EnvLine[]): ReadonlyMap<string, readonly EnvLine[]> {
  const groups = new Map<string, EnvLine[]>()
  for (const line of lines) {
    const itemId = line.items[0]?.itemId ?? ''
    groups.set(itemId, [...(groups.get(itemId) ?? []), line])
  }
  return groups
}

/** One signed change for each item that is concerned; says how many variables were written. */
export async function saveEnv(
  strongroom: Strongroom,
  lines: readonly EnvLine[],
  { vaultId, into, onProgress }: Target,
): Promise<number> {
  const added = lines.filter(({ state }) => state === 'new')
  const changed = byItem(lines.filter(({ state }) => state === 'changed'))
  const isInto = typeof into !== 'string' && added.length > 0
  const itemIds = new Set([...changed.keys(), ...(isInto ? [into.itemId] : [])])
  const total = itemIds.size + (added.length > 0 && !isInto ? 1 : 0)
  let done = 0
  onProgress(done, total)
  for (const itemId of itemIds) {
    const here = changed.get(itemId) ?? []
    const ids = here.length === 0 ? new Map<string, string>() : await fieldIdsOf(strongroom, vaultId, itemId)
    await strongroom.items.update(vaultId, itemId, {
      edit: here.map(({ name, value }) => ({ fieldId: ids.get(name) ?? '', value })),
      add: isInto && into.itemId === itemId ? added.map(variable) : [],
    })
    done += 1
    onProgress(done, total)
  }
  if (added.length > 0 && typeof into === 'string') {
    await strongroom.items.create(vaultId, { name: into, fields: added.map(variable) })
    onProgress(total, total)
  }
  return added.length + [...changed.values()].flat().length
}

async function fieldIdsOf(strongroom: Strongroom, vaultId: string, itemId: string): Promise<Map<string, string>> {
  const { fields } = await strongroom.items.get(vaultId, itemId)
  const exported = fields.filter(({ isEnvironmentVariable }) => isEnvironmentVariable)
  return new Map(exported.map(({ fieldId, label }) => [label, fieldId]))
}
