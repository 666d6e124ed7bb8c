import type { directory } from '@strongroom/contract'
import { capsSet, keyRecover, logRecover, peekDocument, policySet } from '@strongroom/protocol'
import { transact } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { commitDirectory, ensureBroughtBySigner } from '../../log/directory-commit.ts'
import { refusing } from '../../log/refusals.ts'
import { ensureActiveAgent } from '../agents/open.ts'

// Whether the quorum is met and the act follows from the state is decided by the protocol's transition, in the transaction.

export const setCaps: Handler<typeof directory.setCaps> = (ctx, { body: { event } }) =>
  transact(ctx, async (ctx) => {
    const { kid, by } = (await refusing(async () => peekDocument(capsSet, event))).payload
    ensureBroughtBySigner(ctx, by)
    return { kid, ...(await commitDirectory(ctx, [event], { allowed: ['caps.set'] })) }
  })

export const setPolicy: Handler<typeof directory.setPolicy> = (ctx, { body: { event } }) =>
  transact(ctx, async (ctx) => {
    const { policyVersion, by } = (await refusing(async () => peekDocument(policySet, event))).payload
    ensureBroughtBySigner(ctx, by)
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
