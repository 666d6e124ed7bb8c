import {
  claimedKind,
  type Envelope,
  peekDocument,
  projectAdmins,
  projectCreate,
  projectSet,
} from '@strongroom/protocol'
import type { TxCtx } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { ensureBroughtBySigner } from '../../log/directory-commit.ts'
import { refusing } from '../../log/refusals.ts'
import { publicKeyOf } from '../../log/signers.ts'
import * as store from './store.ts'

// The documents a route takes: exactly its kinds, each signed by whoever brings it. Their signatures are verified when they are
// logged.

const peekSet = (envelope: Envelope | undefined) => peekDocument(projectSet, envelope)
export type SignedSet = ReturnType<typeof peekSet>
export type ProjectSetPayload = SignedSet['payload']

type Kind = 'project.admins' | 'project.create' | 'project.set'

async function take<T>(
  ctx: TxCtx,
  docs: readonly Envelope[],
  kinds: readonly Kind[],
  peek: (ofKind: (kind: Kind) => Envelope | undefined) => T,
): Promise<T> {
  const peeked = await refusing(async () => {
    const ofKind = (kind: Kind): Envelope | undefined => docs.find((envelope) => claimedKind(envelope) === kind)
    const isThese = docs.length === kinds.length && kinds.every(ofKind)
    if (!isThese) throw new ApiError('invalid_document', { details: { rule: 'wrong_type', kinds } })
    return peek(ofKind)
  })
  for (const { payload } of Object.values(peeked as Record<string, { payload: { by: string } }>))
    ensureBroughtBySigner(ctx, payload.by)
  return peeked
}

export const takeSet = async (ctx: TxCtx, docs: readonly Envelope[]): Promise<SignedSet> =>
  (await take(ctx, docs, ['project.set'], (ofKind) => ({ set: peekSet(ofKind('project.set')) }))).set

export const takeCreation = (ctx: TxCtx, docs: readonly Envelope[]) =>
  take(ctx, docs, ['project.create', 'project.set'], (ofKind) => ({
    create: peekDocument(projectCreate, ofKind('project.create')),
    set: peekSet(ofKind('project.set')),
  }))

export const takeChange = (ctx: TxCtx, docs: readonly Envelope[]) =>
  take(ctx, docs, ['project.admins', 'project.set'], (ofKind) => ({
    admins: peekDocument(projectAdmins, ofKind('project.admins')),
    set: peekSet(ofKind('project.set')),
  }))

/** Each can sign for the project: otherwise nobody could change it any more, and nobody else could be made an admin. */
export async function ensureAdministrators(
  { db, principal }: TxCtx,
  admins: readonly string[],
  before: readonly string[] = [],
): Promise<void> {
  const able = new Set<string>()
  for (const { kid, owner } of await store.activeKids(db, principal.orgId, admins))
    if ((await publicKeyOf(db, principal.orgId, kid))?.bundle.sigAlg === 'EdDSA') able.add(owner)
  // Whoever has administered it and lost their keys since is no reason to refuse others; somebody has to be able to go on.
  const kept = able.size > 0 ? before : []
  const unable = admins.filter((admin) => !able.has(admin) && !kept.includes(admin))
  if (unable.length > 0)
    throw new ApiError('invalid_document', { details: { rule: 'admin_without_key', principals: unable } })
}
