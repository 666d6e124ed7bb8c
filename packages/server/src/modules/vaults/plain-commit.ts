import type { CommitReceipt } from '@strongroom/contract'
import {
  type CheckedCommit,
  type Commit,
  type CommitBefore,
  checkCommit,
  claimedKind,
  documentHash,
  type Envelope,
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
import {
  decideAct,
  ensureGoesOn,
  ensureStorable,
  type GrownLog,
  growLog,
  leafTime,
  signCheckpoint,
} from '../../log/append.ts'
import { ensureBroughtBySigner } from '../../log/directory-commit.ts'
import { LOG_KEY } from '../../log/log-key.ts'
import { logStateOf } from '../../log/log-state.ts'
import type { LockedLog } from '../../log/log-store.ts'
import { type Mentions, mentionsOf } from '../../log/mentions.ts'
import { refusing } from '../../log/refusals.ts'
import { keyIn, publicKeyOf, type SignedRow, sortDocuments } from '../../log/signers.ts'
import { transparencyAfter } from '../../log/transparency.ts'
import { answerAbout, vaultAnswer } from './answer.ts'
import { type CommitOptions, refuseUnless } from './commit.ts'
import { conflictOf } from './conflict.ts'
import { keepContent, knownContent } from './known-content.ts'
import { type CommitSurroundings, openCommit, writeCommit } from './plain-store.ts'
import * as store from './store.ts'
import { oldestDek, refusingIds } from './write-store.ts'

// The commit that is made all day: items, and the head over them. It is checked by the same rules as any other (docs/protocol.md 5.7
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
  rule(checked, peekDocument(vaultHead, documentIn(opened.around, opened.vault.headHash)).payload)
  ensureStorable(checked.acts)
  const at = leafTime(ctx, opened.log)
  const applied = await decide(ctx, change, checked, at)
  // A head that ends older keys ends their grants as well: that goes the ordinary way.
  if (applied.updates.length !== 1) return undefined
  const grown = growLog(opened.log, applied, opened.around.paths, at)
  const note = await signCheckpoint(ctx, opened.log, grown.grown.root)
  const logged = { applied, grown, note, at }
  const row = await write(ctx, change, checked, logged, action)
  keepContent(opened.vault.orgId, opened.vault.headHash, plain.head.hash, checked.content)
  const signed = await signedAfter(ctx, change, logged)
  return { index: opened.log.size, vault: vaultAnswer({ ...row, role: opened.vault.role }), signed }
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
  const { log, vault, around } = await openCommit(ctx.db, orgId, {
    principal,
    vaultId,
    headHash: expect.headHash,
    kid: head.payload.by,
    names: [...mentions.names],
    principals: [...mentions.principals],
    items: itemIds,
    withContent: known === undefined,
    logKey: LOG_KEY,
  })
  if (!log) throw new Error('the organisation has no log')
  ensureGoesOn(log, false)
  const writable = ensureWritable(foundVault(vault), needs)
  refuseUnless(head.payload.vaultId === vaultId, 'vault_swap')
  ensureBroughtBySigner(ctx, head.payload.by)
  if (!around || expect.headVersion !== writable.headVersion) throw await conflictOf(ctx, writable, expect.headVersion)
  const content = known ?? (around.content && store.contentOf(around.content))
  if (!content) throw new Error('the content of a vault was not read')
  return { log, vault: writable, around, content }
}

const documentIn = ({ documents }: CommitSurroundings, hash: string): Envelope => {
  const found = documents.find((document) => document.hash === hash)
  if (!found) throw new Error('the log has lost a document')
  return found.envelope
}

const stateIn = ({ states }: CommitSurroundings, name: string) => states.find((state) => state.name === name)?.state

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
      return typeof record === 'string' ? keyIn(documentIn(around, record), kid) : publicKeyOf(db, orgId, kid)
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

interface Logged {
  readonly applied: Transition
  readonly grown: GrownLog
  readonly note: string
  readonly at: number
}

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

const hex = (bytes: Uint8Array | undefined): string | null => (bytes ? Buffer.from(bytes).toString('hex') : null)

const leafRows = ({ size }: LockedLog, { grown: { leaf, grown, nodes, mapRoot }, note, at }: Logged) => ({
  index: size,
  at,
  note,
  mapRoot,
  leaf: Buffer.from(leaf.bytes).toString('base64'),
  tree: grown.nodes.map(({ level, index, hash }) => [level, index, hex(hash)]),
  paths: nodes.map(({ path, hash, leaf }) => [path, hex(hash), hex(leaf?.key), hex(leaf?.value)]),
  frontier: grown.frontier.hashes.map((hash) => Buffer.from(hash).toString('base64')),
})

/** Only changed fields come with a value, and only they are written. */
function itemRows({ items }: CheckedCommit, { docs, values }: Commit) {
  const details = new Map(docs.map((envelope) => [documentHash(envelope), envelope]))
  const all = items.flatMap(({ detail }) => detail.fields.map((field) => ({ ...field, itemId: detail.itemId })))
  return {
    items: items.map(({ detail: { itemId, itemVersion, name, website, status, fields }, hash }) => ({
      itemId,
      itemVersion,
      name,
      website,
      status,
      fieldCount: fields.length,
      detailHash: hash,
      detail: details.get(hash),
    })),
    fieldIds: all.map(({ fieldId }) => fieldId),
    fields: all
      .filter(({ fieldId }) => Object.hasOwn(values, fieldId))
      .map((field) => ({ ...field, value: values[field.fieldId] })),
  }
}

/** The vault as the leaf leaves it, proven from what was read before it and what it changed. */
async function signedAfter(ctx: TxCtx, { opened, plain, commit }: Change, { applied, grown, note }: Logged) {
  const { around, vault, log } = opened
  const aclHash = String(stateIn(around, vaultName(vault.vaultId))?.aclHash)
  const head = { hash: plain.head.hash, kind: 'vault-head', envelope: commit.head }
  const vouching = around.signers.flatMap((name): SignedRow[] =>
    hashesOf(stateIn(around, name)).map((hash) => ({ name, ...recordIn(around, hash) })),
  )
  const asked = around.documents.filter(
    ({ hash, kind }) =>
      around.adminsChain.includes(hash) || hash === aclHash || kind === 'org.genesis' || kind === 'policy.set',
  )
  const documents = sortDocuments([...[head, ...asked].map((document) => ({ name: null, ...document })), ...vouching])
  const place = { vaultId: vault.vaultId, adminsChain: around.adminsChain, headHash: head.hash, aclHash }
  return answerAbout(place, documents, (names) =>
    transparencyAfter(ctx.db, vault.orgId, { log, grown, note }, names, ctx.request.have, (name) => {
      const changed = applied.updates.find((update) => update.name === name)
      return changed?.state ?? stateIn(around, name) ?? null
    }),
  )
}

const recordIn = ({ documents }: CommitSurroundings, hash: string) => {
  const found = documents.find((document) => document.hash === hash)
  if (!found) throw new Error('the log has lost a document')
  return found
}

/** The documents that stand behind the entry of a key. */
function hashesOf(entry: CommitSurroundings['states'][number]['state'] | undefined): string[] {
  if (!entry) return []
  const { rec, capSets } = entry as unknown as { rec: string; capSets: readonly { docHash: string }[] }
  return [rec, ...capSets.map(({ docHash }) => docHash)]
}
