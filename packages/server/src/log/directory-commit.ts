import { type Envelope, type LeafType, principalOf } from '@strongroom/protocol'
import { record, recordFor } from '../audit/record.ts'
import type { Deps, RequestFacts, TxCtx } from '../context.ts'
import type { Db } from '../db/database.ts'
import { ApiError } from '../errors.ts'
import { type Appended, appendAct } from './append.ts'
import { type Transparency, transparencyOf } from './transparency.ts'

// Section 4 of docs/reference/protocol.md on the server: signed changes of the signer directory. Who may make them is decided by the
// signatures alone; the caller decides who may bring them.

export const DIRECTORY_ACTS = [
  'org.genesis',
  'key.add',
  'key.rotate',
  'key.recover',
  'key.revoke',
  'caps.set',
  'policy.set',
  'recovery.enrol',
  'log.recover',
] as const satisfies readonly LeafType[]
export type DirectoryAct = (typeof DIRECTORY_ACTS)[number]

export interface DirectoryOptions {
  /** The acts this route may bring; every directory act if absent. */
  readonly allowed?: readonly DirectoryAct[]
  /** The size of the log the caller knows; if absent, what the request says. */
  readonly have?: number | undefined
}

export interface DirectoryReceipt {
  readonly index: number
  /** Proves the act itself, as the last leaf, and every state it changed. */
  readonly transparency: Transparency
}

interface Commit {
  readonly receipt: DirectoryReceipt
  readonly event: Parameters<typeof record>[1]
}

async function commit(
  deps: Pick<Deps, 'rootKey' | 'now'>,
  db: Db,
  orgId: string,
  docs: readonly Envelope[],
  { allowed = DIRECTORY_ACTS, have }: DirectoryOptions,
): Promise<Commit> {
  const appended = await appendAct(deps, db, orgId, { docs, allowed })
  const names = appended.transition.updates.map(({ name }) => name)
  const transparency = await transparencyOf(db, orgId, names, have)
  return { receipt: { index: appended.index, transparency }, event: eventOf(appended) }
}

/** Names the keys whose entries changed and whose they are; what the documents say is in the log. */
function eventOf({ index, transition: { t, d, updates } }: Appended): Commit['event'] {
  const kids = updates.flatMap(({ name }) => (name.startsWith('kid/') ? [name.slice('kid/'.length)] : []))
  const principals = new Set(kids.map(principalOf))
  return {
    action: `directory.${t}`,
    targets: [...[...principals].map((id) => ({ type: 'principal', id })), ...kids.map((id) => ({ type: 'key', id }))],
    metadata: { index, documents: d.slice(0, 8) },
  }
}

/** Logs a change of the directory that a known principal brings, and records it. */
export async function commitDirectory(
  ctx: TxCtx,
  docs: readonly Envelope[],
  options: DirectoryOptions = {},
): Promise<DirectoryReceipt> {
  const known = { have: ctx.request.have, ...options }
  const { receipt, event } = await commit(ctx, ctx.db, ctx.principal.orgId, docs, known)
  await record(ctx, event)
  return receipt
}

export interface Bringer {
  readonly orgId: string
  readonly actor: { readonly type: string; readonly id: string }
}

/** The same for somebody who is not a principal yet: whoever sets the organisation up, or an invitee. */
export async function commitDirectoryFor(
  deps: Deps & { readonly request: RequestFacts },
  db: Db,
  { orgId, actor }: Bringer,
  docs: readonly Envelope[],
  options: DirectoryOptions = {},
): Promise<DirectoryReceipt> {
  const known = { have: deps.request.have, ...options }
  const { receipt, event } = await commit(deps, db, orgId, docs, known)
  await recordFor(deps, db, orgId, actor, event)
  return receipt
}

/** Whose act it is, the signatures decide; but nobody brings what somebody else has signed. */
export function ensureBroughtBySigner({ principal }: TxCtx, kid: string): void {
  if (principalOf(kid) !== principal.id)
    throw new ApiError('signer_not_authorised', { details: { rule: 'not_authorised', kid } })
}
