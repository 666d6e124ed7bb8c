import type { directory } from '@strongroom/contract'
import { capsSet, keyRecover, logRecover, peekDocument, policySet, principalOf } from '@strongroom/protocol'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { commitDirectory, ensureBroughtBySigner } from '../../log/directory-commit.ts'
import { refusing } from '../../log/refusals.ts'
import { ensureActiveAgent } from '../agents/open.ts'
import { ensureQuorumLeft, ensureQuorumMet } from '../users/quorum-left.ts'
import { activePeople, lockOwners, othersThan } from '../users/store.ts'

// Whether the quorum is met and the act follows from the state is decided by the protocol's transition, in the transaction.

export const setCaps: Handler<typeof directory.setCaps> = (ctx, { body: { event } }) =>
  transact(ctx, async (ctx) => {
    const { kid, by, caps } = (await refusing(async () => peekDocument(capsSet, event))).payload
    ensureBroughtBySigner(ctx, by)
    if (!caps.includes('dir-admin')) await ensureSignersLeft(ctx, kid)
    return { kid, ...(await commitDirectory(ctx, [event], { allowed: ['caps.set'] })) }
  })

/** Whoever removes people holds the owners as well: two administrators can not go at once, one each way. */
async function ensureSignersLeft(ctx: TxCtx, kid: string): Promise<void> {
  const { orgId } = ctx.principal
  const [type, userId = ''] = principalOf(kid).split(':')
  if (type !== 'user') return
  await lockOwners(ctx.db, orgId)
  await ensureQuorumLeft(ctx.db, { orgId, userId, kid }, () => othersThan(ctx.db, { orgId, userId }))
}

export const setPolicy: Handler<typeof directory.setPolicy> = (ctx, { body: { event } }) =>
  transact(ctx, async (ctx) => {
    const { policyVersion, by, policy } = (await refusing(async () => peekDocument(policySet, event))).payload
    ensureBroughtBySigner(ctx, by)
    const { orgId } = ctx.principal
    await lockOwners(ctx.db, orgId)
    await ensureQuorumMet(ctx.db, orgId, policy, () => activePeople(ctx.db, orgId))
    return { policyVersion, ...(await commitDirectory(ctx, [event], { allowed: ['policy.set'] })) }
  })

export const recoverKey: Handler<typeof directory.recoverKey> = (ctx, { body: { event } }) =>
  transact(ctx, async (ctx) => {
    const { kid, principal, by } = (await refusing(async () => peekDocument(keyRecover, event))).payload
    ensureBroughtBySigner(ctx, by)
    // A person's new key comes with a new passphrase and is brought by the person, not by an admin.
    if (!principal.startsWith('agent:')) throw new ApiError('invalid_document', { details: { rule: 'not_an_agent' } })
    await ensureActiveAgent(ctx, principal.slice('agent:'.length))
    return { kid, ...(await commitDirectory(ctx, [event], { allowed: ['key.recover'] })) }
  })

export const recoverLog: Handler<typeof directory.recoverLog> = (ctx, { body: { event } }) =>
  transact(ctx, async (ctx) => {
    const { by } = (await refusing(async () => peekDocument(logRecover, event))).payload
    ensureBroughtBySigner(ctx, by)
    return commitDirectory(ctx, [event], { allowed: ['log.recover'] })
  })
