import type { CommitReceipt } from '@strongroom/contract'
import {
  type CheckedCommit,
  type Commit,
  type CommitBefore,
  checkCommit,
  claimedKind,
  itemDetail,
  kidName,
  POLICY_NAME,
  ProtocolError,
  peekDocument,
  type StateMap,
  type Transition,
  type VaultAnswer,
  type VaultContent,
  type VaultHeadPayload,
  type VaultState,
  vaultHead,
  vaultName,
} from '@strongroom/protocol'
import { ensureWritable, foundVault, type WritableVault } from '../../access/vaults.ts'
import { activityRow, FEED_LOCK } from '../../audit/activity.ts'
import { auditing, auditRow } from '../../audit/record.ts'
import type { Ctx, TxCtx } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { decideAct, ensureGoesOn, ensureStorable, growLog, leafTime, mapOf, signCheckpoint } from '../../log/append.ts'
import { ensureBroughtBySigner } from '../../log/directory-commit.ts'
import { LOG_KEY } from '../../log/log-key.ts'
import { logStateOf } from '../../log/log-state.ts'
import type { LockedLog } from '../../log/log-store.ts'
import { openWays, type Ways } from '../../log/map-store.ts'
import { type Mentions, mentionsOf } from '../../log/mentions.ts'
import { refusing } from '../../log/refusals.ts'
import { keyIn, publicKeyOf } from '../../log/signers.ts'
import type { Growth } from '../../log/transparency.ts'
import { vaultAnswer } from './answer.ts'
import { type CommitOptions, type CommitRule, refuseUnless } from './commit.ts'
import { conflictOf } from './conflict.ts'
import { type AtHand, atHandFor, keepAtHand } from './plain-commit-at-hand.ts'
import { documentIn, signedAfter, stateIn } from './plain-commit-receipt.ts'
import { itemRows, type Logged, leafRows } from './plain-commit-rows.ts'
import {
  type CommitAsk,
  type CommitSurroundings,
  type CommitView,
  type LoggedDocument,
  openCommit,
  writeCommit,
} from './plain-store.ts'
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

export interface Opened {
  readonly log: LockedLog
  readonly vault: WritableVault
  readonly around: CommitSurroundings
  readonly content: VaultContent
  /** Details of items, where they need not be read. */
  readonly items: AtHand['items']
}

export interface Change {
  readonly commit: Commit
  readonly plain: PlainCommit
  readonly opened: Opened
}

/** The log that a commit is appended to, as it is then. */
export interface Growing {
  readonly log: LockedLog
  readonly map: StateMap
  readonly ways: Ways
  /** Nodes of leaves that are not stored yet. */
  readonly unstored: Growth['unstored']
}

/** Refuses in the order of any other commit: the log, the vault, the role, the head, the content, the rules. */
export async function commitPlain(
  ctx: TxCtx,
  vaultId: string,
  commit: Commit,
  plain: PlainCommit,
  options: CommitOptions,
): Promise<CommitReceipt | undefined> {
  const { orgId } = ctx.principal
  const atHand = atHandFor(orgId, vaultId, commit, plain.itemIds)
  const view = await openCommit(ctx.db, orgId, askOf(ctx, vaultId, commit, plain, atHand))
  const opened = await open(ctx, vaultId, commit, plain, { view, atHand }, options.needs)
  const change = { commit, plain, opened }
  const decided = await decide(ctx, change, opened.log, options.rule)
  if (!decided) return undefined
  const ways = openWays(opened.around.nodes, opened.around.states)
  const map = mapOf(opened.log, namesIn(change).map(ways.pathTo))
  const logged = await appendDecided(ctx, change, decided, { log: opened.log, map, ways, unstored: [] })
  const rows = rowsOf(ctx, change, decided, logged, options.action)
  const written = await refusingIds(() => auditing(ctx, () => writeCommit(ctx.db, orgId, rows)))
  if (written.fields !== rows.fields.length) throw new ApiError('id_conflict')
  keep(change, decided)
  return receiptOf(change, logged, written.vault)
}

export const receiptOf = ({ opened }: Change, { log, signed }: Appended, row: Omit<store.VaultRow, 'role'>) => ({
  index: log.size,
  vault: vaultAnswer({ ...row, role: opened.vault.role }),
  signed,
})

const headOf = ({ plain: { head }, commit }: Change): LoggedDocument => {
  return { hash: head.hash, kind: 'vault-head', envelope: commit.head }
}

/** For the next commit of this vault. Under hashes: also if this transaction fails, nothing of it is wrong. */
export const keep = (change: Change, { checked }: Decided): void =>
  keepAtHand(change.opened.vault, headOf(change), change.opened.around.documents, checked)

export function askOf(
  { principal }: Ctx,
  vaultId: string,
  { expect }: Commit,
  { head, itemIds, mentions }: PlainCommit,
  { content, documents, items }: AtHand,
): CommitAsk {
  return {
    principal: principal.id,
    vaultId,
    headHash: expect.headHash,
    kid: head.payload.by,
    names: [...mentions.names],
    principals: [...mentions.principals],
    items: itemIds.filter((itemId) => !items.has(itemId)),
    known: documents.map(({ hash }) => hash),
    withContent: content === undefined,
    logKey: LOG_KEY,
  }
}

export async function open(
  ctx: TxCtx,
  vaultId: string,
  { expect }: Commit,
  { head }: PlainCommit,
  { view, atHand }: { readonly view: CommitView; readonly atHand: AtHand },
  needs: 'write' | 'admin' = 'write',
): Promise<Opened> {
  const { log, vault, around } = view
  if (!log) throw new Error('the organisation has no log')
  ensureGoesOn(log, false)
  const writable = ensureWritable(foundVault(vault), needs)
  refuseUnless(head.payload.vaultId === vaultId, 'vault_swap')
  ensureBroughtBySigner(ctx, head.payload.by)
  if (!around || expect.headVersion !== writable.headVersion) throw await conflictOf(ctx, writable, expect.headVersion)
  const content = atHand.content ?? (around.content && store.contentOf(around.content))
  if (!content) throw new Error('the content of a vault was not read')
  const documents = [...atHand.documents, ...around.documents]
  return { log, vault: writable, around: { ...around, documents }, content, items: atHand.items }
}

function check({ db }: TxCtx, { commit, opened }: Change): Promise<CheckedCommit> {
  const { vault, around, content, items } = opened
  const { orgId, vaultId } = vault
  const before: CommitBefore = {
    org: orgId,
    vaultId,
    content,
    item: async (itemId) => {
      const stored = around.details[itemId]
      if (!stored) return items.get(itemId)
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

export interface Decided {
  readonly checked: CheckedCommit
  readonly applied: Transition
  readonly at: number
}

/** Refuses what breaks a rule; undefined for a commit that changes more than its vault. Nothing has changed yet. */
export async function decide(
  ctx: TxCtx,
  change: Change,
  log: LockedLog,
  rule: CommitRule,
): Promise<Decided | undefined> {
  const { plain, opened } = change
  const { vault, around } = opened
  const checked = await check(ctx, change)
  const current = peekDocument(vaultHead, documentIn(around, vault.headHash).envelope).payload
  rule(checked, current)
  // A head that ends older keys ends their grants as well, and what was kept under them: that goes the ordinary way.
  if (checked.head.oldestDek > current.oldestDek) return undefined
  ensureStorable(checked.acts)
  const at = leafTime(ctx, log)
  const applied = await refusing(() => {
    const moment = { orgId: vault.orgId, lastAt: log.lastAt }
    const before = logStateOf(ctx.db, moment, plain.mentions, { ...around, grants: [] })
    return decideAct(before, log.size, { docs: checked.acts, at, allowed: ['vault.commit'] })
  })
  return applied.updates.length === 1 ? { checked, applied, at } : undefined
}

export interface Appended extends Logged {
  /** The log before this leaf. */
  readonly log: LockedLog
  readonly signed: VaultAnswer
}

/** The leaf with its checkpoint and the answer about it. Changes the map; nothing of it leaves the process before all is stored. */
export async function appendDecided(
  ctx: TxCtx,
  change: Change,
  { applied, at }: Decided,
  { log, map, ways, unstored }: Growing,
): Promise<Appended> {
  const grown = growLog(log, applied, [ways.pathTo(vaultName(change.opened.vault.vaultId))], at, map)
  const note = await signCheckpoint(ctx, log, grown.grown.root)
  const logged = { applied, grown, note, at }
  const signed = await signedAfter(ctx, { ...change.opened, log }, headOf(change), logged, unstored)
  return { ...logged, log, signed }
}

/** What of the state map an answer about the vault proves. */
export const namesIn = ({ opened: { vault, around } }: Change): string[] => [
  POLICY_NAME,
  vaultName(vault.vaultId),
  ...around.signers,
]

export function rowsOf(
  ctx: TxCtx,
  { opened, plain, commit }: Change,
  { checked }: Decided,
  logged: Appended,
  action: string,
) {
  const { vaultId } = opened.vault
  const { payload, hash } = plain.head
  const [only, ...others] = checked.items
  const subject = only && others.length === 0 ? only.detail.itemId : vaultId
  const item = subject === vaultId ? [] : [{ type: 'item', id: subject }]
  const event = { action, targets: [{ type: 'vault', id: vaultId }, ...item], metadata: { index: logged.log.size } }
  const state = stateAfter(logged, vaultId)
  return {
    ...leafRows(logged.log, logged),
    ...itemRows(checked, commit),
    vaultId,
    state,
    rotationDue: dueAt(state),
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
}

function stateAfter({ applied }: Logged, vaultId: string): VaultState {
  const update = applied.updates.find(({ name }) => name === vaultName(vaultId))
  if (!update || applied.updates.length !== 1) throw new Error('a plain commit changes its vault and nothing else')
  return update.state as unknown as VaultState
}

const dueAt = ({ rotationDue }: VaultState): Date | null => rotationDue && new Date(rotationDue.at)
