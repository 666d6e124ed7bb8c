import type { transparency } from '@strongroom/contract'
import { encodeProof, leafHash, nodesForInclusion, proveInclusionFrom } from '@strongroom/protocol'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { readLog, readMaterial } from '../../log/log-store.ts'
import { transparencyOf } from '../../log/transparency.ts'
import { openDocument } from './documents.ts'
import * as store from './store.ts'

const TILE_WIDTH = 256
/** A tile of level L holds the roots of subtrees of this many levels each, times L. */
const TILE_HEIGHT = 8
const MAX_ENTRIES = 1000
const MAX_ENTRIES_BYTES = 4 * 1024 * 1024

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

const openLog = async ({ db, principal }: TxCtx) => found(await readLog(db, principal.orgId), 'leaf_not_found')

export const checkpoint: Handler<typeof transparency.checkpoint> = (ctx) =>
  transact(ctx, async (ctx) => {
    const { note, size } = await openLog(ctx)
    return { checkpoint: note, size }
  })

const spanOf = (index: number, width: number = TILE_WIDTH): store.Span => ({
  start: index * TILE_WIDTH,
  end: index * TILE_WIDTH + width,
})

/** A tile exists once the log has all of it: what it holds can then never change. */
function complete<T>(rows: readonly T[], { start, end }: store.Span): readonly T[] {
  if (rows.length < end - start) throw new ApiError('leaf_not_found')
  return rows
}

export const tile: Handler<typeof transparency.tile> = (ctx, { params, query }) =>
  transact(ctx, async ({ db, principal }) => {
    const span = spanOf(params.index, query.width)
    const hashes = await store.hashes(db, principal.orgId, params.level * TILE_HEIGHT, span)
    return { hashes: complete(hashes, span).map(base64) }
  })

export const entriesTile: Handler<typeof transparency.entriesTile> = (ctx, { params, query }) =>
  transact(ctx, async ({ db, principal }) => {
    const span = spanOf(params.index, query.width)
    const leaves = await store.leaves(db, principal.orgId, span)
    return { entries: complete(leaves, span).map(base64) }
  })

export const entries: Handler<typeof transparency.entries> = (ctx, { query: { start, end } }) =>
  transact(ctx, async (ctx) => {
    const { size } = await openLog(ctx)
    if (end <= start)
      throw new ApiError('validation_failed', {
        details: { in: 'query', problems: [{ path: '/end', problem: 'must be after start' }] },
      })
    if (start >= size) throw new ApiError('leaf_not_found')
    const span = { start, end: Math.min(end, size, start + MAX_ENTRIES) }
    const rows = await store.entries(ctx.db, ctx.principal.orgId, span, MAX_ENTRIES_BYTES)
    const reached = start + rows.length
    return {
      entries: rows.map(({ index, leaf, documents, updates }) => ({
        index,
        leaf: base64(leaf),
        ...(documents && { documents: base64(documents) }),
        ...(updates && { updates: base64(updates) }),
      })),
      size,
      next: reached < Math.min(end, size) ? reached : null,
    }
  })

export const document: Handler<typeof transparency.document> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    const { payload, payloadType, signatures } = await openDocument(ctx, params.hash)
    return { document: { payload, payloadType, signatures } }
  })

export const proof: Handler<typeof transparency.proof> = (ctx, { params: { index }, query }) =>
  transact(ctx, async (ctx) => {
    const log = await openLog(ctx)
    const size = query.size ?? log.size
    if (size > log.size || index >= size) throw new ApiError('leaf_not_found')
    const { db, principal } = ctx
    const { note } = found(await store.checkpointOf(db, principal.orgId, size), 'leaf_not_found')
    const { node, leaf } = await readMaterial(db, principal.orgId, nodesForInclusion(index, size), index)
    const hashes = [...encodeProof(proveInclusionFrom(node, index, size))]
    return { index, size, leafHash: base64(leafHash(leaf)), hashes, checkpoint: note }
  })

export const state: Handler<typeof transparency.state> = (ctx, { query: { name, have } }) =>
  transact(ctx, ({ db, principal, request }) => transparencyOf(db, principal.orgId, [name], have ?? request.have))
