import type { userKeys } from '@strongroom/contract'
import { recordFor } from '../../audit/record.ts'
import { inOrg, outsideOrgs } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { PublicHandler } from '../../http/mount.ts'
import { peekAttempt, startAttempt, takeAttempt } from '../sessions/attempts.ts'
import { findLogin } from '../sessions/login.ts'
import { answerRegistration, hashRecoveryToken } from '../sessions/opaque.ts'
import { endSessionsOf, startSession } from '../sessions/service.ts'
import { trustAnchorOf } from '../setup/org.ts'
import { ensureKeepable, recoveryRow } from './secrets.ts'
import * as store from './store.ts'

// The way back with a recovery code. The code has 256 bits and never gets here; what is shown instead is a token made from it,
// which proves it without opening anything.

const NOBODY = { orgId: '', userId: '' }

export const recoveryStart: PublicHandler<typeof userKeys.recoveryStart> = async (deps, { body }) => {
  const registrationResponse = await answerRegistration(deps, body.email, body.registrationRequest)
  return outsideOrgs(deps, async (db) => {
    const login = await findLogin(db, body.email)
    // Asked also for nobody: the time an answer takes must not tell whether the address is known.
    const shown = await store.byRecoveryToken(db, login ?? NOBODY, hashRecoveryToken(body.token))
    const { orgId, userId } = found(login, 'login_failed')
    const secrets = found(shown, 'login_failed')
    const attemptId = await startAttempt(deps, db, 'recovery', {
      orgId,
      userId,
      email: body.email,
      bundleVersion: secrets.bundleVersion,
    })
    await recordFor(
      deps,
      db,
      orgId,
      { type: 'user', id: `user:${userId}` },
      { action: 'user-key.recovery-start', targets: [{ type: 'user', id: userId }] },
    )
    return { attemptId, orgId, userId, ...secrets, registrationResponse, trustAnchor: await trustAnchorOf(db, orgId) }
  })
}

export const recoveryFinish: PublicHandler<typeof userKeys.recoveryFinish> = async (deps, { body }) => {
  const begun = found(
    await outsideOrgs(deps, (db) => peekAttempt(deps, db, 'recovery', body.attemptId)),
    'attempt_over',
  )
  await ensureKeepable(deps, begun.email, body)
  const { orgId, userId } = begun
  return inOrg(deps, orgId, async (db) => {
    if (!(await takeAttempt(deps, db, 'recovery', body.attemptId))) throw new ApiError('attempt_over')
    const { registrationRecord, kdf, bundleVersion, privateBundle, recovery, deviceInstallationId } = body
    if (bundleVersion !== begun.bundleVersion + 1) throw new ApiError('bundle_version_conflict')
    const change = {
      bundleVersion,
      record: registrationRecord,
      kdf,
      privateBundle,
      recovery: recoveryRow(recovery, bundleVersion),
      at: deps.now(),
    }
    if (!(await store.changeSecrets(db, { orgId, userId }, { version: begun.bundleVersion }, change)))
      throw new ApiError('bundle_version_conflict')
    await endSessionsOf(deps, db, orgId, [userId])
    const { accessToken, expiresAt } = await startSession(deps, db, { orgId, userId, deviceInstallationId })
    await recordFor(
      deps,
      db,
      orgId,
      { type: 'user', id: `user:${userId}` },
      { action: 'user-key.recovery-finish', targets: [{ type: 'user', id: userId }], metadata: { bundleVersion } },
    )
    return { bundleVersion, accessToken, expiresAt }
  })
}
