import type { invites } from '@strongroom/contract'
import { principalOf, verifyAcceptance } from '@strongroom/protocol'
import { recordFor } from '../../audit/record.ts'
import { inOrg, outsideOrgs } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { ApiError, found } from '../../errors.ts'
import type { PublicHandler } from '../../http/mount.ts'
import { refusing } from '../../log/refusals.ts'
import { peekAttempt, startAttempt, takeAttempt } from '../sessions/attempts.ts'
import { answerRegistration } from '../sessions/opaque.ts'
import { nameOfOrg, trustAnchorOf } from '../setup/org.ts'
import { ensureKeepable, keepSecrets } from '../user-keys/secrets.ts'
import { isKnownPrincipal, verifyInvite } from './inviter.ts'
import * as store from './store.ts'

// The invitee's side. Nobody is known here but by the id of the invite, which is in the link and as hard to guess as its secret.

interface Found {
  readonly orgId: string
  readonly row: store.InviteRow
}

/** An invite that can still be accepted; the transaction then works in its organisation. */
async function openInvite(db: Db, inviteId: string, at: Date): Promise<Found> {
  const orgId = found(await store.findInvite(db, inviteId), 'invite_not_found')
  const row = found(await store.invite(db, { orgId, tenantIds: null }, at, inviteId), 'invite_not_found')
  if (row.status === 'accepted' || row.status === 'endorsed') throw new ApiError('invite_used')
  if (row.status !== 'open') throw new ApiError('invite_not_found')
  return { orgId, row }
}

export const show: PublicHandler<typeof invites.show> = (deps, { params }) =>
  outsideOrgs(deps, async (db) => {
    const { orgId, row } = await openInvite(db, params.id, deps.now())
    const { userId, email, name, invite, expiresAt } = row
    const org = { orgId, name: await nameOfOrg(db, orgId) }
    return {
      org,
      userId,
      email,
      name,
      invite,
      trustAnchor: await trustAnchorOf(db, orgId),
      expiresAt: expiresAt.toISOString(),
    }
  })

export const register: PublicHandler<typeof invites.register> = async (deps, { params, body }) => {
  const { orgId, row } = await outsideOrgs(deps, (db) => openInvite(db, params.id, deps.now()))
  const { inviteId, userId, email } = row
  const registrationResponse = await answerRegistration(deps, email, body.registrationRequest)
  const attemptId = await outsideOrgs(deps, (db) =>
    startAttempt(deps, db, 'invite', { orgId, inviteId, userId, email }),
  )
  return { attemptId, registrationResponse }
}

export const accept: PublicHandler<typeof invites.accept> = async (deps, { params, body }) => {
  const begun = await outsideOrgs(deps, async (db) => {
    await openInvite(db, params.id, deps.now())
    return peekAttempt(deps, db, 'invite', body.attemptId)
  })
  if (begun?.inviteId !== params.id) throw new ApiError('attempt_over')
  await ensureKeepable(deps, begun.email, body)
  const { orgId, inviteId, userId } = begun
  return inOrg(deps, orgId, async (db) => {
    const { row } = await openInvite(db, inviteId, deps.now())
    if (!(await takeAttempt(deps, db, 'invite', body.attemptId))) throw new ApiError('attempt_over')
    const acceptance = await refusing(async () =>
      verifyAcceptance({
        invite: await verifyInvite(db, orgId, row.invite),
        candidate: body.acceptance,
        now: deps.now().getTime(),
        isKnown: (principal) => isKnownPrincipal(db, orgId, principal),
      }),
    )
    const { kid } = acceptance.payload
    if (kid !== body.kid || principalOf(kid) !== `user:${userId}`)
      throw new ApiError('invalid_document', {
        details: { rule: 'key_substitution', reason: 'the key is not one of the person who was invited' },
      })
    if (!(await store.accept(db, { orgId, inviteId }, acceptance.envelope, deps.now())))
      throw new ApiError('invite_used')
    await keepSecrets(deps, db, { orgId, userId }, body)
    await recordFor(
      deps,
      db,
      orgId,
      { type: 'user', id: `user:${userId}` },
      { action: 'invite.accept', targets: [{ type: 'invite', id: inviteId }] },
    )
    return { status: 'waiting for endorsement' as const }
  })
}
