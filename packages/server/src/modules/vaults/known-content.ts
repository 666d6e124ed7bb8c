import type { VaultContent } from '@strongroom/protocol'

// The content of vaults that were written lately. A head signs exactly one content, so what is kept under its hash is right for ever;
// who may see it is asked elsewhere, each time.

const MAX_ROWS = 100_000

const rowsOf = ({ items, env, assets }: VaultContent): number => items.size + env.size + assets.size + 1

const kept = new Map<string, VaultContent>()
let total = 0

const nameOf = (orgId: string, headHash: string): string => `${orgId} ${headHash}`

export const knownContent = (orgId: string, headHash: string): VaultContent | undefined =>
  kept.get(nameOf(orgId, headHash))

/** In the place of the content of the head before; the oldest goes first. */
export function keepContent(orgId: string, previous: string, headHash: string, content: VaultContent): void {
  drop(nameOf(orgId, previous))
  drop(nameOf(orgId, headHash))
  kept.set(nameOf(orgId, headHash), content)
  total += rowsOf(content)
  for (const name of kept.keys()) {
    if (total <= MAX_ROWS) break
    drop(name)
  }
}

function drop(name: string): void {
  const content = kept.get(name)
  if (!content) return
  kept.delete(name)
  total -= rowsOf(content)
}
