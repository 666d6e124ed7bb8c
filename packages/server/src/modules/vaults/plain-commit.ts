import type { CommitReceipt } from '@strongroom/contract'
import {
  type CheckedCommit,
  type Commit,
  type CommitBefore,
  checkCommit,
  claimedKind,
  itemDetail,
  kidName,
  ProtocolError,
  peekDocument,
  type Transition,
  type VaultContent,
  type VaultHeadPayload,
  type VaultState,
  vaultHead,
  vaultName,
} from '@strongroom/protocol'
import { ensureWritable, foundVault, type WritableVault } from '../../access/vaults.ts'
import { activityRow, FEED_LOCK } from '../../audit/activity.ts'
import { auditing, auditRow } from '../../audit/record.ts'
import type { TxCtx } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { decideAct, ensureGoesOn, ensureStorable, growLog, leafTime, signCheckpoint } from '../../log/append.ts'
import { ensureBroughtBySigner } from '../../log/directory-commit.ts'
import { LOG_KEY } from '../../log/log-key.ts'
import { logStateOf } from '../../log/log-state.ts'
import type { LockedLog } from '../../log/log-store.ts'
import { type Mentions, mentionsOf } from '../../log/mentions.ts'
import { refusing } from '../../log/refusals.ts'
import { keyIn, publicKeyOf } from '../../log/signers.ts'
import { vaultAnswer } from './answer.ts'
import { type CommitOptions, refuseUnless } from './commit.ts'
import { conflictOf } from './conflict.ts'
import { keepContent, knownContent } from './known-content.ts'
import { keepDocuments, knownDocuments } from './plain-commit-documents.ts'
import { documentIn, signedAfter, stateIn } from './plain-commit-receipt.ts'
import { itemRows, type Logged, leafRows } from './plain-commit-rows.ts'
import { type CommitSurroundings, type LoggedDocument, openCommit, writeCommit } from './plain-store.ts'
import * as store from './store.ts'
import { oldestDek, refusingIds } from './write-store.ts'

// The commit that is made all day: items, and the head over them. It is checked by the same rules as any other (docs/reference/protocol.md 5.7
// and 6.3), but what they ask for is read in one statement and what follows is written in one; the receipt is proven from both.

/** What is known of a plain commit before anything is read. Attacker-controlled: nothing of it is verified yet. */
export interface PlainCommit {
  readonly head: { readonly payload: VaultHeadPayload; readonly hash: string }
  readonly itemIds: readonly string[]
  readonly mentions: Mentions
}

/** undefined for a commit that brings anything but items, and for one that cannot be read: those go the ordinary way. */
export function plainCommit(commit: Commit): PlainCommit | undefined {
  try {
    if (!commit.docs.every((envelope) => claimedKind(envelope) === 'item-detail')) return undefined
    return {
      head: peekDocument(vaultHead, commit.head),
      itemIds: commit.docs.map((envelope) => peekDocument(itemDetail, envelope).payload.itemId),
      mentions: mentionsOf([commit.head]),
    }
  } catch (error) {
    if (error instanceof ProtocolError) return undefined
    throw error
  }
}

interface Opened {
  readonly log: LockedLog
  readonly vault: WritableVault
  readonly around: CommitSurroundings
  readonly content: VaultContent
}

interface Change {
  readonly commit: Commit
  readonly plain: PlainCommit
  readonly opened: Opened
}

/** Refuses in the order of any other commit: the log, the vault, the role, the head, the content, the rules. */
export async function commitPlain(
  ctx: TxCtx,
  vaultId: string,
  commit: Commit,
  plain: PlainCommit,
  { rule, action, needs = 'write' }: CommitOptions,
): Promise<CommitReceipt | undefined> {
  const opened = await open(ctx, vaultId, commit, plain, needs)
  const change = { commit, plain, opened }
  const checked = await check(ctx, change)
  rule(checked, peekDocument(vaultHead, documentIn(opened.around, opened.vault.headHash).envelope).payload)
  ensureStorable(checked.acts)
  const at = leafTime(ctx, opened.log)
  const applied = await decide(ctx, change, checked, at)
  // A head that ends older keys ends their grants as well: that goes the ordinary way.
  if (applied.updates.length !== 1) return undefined
  const grown = growLog(opened.log, applied, opened.around.paths, at)
  const note = await signCheckpoint(ctx, opened.log, grown.grown.root)
  const logged = { applied, grown, note, at }
  const row = await write(ctx, change, checked, logged, action)
  const head = { hash: plain.head.hash, kind: 'vault-head', envelope: commit.head }
  keep(opened, head, checked)
  const signed = await signedAfter(ctx, opened, head, logged)
  return { index: opened.log.size, vault: vaultAnswer({ ...row, role: opened.vault.role }), signed }
}

/** For the next commit of this vault. Under hashes: also if this transaction fails, nothing of it is wrong. */
function keep({ vault, around }: Opened, head: LoggedDocument, { content }: CheckedCommit): void {
  const { orgId, vaultId, headHash } = vault
  keepContent(orgId, headHash, head.hash, content)
  keepDocuments(orgId, vaultId, [...around.documents.filter(({ hash }) => hash !== headHash), head])
}

async function open(
  ctx: TxCtx,
  vaultId: string,
  { expect }: Commit,
  { head, itemIds, mentions }: PlainCommit,
  needs: 'write' | 'admin',
): Promise<Opened> {
  const { orgId, id: principal } = ctx.principal
  const known = knownContent(orgId, expect.headHash)
  const documents = knownDocuments(orgId, vaultId)
  const ask = {
    principal,
    vaultId,
    headHash: expect.headHash,
    kid: head.payload.by,
    names: [...mentions.names],
    principals: [...mentions.principals],
    items: itemIds,
    known: documents.map(({ hash }) => hash),
    withContent: known === undefined,
    logKey: LOG_KEY,
  }
  const { log, vault, around } = await openCommit(ctx.db, orgId, ask)
  if (!log) throw new Error('the organisation has no log')
  ensureGoesOn(log, false)
  const writable = ensureWritable(foundVault(vault), needs)
  refuseUnless(head.payload.vaultId === vaultId, 'vault_swap')
  ensureBroughtBySigner(ctx, head.payload.by)
  if (!around || expect.headVersion !== writable.headVersion) throw await conflictOf(ctx, writable, expect.headVersion)
  const content = known ?? (around.content && store.contentOf(around.content))
  if (!content) throw new Error('the content of a vault was not read')
  return { log, vault: writable, around: { ...around, documents: [...documents, ...around.documents] }, content }
}

function check({ db }: TxCtx, { commit, opened }: Change): Promise<CheckedCommit> {
  const { vault, around, content } = opened
  const { orgId, vaultId } = vault
  const before: CommitBefore = {
    org: orgId,
    vaultId,
    content,
    item: async (itemId) => {
      const stored = around.details[itemId]
      if (!stored) return undefined
      const { payload, hash } = peekDocument(itemDetail, stored)
      return { detail: payload, hash }
    },
    keyOf: (kid) => {
      const record = stateIn(around, kidName(kid))?.rec
      return typeof record === 'string' ? keyIn(documentIn(around, record).envelope, kid) : publicKeyOf(db, orgId, kid)
    },
    oldestDek: (but) => oldestDek(db, vault, but),
  }
  return refusing(() => checkCommit(before, commit))
}

const decide = (ctx: TxCtx, { plain, opened }: Change, { acts }: CheckedCommit, at: number): Promise<Transition> =>
  refusing(() => {
    const { log, vault, around } = opened
    const moment = { orgId: vault.orgId, lastAt: log.lastAt }
    const before = logStateOf(ctx.db, moment, plain.mentions, { ...around, grants: [] })
    return decideAct(before, log.size, { docs: acts, at, allowed: ['vault.commit'] })
  })

async function write(
  ctx: TxCtx,
  change: Change,
  checked: CheckedCommit,
  logged: Logged,
  action: string,
): Promise<Omit<store.VaultRow, 'role'>> {
  const { opened, plain, commit } = change
  const { vaultId, orgId } = opened.vault
  const { payload, hash } = plain.head
  const [only, ...others] = checked.items
  const subject = only && others.length === 0 ? only.detail.itemId : vaultId
  const item = subject === vaultId ? [] : [{ type: 'item', id: subject }]
  const event = { action, targets: [{ type: 'vault', id: vaultId }, ...item], metadata: { index: opened.log.size } }
  const rows = {
    ...leafRows(opened.log, logged),
    ...itemRows(checked, commit),
    vaultId,
    state: stateAfter(logged, vaultId),
    rotationDue: dueAt(stateAfter(logged, vaultId)),
    head: commit.head,
    headHash: hash,
    headVersion: payload.headVersion,
    meta: payload.meta,
    itemCount: [...checked.content.items.values()].filter(({ status }) => status === 'active').length,
    now: ctx.now(),
    audit: auditRow(ctx, event),
    activity: activityRow(ctx, { vaultId, action, subject }),
    feedLock: FEED_LOCK,
  }
  const { vault, fields } = await refusingIds(() => auditing(ctx, () => writeCommit(ctx.db, orgId, rows)))
  if (fields !== rows.fields.length) throw new ApiError('id_conflict')
  return vault
}

function stateAfter({ applied }: Logged, vaultId: string): VaultState {
  const update = applied.updates.find(({ name }) => name === vaultName(vaultId))
  if (!update || applied.updates.length !== 1) throw new Error('a plain commit changes its vault and nothing else')
  return update.state as unknown as VaultState
}

const dueAt = ({ rotationDue }: VaultState): Date | null => rotationDue && new Date(rotationDue.at)
