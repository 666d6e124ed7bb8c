import type { Commit, VerifiedAsset } from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { keyOf, readAssets } from './assets.ts'
import { type Built, commitWork } from './commit.ts'
import { loadVault } from './content.ts'
import type { KnownVault } from './memory.ts'
import { mapLimited } from './queue.ts'
import { signAnew } from './write-assets.ts'
import { buildItems, currentDek, inOrder } from './write-items.ts'

// After a rotation: the content keys of attachments are wrapped under the current vault key. 32 bytes each, whatever their size.

const BATCH = 100
const AT_ONCE = 8
const MAX_PASSES = 5

/** All that a head names, also of archived items and those that no item lists any more: each keeps an older key from ending. */
export async function rewrapAssets(actor: Actor, vaultId: string, options: CallerOptions): Promise<number> {
  let done = 0
  for (let passes = 1; passes <= MAX_PASSES; passes += 1) {
    const old = await oldAssets(actor, vaultId, options)
    if (old.length === 0) break
    for (let at = 0; at < old.length; at += BATCH)
      done += await rewrapBatch(actor, vaultId, old.slice(at, at + BATCH), options)
  }
  return done
}

async function oldAssets(actor: Actor, vaultId: string, options: CallerOptions): Promise<readonly VerifiedAsset[]> {
  const { head, content } = await loadVault(actor, vaultId, options)
  if (head.payload.oldestDek === head.payload.dekVersion) return []
  const itemIds = [...new Set([...content.assets.values()].map(({ itemId }) => itemId))]
  const read = await mapLimited(itemIds, AT_ONCE, (itemId) => readAssets(actor, vaultId, itemId, options))
  return read.flatMap(({ assets, head }) => assets.filter((one) => one.content.dekVersion < head.payload.dekVersion))
}

/** Somebody else was quicker with all of it. */
class NothingLeft extends Error {
  override name = 'NothingLeft'
}

async function rewrapBatch(
  actor: Actor,
  vaultId: string,
  batch: readonly VerifiedAsset[],
  options: CallerOptions,
): Promise<number> {
  let count = 0
  const build = async ([known]: readonly KnownVault[]): Promise<readonly Built[]> => {
    const { head, content } = known as KnownVault
    const left = batch.filter(({ row }) => content.assets.get(row.assetId)?.docHash === row.docHash)
    if (left.length === 0) throw new NothingLeft('every attachment has changed meanwhile')
    count = left.length
    const to = { dek: await currentDek(actor, known as KnownVault, options), vaultId }
    const assets = await inOrder(left, async (asset) =>
      signAnew(actor, asset, await keyOf(actor, head, asset.content.dekVersion, options), to),
    )
    return [await buildItems(actor, known as KnownVault, { items: [], assets })]
  }
  const send = ([commit]: readonly Commit[], call: CallOptions): Promise<unknown> =>
    actor.client.vaults.commit({ params: { vaultId }, body: { commit: commit as Commit } }, call)
  try {
    await commitWork(actor, [vaultId], { build, send }, options)
    return count
  } catch (error) {
    if (error instanceof NothingLeft) return 0
    throw error
  }
}
