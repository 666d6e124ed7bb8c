import type { Input, setup } from '@strongroom/contract'
import { orgGenesis, peekDocument, principalOf } from '@strongroom/protocol'
import { recordFor } from '../../audit/record.ts'
import { type Deps, inOrg, outsideOrgs } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { PublicHandler } from '../../http/mount.ts'
import { commitDirectoryFor } from '../../log/directory-commit.ts'
import { logVkey, newLogOrigin, openLog } from '../../log/log-key.ts'
import { refusing } from '../../log/refusals.ts'
import { type AttemptState, peekAttempt, startAttempt, takeAttempt } from '../sessions/attempts.ts'
import { answerRegistration } from '../sessions/opaque.ts'
import { startSession } from '../sessions/service.ts'
import { insertFirstTenant } from '../tenants/first.ts'
import { ensureKeepable, keepSecrets } from '../user-keys/secrets.ts'
import { insertFounder } from '../users/people.ts'
import { trustAnchorOf } from './org.ts'
import * as store from './store.ts'
import { hashSetupToken } from './token.ts'

type SetupDeps = Parameters<PublicHandler<typeof setup.finish>>[0]
type Finish = Input<typeof setup.finish>['body']

export const status: PublicHandler<typeof setup.status> = (deps) =>
  outsideOrgs(deps, async (db) => ({ needed: !(await store.anyOrg(db)) }))

/** The hash of a token that would be taken. That there is an organisation already is no secret, and is said first. */
async function openToken(deps: Deps, token: string | undefined): Promise<Buffer> {
  return outsideOrgs(deps, async (db) => {
    const hash = hashSetupToken(token)
    // In this order: a token that somebody has used a moment ago comes with the organisation that it made.
    const isUnused = hash !== undefined && (await store.isUnusedToken(db, hash))
    if (await store.anyOrg(db)) throw new ApiError('already_set_up')
    if (!isUnused) throw new ApiError('invalid_setup_token')
    return hash
  })
}

export const start: PublicHandler<typeof setup.start> = async (deps, { body }, token) => {
  await openToken(deps, token)
  const registrationResponse = await answerRegistration(deps, body.email, body.registrationRequest)
  const origin = newLogOrigin(deps.config)
  const ids = { orgId: deps.newId('org'), userId: deps.newId('usr'), tenantId: deps.newId('ten') }
  return outsideOrgs(deps, async (db) => {
    // Before there is a log: its founder pins where it will be and who will sign it.
    const log = { origin, vkey: await logVkey(deps, db, origin) }
    const attemptId = await startAttempt(deps, db, 'setup', { ...ids, email: body.email, origin })
    return { attemptId, ...ids, registrationResponse, log }
  })
}

export const finish: PublicHandler<typeof setup.finish> = async (deps, { body }, token) => {
  const tokenHash = await openToken(deps, token)
  const plan = await openAttempt(deps, body.attemptId)
  const genesisHash = await checkGenesis(plan, body)
  await ensureKeepable(deps, plan.email, body)
  return inOrg(deps, plan.orgId, async (db) => {
    if (!(await store.useToken(db, tokenHash, deps.now())))
      throw new ApiError((await store.anyOrg(db)) ? 'already_set_up' : 'invalid_setup_token')
    if (await store.anyOrg(db)) throw new ApiError('already_set_up')
    if (!(await takeAttempt(deps, db, 'setup', body.attemptId))) throw new ApiError('attempt_over')
    await store.insertOrg(db, {
      orgId: plan.orgId,
      name: body.orgName,
      genesisHash,
      origin: plan.origin,
      at: deps.now(),
    })
    return furnish(deps, db, plan, body)
  })
}

/** Somebody who finished a moment ago has used up the attempt, too. */
const openAttempt = (deps: SetupDeps, attemptId: string): Promise<AttemptState<'setup'>> =>
  outsideOrgs(deps, async (db) => {
    const attempt = await peekAttempt(deps, db, 'setup', attemptId)
    if (attempt) return attempt
    throw new ApiError((await store.anyOrg(db)) ? 'already_set_up' : 'attempt_over')
  })

/** The genesis must make exactly this person, with exactly this key, the founder of exactly this organisation. */
async function checkGenesis({ orgId, userId }: AttemptState<'setup'>, { genesis, kid }: Finish): Promise<string> {
  const { payload, hash } = await refusing(async () => peekDocument(orgGenesis, genesis))
  const [founder, ...others] = payload.admins
  const isOurs =
    payload.org === orgId && founder?.kid === kid && others.length === 0 && principalOf(kid) === `user:${userId}`
  if (!isOurs)
    throw new ApiError('invalid_document', {
      details: { rule: 'genesis_mismatch', reason: 'the genesis does not name exactly this organisation and this key' },
    })
  return hash
}

/** What an organisation begins with; the caller's transaction makes it all or nothing. */
async function furnish(
  deps: SetupDeps,
  db: Db,
  { orgId, userId, tenantId, email }: AttemptState<'setup'>,
  body: Finish,
) {
  const actor = { type: 'user', id: `user:${userId}` }
  await openLog(deps, db, orgId)
  await insertFirstTenant(deps, db, { orgId, tenantId, name: body.tenantName })
  await insertFounder(deps, db, { orgId, userId, tenantId, email, name: body.userName })
  await commitDirectoryFor(deps, db, { orgId, actor }, [body.genesis], { allowed: ['org.genesis'] })
  await keepSecrets(deps, db, { orgId, userId }, body)
  const { accessToken, expiresAt } = await startSession(deps, db, {
    orgId,
    userId,
    deviceInstallationId: body.deviceInstallationId,
  })
  await recordFor(deps, db, orgId, actor, {
    action: 'org.setup',
    targets: [
      { type: 'org', id: orgId },
      { type: 'user', id: userId },
      { type: 'tenant', id: tenantId },
    ],
  })
  return { orgId, userId, tenantId, accessToken, expiresAt, trustAnchor: await trustAnchorOf(db, orgId) }
}
