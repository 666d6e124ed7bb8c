import type { userKeys } from '@strongroom/contract'
import { type Envelope, keyRevoke, keyRotate, peekDocument } from '@strongroom/protocol'
import { record } from '../../audit/record.ts'
import { type Ctx, type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { commitDirectory, ensureBroughtBySigner } from '../../log/directory-commit.ts'
import { refusing } from '../../log/refusals.ts'
import { proveLogin } from '../sessions/login.ts'
import { answerRegistration } from '../sessions/opaque.ts'
import { endSessionsOf, personOf, startSession } from '../sessions/service.ts'
import { forgiveTry } from '../sessions/throttle.ts'
import { emailOf } from '../users/people.ts'
import { ensureKeepable, recoveryRow } from './secrets.ts'
import * as store from './store.ts'

export const get: Handler<typeof userKeys.get> = (ctx) =>
  transact(ctx, async (ctx) => {
    const person = personOf(ctx)
    const { record: _, updatedAt, ...secrets } = found(await store.secrets(ctx.db, person), 'user_not_found')
    await record(ctx, { action: 'user-key.read', targets: [{ type: 'key', id: secrets.kid }] })
    return { ...secrets, updatedAt: updatedAt.toISOString() }
  })

export const register: Handler<typeof userKeys.register> = async (ctx, { body }) => {
  const email = await ownEmail(ctx)
  return { registrationResponse: await answerRegistration(ctx, email, body.registrationRequest) }
}

const ownEmail = (ctx: Ctx): Promise<string> =>
  transact({ ...ctx, idempotent: undefined }, async (ctx) => emailOf(ctx.db, personOf(ctx)))

/**
 * A session alone must not be enough to replace what opens somebody's keys: who has the token need not have the passphrase.
 * The passphrase proven must be the one of the sealed keys that are there now.
 */
async function ensurePassphrase(
  ctx: TxCtx,
  proof: { attemptId: string; finishLoginRequest: string },
  version: number,
): Promise<void> {
  const { orgId, userId } = personOf(ctx)
  const { account, buckets } = found(await proveLogin(ctx, ctx.db, proof), 'login_failed')
  if (account.orgId !== orgId || account.userId !== userId) throw new ApiError('login_failed')
  if (account.bundleVersion !== version) throw new ApiError('bundle_version_conflict')
  await forgiveTry(ctx.db, buckets)
}

const conflict = (): ApiError => new ApiError('bundle_version_conflict')

export const change: Handler<typeof userKeys.change> = async (ctx, { body }) => {
  await ensureKeepable(ctx, await ownEmail(ctx), body)
  return transact(ctx, async (ctx) => {
    const person = personOf(ctx)
    const { registrationRecord, kdf, bundleVersion, privateBundle, deviceInstallationId } = body
    await ensurePassphrase(ctx, body.proof, bundleVersion - 1)
    const changed = await store.changeSecrets(
      ctx.db,
      person,
      { version: bundleVersion - 1 },
      { bundleVersion, record: registrationRecord, kdf, privateBundle, at: ctx.now() },
    )
    if (!changed) throw conflict()
    await endSessionsOf(ctx, ctx.db, person.orgId, [person.userId])
    const { accessToken, expiresAt } = await startSession(ctx, ctx.db, { ...person, deviceInstallationId })
    await record(ctx, {
      action: 'user-key.change-passphrase',
      targets: [{ type: 'user', id: person.userId }],
      metadata: { bundleVersion },
    })
    return { bundleVersion, accessToken, expiresAt }
  })
}

export const rotate: Handler<typeof userKeys.rotate> = (ctx, { body }) =>
  transact(ctx, async (ctx) => {
    const person = personOf(ctx)
    const { event, replacements, bundleVersion, privateBundle, recovery } = body
    const { kid, oldKid } = (await refusing(async () => peekDocument(keyRotate, event))).payload
    ensureBroughtBySigner(ctx, oldKid)
    await commitDirectory(ctx, [event, ...replacements], { allowed: ['key.rotate'] })
    // A copy of the old keys for the recovery code would bring back keys that are over.
    const copy = recovery ? recoveryRow(recovery, bundleVersion) : null
    const changed = await store.changeSecrets(
      ctx.db,
      person,
      { version: bundleVersion - 1, kid: oldKid },
      { bundleVersion, kid, privateBundle, recovery: copy, at: ctx.now() },
    )
    if (!changed) throw conflict()
    return { kid, bundleVersion }
  })

export const revoke: Handler<typeof userKeys.revoke> = (ctx, { body }) =>
  transact(ctx, async (ctx) => {
    const event: Envelope = body.event
    const { kid, by } = (await refusing(async () => peekDocument(keyRevoke, event))).payload
    ensureBroughtBySigner(ctx, by)
    await commitDirectory(ctx, [event], { allowed: ['key.revoke'] })
    return { kid }
  })

export const setRecovery: Handler<typeof userKeys.setRecovery> = (ctx, { body }) =>
  transact(ctx, async (ctx) => {
    const person = personOf(ctx)
    const { bundleVersion, recovery } = body
    await ensurePassphrase(ctx, body.proof, bundleVersion)
    const changed = await store.changeSecrets(
      ctx.db,
      person,
      { version: bundleVersion },
      { bundleVersion, recovery: recoveryRow(recovery, bundleVersion), at: ctx.now() },
    )
    if (!changed) throw conflict()
    await record(ctx, {
      action: 'user-key.set-recovery',
      targets: [{ type: 'user', id: person.userId }],
      metadata: { bundleVersion },
    })
    return { bundleVersion }
  })
