import type { CommitReceipt } from '@strongroom/contract'
import {
  type CheckedCommit,
  type Commit,
  type CommitBefore,
  checkCommit,
  type Envelope,
  itemDetail,
  type LeafType,
  peekDocument,
  type VaultHeadPayload,
  vaultHead,
} from '@strongroom/protocol'
import {
  ensureRestorable,
  ensureWritable,
  openVault,
  type ReadableVault,
  type WritableVault,
} from '../../access/vaults.ts'
import { recordActivity } from '../../audit/activity.ts'
import { record } from '../../audit/record.ts'
import type { Replay, TxCtx } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { type Appended, appendAct, lockOrgLog } from '../../log/append.ts'
import { ensureBroughtBySigner } from '../../log/directory-commit.ts'
import { refusing } from '../../log/refusals.ts'
import { publicKeyOf } from '../../log/signers.ts'
import { ensureContentsStored } from '../attachments/contents.ts'
import { readVault, signedVault } from './answer.ts'
import { conflictOf } from './conflict.ts'
import { commitPlain, plainCommit } from './plain-commit.ts'
import * as store from './store.ts'
import * as writes from './write-store.ts'

// A change of a vault (docs/reference/protocol.md 6.3): checked, logged and stored in one transaction, or not at all. The row of the log
// is locked first, so that what is checked is what is changed.

/** What a route says about the commits it takes; refuses with `invalid_document`. */
export type CommitRule = (checked: CheckedCommit, before: VaultHeadPayload | undefined) => void

export interface ChangedVault {
  readonly vaultId: string
  readonly checked: CheckedCommit
  readonly commit: Commit
  readonly head: { readonly payload: VaultHeadPayload; readonly hash: string }
  /** Whether it ends older keys of the vault. */
  readonly isRetiring: boolean
}

const peekHead = (commit: Commit) => refusing(async () => peekDocument(vaultHead, commit.head))

/** Nothing but the head: a rename, a reclassification, a status. */
export function refuseUnless(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new ApiError('invalid_document', { details: { rule } })
}

export interface CommitOptions {
  readonly rule: CommitRule
  /** What it is called in the audit log and in the activity feed. */
  readonly action: string
  readonly needs?: 'write' | 'admin'
}

/** Changes a vault that is there. */
export async function commitVault(
  ctx: TxCtx,
  vaultId: string,
  commit: Commit,
  options: CommitOptions,
): Promise<CommitReceipt> {
  const plain = plainCommit(commit)
  const done = plain && (await commitPlain(ctx, vaultId, commit, plain, options))
  if (done) return done
  await lockOrgLog(ctx)
  return commitAny(ctx, ensureWritable(await openVault(ctx, vaultId), options.needs), commit, options)
}

/** Makes an archived vault active again. */
export async function restoreVault(
  ctx: TxCtx,
  vaultId: string,
  commit: Commit,
  options: CommitOptions,
): Promise<CommitReceipt> {
  await lockOrgLog(ctx)
  return commitAny(ctx, ensureRestorable(await openVault(ctx, vaultId)), commit, options)
}

async function commitAny(
  ctx: TxCtx,
  vault: WritableVault,
  commit: Commit,
  { rule, action }: CommitOptions,
): Promise<CommitReceipt> {
  const { vaultId } = vault
  let isRotated = false
  const changed = await check(ctx, vault, commit, (checked, before) => {
    rule(checked, before)
    isRotated = checked.head.dekVersion !== before?.dekVersion
  })
  const appended = await append(ctx, changed.checked.acts, ['vault.commit'])
  await writes.storeCommit(ctx, changed, appended)
  await recordChange(ctx, { action, vaultId, index: appended.index, subject: subjectOf(changed) })
  // A new key can come with any change: it is told besides.
  if (isRotated) await recordActivity(ctx, { vaultId, action: 'vault.rotate-key', subject: vaultId })
  return receiptOf(ctx, vault, appended.index)
}

/** Makes a vault: the commit that creates it, under the id that follows from its creation. */
export async function commitNewVault(ctx: TxCtx, commit: Commit): Promise<CommitReceipt> {
  await lockOrgLog(ctx)
  const head = await peekHead(commit)
  const { orgId } = ctx.principal
  const { vaultId } = head.payload
  const place = { orgId, vaultId }
  const before = beforeOf(ctx, place, store.contentOf({ items: [], env: [], assets: [] }))
  ensureBroughtBySigner(ctx, head.payload.by)
  const checked = await refusing(() => checkCommit(before, commit))
  refuseUnless(checked.items.length + checked.assets.length === 0, 'a_new_vault_is_empty')
  refuseUnless(checked.head.meta.status === 'active', 'a_new_vault_is_active')
  const appended = await append(ctx, checked.acts, ['vault.commit'])
  await writes.storeNewVault(ctx, { vaultId, checked, commit, head, isRetiring: false }, appended)
  await recordChange(ctx, { action: 'vault.create', vaultId, index: appended.index, subject: vaultId })
  return receiptOf(ctx, place, appended.index)
}

/** Refuses what does not follow the current head, is not by the caller, or is another change than the route takes. */
export async function check(
  ctx: TxCtx,
  vault: WritableVault,
  commit: Commit,
  rule: CommitRule,
  move: Pick<CommitBefore, 'moved' | 'arriving'> = {},
): Promise<ChangedVault> {
  const head = await peekHead(commit)
  const { vaultId } = vault
  refuseUnless(head.payload.vaultId === vaultId, 'vault_swap')
  ensureBroughtBySigner(ctx, head.payload.by)
  const { headVersion, headHash } = commit.expect
  if (headVersion !== vault.headVersion || headHash !== vault.headHash) throw await conflictOf(ctx, vault, headVersion)
  const content = store.contentOf(await store.contentRows(ctx.db, vault))
  const checked = await refusing(() => checkCommit({ ...beforeOf(ctx, vault, content), ...move }, commit))
  const current = peekDocument(vaultHead, await writes.document(ctx.db, vault.orgId, vault.headHash)).payload
  rule(checked, current)
  await ensureContentsStored(ctx, commit)
  return { vaultId, checked, commit, head, isRetiring: checked.head.oldestDek > current.oldestDek }
}

function beforeOf(
  { db }: TxCtx,
  vault: Pick<ReadableVault, 'orgId' | 'vaultId'>,
  content: CommitBefore['content'],
): CommitBefore {
  const { orgId, vaultId } = vault
  return {
    org: orgId,
    vaultId,
    content,
    item: async (itemId) => {
      const stored = await store.item(db, vault as ReadableVault, itemId)
      if (!stored) return undefined
      const { payload, hash } = peekDocument(itemDetail, stored.detail)
      return { detail: payload, hash }
    },
    keyOf: (kid) => publicKeyOf(db, orgId, kid),
    oldestDek: (but) => writes.oldestDek(db, vault, but),
  }
}

export const append = (ctx: TxCtx, docs: readonly Envelope[], allowed: readonly LeafType[]): Promise<Appended> =>
  appendAct(ctx, ctx.db, ctx.principal.orgId, { docs, allowed })

/** The one item a commit is about, for the feed; else the vault. */
const subjectOf = ({ vaultId, checked }: ChangedVault): string =>
  checked.items.length === 1 ? (checked.items[0]?.detail.itemId ?? vaultId) : vaultId

export async function recordChange(
  ctx: TxCtx,
  change: { action: string; vaultId: string; index: number; subject: string },
): Promise<void> {
  const { action, vaultId, index, subject } = change
  const item = subject === vaultId ? [] : [{ type: 'item', id: subject }]
  await record(ctx, { action, targets: [{ type: 'vault', id: vaultId }, ...item], metadata: { index } })
  await recordActivity(ctx, { vaultId, action, subject })
}

export async function receiptOf(
  ctx: TxCtx,
  vault: Pick<ReadableVault, 'orgId' | 'vaultId'>,
  index: number,
): Promise<CommitReceipt> {
  const { signed } = await signedVault(ctx, vault)
  return { index, vault: await readVault(ctx.db, vault.orgId, ctx.principal.id, vault.vaultId), signed }
}

export const keptPlace = (index: number, vaultId: string) => ({ index, vaultId })

/** Of an answered commit only its place is kept; a repeated request gets the vault as it is then, proven. */
export const replayReceipt: Replay<CommitReceipt> = {
  kept: ({ index, vault: { vaultId } }) => keptPlace(index, vaultId),
  again: async (ctx, kept) => {
    const { index, vaultId } = kept as { index: number; vaultId: string }
    // Who has left the list since is shown nothing of now, not even for an old key.
    return receiptOf(ctx, await openVault(ctx, vaultId), index)
  },
}
