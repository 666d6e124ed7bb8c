import type { sessions } from '@strongroom/contract'
import { recordFor, recordRefusalFor } from '../../audit/record.ts'
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

/** An attempt that ends: proven is who it was for only if the passphrase was right. */
async function endAttempt(
  deps: Deps,
  db: Db,
  proof: { attemptId: string; finishLoginRequest: string },
): Promise<{ proven?: ProvenLogin; failedFor?: ProvenLogin['account'] }> {
  const attempt = await takeAttempt(deps, db, 'login', proof.attemptId)
  if (!attempt) return {}
  const succeeds = loginSucceeds(attempt.serverLoginState, proof.finishLoginRequest)
  const { account, buckets } = attempt
  if (account === null) return {}
  return succeeds ? { proven: { account, buckets } } : { failedFor: account }
}

/** Whoever finishes an attempt has proven the passphrase of its account; undefined if they have not. */
export const proveLogin = async (...attempt: Parameters<typeof endAttempt>): Promise<ProvenLogin | undefined> =>
  (await endAttempt(...attempt)).proven

export const loginFinish: PublicHandler<typeof sessions.loginFinish> = async (deps, { body }) => {
  // In a transaction of its own: an attempt is over, also when it fails.
  const { proven, failedFor } = await outsideOrgs(deps, (db) => endAttempt(deps, db, body))
  // Not waited for: the time an answer takes must not tell whether the address is known.
  if (failedFor) recordFailedLogin(deps, failedFor)
  const { account, buckets } = found(proven, 'login_failed')
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

/** The organisation sees who was guessed at, and from where. */
function recordFailedLogin(
  deps: Parameters<typeof recordRefusalFor>[0],
  { orgId, userId }: ProvenLogin['account'],
): void {
  const actor = { type: 'user', id: `user:${userId}` }
  void recordRefusalFor(deps, orgId, actor, 'session.login', 'login_failed')
}
