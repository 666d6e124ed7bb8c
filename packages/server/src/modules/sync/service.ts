import type { sync } from '@strongroom/contract'
import { openVault, type ReadableVault } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import { type Ctx, type TxCtx, transact } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { begun, JSON_STREAM, jsonList, streamed } from '../../http/stream.ts'
import { readVault, signedVault, signedWithKeys } from '../vaults/answer.ts'
import { openCursor, sealCursor } from './cursor.ts'
import * as store from './store.ts'

// Sync follows the log: whatever changes in a vault, in the access to it or in the keys to it is a leaf, and leaves have one
// order. A cursor is a size of the log; what a leaf behind it touched is sent, and sending something twice does no harm.

export const syncVaults: Handler<typeof sync.sync> = async (ctx, { query }) => {
  const asked = query.cursor === undefined ? undefined : openCursor(ctx, query.cursor)
  const { changed, removed, size, full } = await transact(ctx, async ({ db, principal }) => {
    // Read before the vaults: what changes meanwhile comes again with the next cursor.
    const size = (await store.logSize(db, principal.orgId)) ?? 0
    // A log shorter than the cursor was restored from a copy: the client has to begin anew, and to ask why.
    const since = asked === undefined || asked > size ? undefined : asked
    const changed = await store.changedVaults(db, principal.orgId, principal.id, since ?? 0)
    const removed = since === undefined ? [] : await store.removedVaults(db, principal.orgId, principal.id, since)
    return { changed, removed, size, full: since === undefined }
  })
  const since = full ? 0 : (asked ?? 0)
  const first = { cursor: sealCursor(ctx, size), full, removed }
  return streamed(JSON_STREAM, jsonList(first, 'vaults', await begun(syncedVaults(ctx, changed, since))))
}

async function* syncedVaults(ctx: Ctx, changed: readonly store.ChangedVault[], since: number) {
  for (const { vaultId, isNew } of changed) {
    const complete = isNew || since === 0
    const content = await readWhole(ctx, vaultId, complete ? 0 : since)
    if (content) yield { ...content, complete, gone: complete ? [] : content.gone }
  }
}

/** One vault at one moment, audited before anything of it leaves; undefined if the access ended since it was listed. */
const readWhole = (ctx: Ctx, vaultId: string, since: number) =>
  transact(
    ctx,
    async (ctx) => {
      const vault = await openVault(ctx, vaultId).catch(ended)
      if (!vault) return undefined
      await record(ctx, { action: 'vault.sync', targets: [{ type: 'vault', id: vaultId }] })
      return {
        vault: await readVault(ctx.db, vault.orgId, ctx.principal.id, vaultId),
        ...(await proofOf(ctx, vault)),
        items: await store.itemsSince(ctx.db, vault, since),
        assets: await store.assetsSince(ctx.db, vault, since),
        gone: await store.goneSince(ctx.db, vault, since),
      }
    },
    { atOneMoment: true },
  )

function ended(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'vault_not_found') return undefined
  throw error
}

/** Somebody who waits for a grant sees the vault, and cannot open it yet. */
async function proofOf(ctx: TxCtx, vault: ReadableVault) {
  try {
    return await signedWithKeys(ctx, vault)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'wrapped_key_missing') throw error
    const { signed } = await signedVault(ctx, vault)
    return { signed, wrappedKeys: [] }
  }
}

export const vaultsData: Handler<typeof sync.vaultsData> = async (ctx) => {
  const changed = await transact(ctx, ({ db, principal }) => store.changedVaults(db, principal.orgId, principal.id, 0))
  return streamed(JSON_STREAM, jsonList({}, 'data', await begun(wholeVaults(ctx, changed))))
}

async function* wholeVaults(ctx: Ctx, vaults: readonly store.ChangedVault[]) {
  for (const { vaultId } of vaults) {
    const content = await readWhole(ctx, vaultId, 0)
    if (!content) continue
    const { gone: _, ...whole } = content
    yield whole
  }
}
