import type { sessions } from '@strongroom/contract'
import { recordFor } from '../../audit/record.ts'
import { type Deps, inOrg, outsideOrgs } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { ApiError, found } from '../../errors.ts'
import type { PublicHandler } from '../../http/mount.ts'
import { nameOfOrg, trustAnchorOf } from '../setup/org.ts'
import { secretsOf } from '../user-keys/secrets.ts'
import { activeUser } from '../users/people.ts'
import { type AttemptState, startAttempt, takeAttempt } from './attempts.ts'
import { answerLogin, inventedKdf, loginSucceeds, normalEmail } from './opaque.ts'
import { startSession } from './service.ts'
import * as store from './store.ts'
import { countTry, forgiveTry } from './throttle.ts'

// An OPAQUE login in two messages. Nothing in either answer, nor the work behind it, tells whether an address is known.

/** Whoever can log in under this address; the transaction then works in their organisation. */
export const findLogin = (db: Db, email: string): Promise<store.LoginRow | undefined> =>
  store.findLogin(db, normalEmail(email), null)

export const loginStart: PublicHandler<typeof sessions.loginStart> = async (deps, { body }) => {
  const { email, startLoginRequest, deviceInstallationId } = body
  const { login, verdict } = await outsideOrgs(deps, async (db) => {
    const login = await store.findLogin(db, normalEmail(email), deviceInstallationId ?? null)
    const knownDevice = login?.knowsDevice ? deviceInstallationId : undefined
    // Returned and not thrown: a refused try counts too, and a thrown one would be rolled back.
    return { login, verdict: await countTry(deps, db, { email, ip: deps.request.ip, knownDevice }) }
  })
  if (verdict.retryAfterSeconds > 0)
    throw new ApiError('rate_limited', { headers: { 'retry-after': String(verdict.retryAfterSeconds) } })
  const invented = await inventedKdf(deps, email)
  const { loginResponse, serverLoginState } = await answerLogin(deps, email, login?.record, startLoginRequest)
  const account = login ? { orgId: login.orgId, userId: login.userId, bundleVersion: login.bundleVersion } : null
  const attemptId = await outsideOrgs(deps, (db) =>
    startAttempt(deps, db, 'login', { serverLoginState, account, buckets: verdict.buckets }),
  )
  return { attemptId, loginResponse, kdf: login?.kdf ?? invented }
}

export interface ProvenLogin {
  readonly account: NonNullable<AttemptState<'login'>['account']>
  readonly buckets: readonly string[]
}

/** Whoever finishes an attempt has proven the passphrase of its account; undefined if they have not. */
export async function proveLogin(
  deps: Deps,
  db: Db,
  proof: { attemptId: string; finishLoginRequest: string },
): Promise<ProvenLogin | undefined> {
  const attempt = await takeAttempt(deps, db, 'login', proof.attemptId)
  if (!attempt || !loginSucceeds(attempt.serverLoginState, proof.finishLoginRequest) || attempt.account === null)
    return undefined
  return { account: attempt.account, buckets: attempt.buckets }
}

export const loginFinish: PublicHandler<typeof sessions.loginFinish> = async (deps, { body }) => {
  // In a transaction of its own: an attempt is over, also when it fails.
  const { account, buckets } = found(await outsideOrgs(deps, (db) => proveLogin(deps, db, body)), 'login_failed')
  const { orgId, userId } = account
  return inOrg(deps, orgId, async (db) => {
    const user = await activeUser(db, orgId, userId)
    const secrets = await secretsOf(db, orgId, userId)
    // The passphrase that was proven may have been changed since, or its owner removed.
    if (!user || secrets?.bundleVersion !== account.bundleVersion) throw new ApiError('login_failed')
    const { accessToken, expiresAt, sessionId } = await startSession(deps, db, {
      orgId,
      userId,
      deviceInstallationId: body.deviceInstallationId,
    })
    await forgiveTry(db, buckets)
    await recordFor(
      deps,
      db,
      orgId,
      { type: 'user', id: `user:${userId}` },
      { action: 'session.login', targets: [{ type: 'session', id: sessionId }] },
    )
    const { kid, kdf, bundleVersion, privateBundle } = secrets
    const org = { orgId, name: await nameOfOrg(db, orgId) }
    return {
      accessToken,
      expiresAt,
      user,
      org,
      kid,
      kdf,
      bundleVersion,
      privateBundle,
      trustAnchor: await trustAnchorOf(db, orgId),
    }
  })
}
