import { assetContent, type Commit, claimedKind, peekDocument } from '@strongroom/protocol'
import type { TxCtx } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { refusing } from '../../log/refusals.ts'
import * as store from './store.ts'

/**
 * Refuses a commit with the checkpoint of content that is not stored. New content comes by its own route, which stores it first; every
 * other commit only signs anew what is there: after a rotation of the vault key, or in the other vault after a move.
 */
export async function ensureContentsStored({ db, principal }: TxCtx, commit: Commit): Promise<void> {
  const contents = await refusing(async () =>
    commit.docs
      .filter((envelope) => claimedKind(envelope) === 'asset-content')
      .map((envelope) => peekDocument(assetContent, envelope).payload),
  )
  if (contents.length === 0) return
  if ((await store.countStored(db, principal.orgId, contents)) !== contents.length)
    throw new ApiError('attachment_mismatch', { details: { rule: 'the_content_is_not_stored' } })
}
