import type { invites } from '@strongroom/contract'
import { documentHash, keyAdd, peekDocument, principalOf } from '@strongroom/protocol'
import { ensureRunsTenant, tenantsRunBy } from '../../access/roles.ts'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import { commitDirectory } from '../../log/directory-commit.ts'
import { refusing } from '../../log/refusals.ts'
import { ensureTenants } from '../tenants/service.ts'
import { dropSecrets } from '../user-keys/secrets.ts'
import { activateInvited, dismissInvited, insertInvited } from '../users/people.ts'
import { verifyInvite } from './inviter.ts'
import * as store from './store.ts'

// The admin's side of invites (docs/reference/protocol.md 4.6). The server keeps and passes on; who is let in is decided by signatures.

const LONGEST_MS = 30 * 24 * 3_600_000

const sightOf = ({ principal }: TxCtx): store.Sight => ({ orgId: principal.orgId, tenantIds: tenantsRunBy(principal) })

export const create: Handler<typeof invites.create> = (ctx, { body }) =>
  transact(ctx, async (ctx) => {
    const { orgId, id } = ctx.principal
    await ensureTenants(ctx, [body.tenantId])
    ensureRunsTenant(ctx.principal, body.tenantId)
    const { payload, hash } = await refusing(() => verifyInvite(ctx.db, orgId, body.invite))
    if (principalOf(payload.by) !== id)
      throw new ApiError('signer_not_authorised', { details: { rule: 'not_authorised', by: payload.by } })
    ensureTerms(payload, ctx.now().getTime())

    const { inviteId } = payload
    const userId = ctx.newId('usr')
    const { email, name, tenantId } = body
    if (!(await insertInvited(ctx, ctx.db, { orgId, userId, tenantId, email, name }))) throw new ApiError('email_taken')
    const made = await store.insertInvite(ctx.db, {
      orgId,
      inviteId,
      userId,
      email,
      docHash: hash,
      envelope: body.invite,
      createdBy: id,
      at: ctx.now(),
      expiresAt: new Date(payload.expires),
    })
    if (!made) throw new ApiError('invite_exists')
    await record(ctx, {
      action: 'invite.create',
      targets: [
        { type: 'invite', id: inviteId },
        { type: 'user', id: userId },
      ],
    })
    return { inviteId, userId }
  })

/** An invite is for a person, and not for ever. */
function ensureTerms(
  { caps, expires }: { readonly caps: readonly string[]; readonly expires: number },
  now: number,
): void {
  const reason =
    !caps.includes('member') || caps.includes('agent')
      ? 'an invite is for a person'
      : expires <= now
        ? 'the invite has expired'
        : expires > now + LONGEST_MS
          ? 'an invite lasts at most 30 days'
          : undefined
  if (reason !== undefined) throw new ApiError('invalid_document', { details: { rule: 'not_authorised', reason } })
}

export const list: Handler<typeof invites.list> = (ctx, { query }) =>
  transact(ctx, async (ctx) => {
    const listed = await store.list(ctx.db, sightOf(ctx), ctx.now(), query)
    return listAnswer('data', listed, ({ invite, acceptance, createdAt, expiresAt, ...row }) => ({
      ...row,
      invite,
      acceptance,
      createdAt: createdAt.toISOString(),
      expiresAt: expiresAt.toISOString(),
    }))
  })

const openInvite = async (ctx: TxCtx, inviteId: string): Promise<store.InviteRow> =>
  found(await store.invite(ctx.db, sightOf(ctx), ctx.now(), inviteId), 'invite_not_found')

export const revoke: Handler<typeof invites.revoke> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    const { orgId } = ctx.principal
    const { inviteId, userId } = await openInvite(ctx, params.id)
    if (!(await store.revoke(ctx.db, { orgId, inviteId }))) throw new ApiError('invite_not_found')
    await dropSecrets(ctx.db, { orgId, userId })
    await dismissInvited(ctx.db, { orgId, userId })
    await record(ctx, {
      action: 'invite.revoke',
      targets: [
        { type: 'invite', id: inviteId },
        { type: 'user', id: userId },
      ],
    })
    return { inviteId, status: 'revoked' as const }
  })

export const endorse: Handler<typeof invites.endorse> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) => {
    const { orgId } = ctx.principal
    const { inviteId, userId, status, acceptance } = await openInvite(ctx, params.id)
    if (status === 'open') throw new ApiError('invite_not_accepted')
    if (status !== 'accepted' || acceptance === null) throw new ApiError('invite_not_found')
    const isAcceptance = await refusing(async () => documentHash(body.keyAdd) === documentHash(acceptance))
    if (!isAcceptance)
      throw new ApiError('invalid_document', {
        details: { rule: 'not_authorised', reason: 'this is not the key.add the invitee has signed' },
      })

    if (!(await store.endorse(ctx.db, { orgId, inviteId }, ctx.now()))) throw new ApiError('invite_not_found')
    if (!(await activateInvited(ctx.db, { orgId, userId }))) throw new ApiError('invite_not_found')
    await commitDirectory(ctx, [body.keyAdd], { allowed: ['key.add'] })
    await record(ctx, {
      action: 'invite.endorse',
      targets: [
        { type: 'invite', id: inviteId },
        { type: 'user', id: userId },
      ],
    })
    return { userId, kid: peekDocument(keyAdd, acceptance).payload.kid, status: 'active' as const }
  })
