import type { Ctx } from '../../context.ts'
import { ApiError } from '../../errors.ts'

// How far a client has synced: a size of the log, for one principal. Sealed, so that nobody else makes one up.

interface Cursor {
  readonly principal: string
  readonly size: number
}

const SEAL = 'sync cursor'
const ownerOf = ({ principal }: Ctx): string => `${principal.orgId} ${principal.id}`

export function sealCursor(ctx: Ctx, size: number): string {
  const cursor: Cursor = { principal: ownerOf(ctx), size }
  return ctx.rootKey.seal(SEAL, Buffer.from(JSON.stringify(cursor))).toString('base64url')
}

const MIN_SEALED_BYTES = 28

/** The size behind a cursor of the caller's own. */
export function openCursor(ctx: Ctx, text: string): number {
  const sealed = Buffer.from(text, 'base64url')
  const opened = sealed.length > MIN_SEALED_BYTES ? ctx.rootKey.open(SEAL, sealed) : undefined
  const cursor = opened && (JSON.parse(opened.toString()) as Cursor)
  if (cursor?.principal !== ownerOf(ctx))
    throw new ApiError('validation_failed', {
      details: { in: 'query', problems: [{ path: '/cursor', problem: 'not a cursor for this principal: sync anew' }] },
    })
  return cursor.size
}
