import { createHash } from 'node:crypto'
import type { feedback } from '@strongroom/contract'
import { record } from '../../audit/record.ts'
import { transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { findSecret } from './secret-scan.ts'
import * as store from './store.ts'

const PER_HOUR = 20
const HOUR_MS = 3_600_000

/** What is the same feedback: the same agent, the same words. Which request it was about may differ. */
const digestOf = (...parts: readonly string[]): Buffer => createHash('sha256').update(JSON.stringify(parts)).digest()

/** Names the member and the kind of what was found, never the text. */
function refuseSecrets(texts: Readonly<Record<string, string>>): void {
  for (const [member, text] of Object.entries(texts)) {
    const kind = findSecret(text)
    if (kind) throw new ApiError('feedback_contains_secret', { details: { member, kind } })
  }
}

export const send: Handler<typeof feedback.send> = async (ctx, { body }) => {
  const { category, summary, details, route = '', requestId } = body
  refuseSecrets({ summary, details, route })
  return transact(ctx, async (ctx) => {
    const { db, principal } = ctx
    const { orgId } = principal
    const agentId = found(principal.agentId ?? undefined, 'agent_not_found')
    const at = ctx.now()
    const row: store.FeedbackRow = {
      orgId,
      feedbackId: ctx.newId('fbk'),
      agentId,
      category,
      summary,
      details,
      route: route === '' ? null : route,
      requestId: requestId ?? null,
      digest: digestOf(agentId, category, summary, details, route),
      at,
    }

    await store.waitForTurn(db, orgId, agentId)
    const known = await store.sameToday(db, row)
    if (known !== undefined) return { feedbackId: known }
    const { sent, oldest } = await store.sentSince(db, orgId, agentId, new Date(at.getTime() - HOUR_MS))
    if (sent >= PER_HOUR) throw tooMuch(oldest ?? at, at)
    await store.insertFeedback(db, row)

    await record(ctx, {
      action: 'feedback.send',
      targets: [{ type: 'feedback', id: row.feedbackId }],
      metadata: { category },
    })
    return { feedbackId: row.feedbackId }
  })
}

const tooMuch = (oldest: Date, at: Date): ApiError => {
  const seconds = Math.max(1, Math.ceil((oldest.getTime() + HOUR_MS - at.getTime()) / 1000))
  return new ApiError('rate_limited', { details: { perHour: PER_HOUR }, headers: { 'retry-after': String(seconds) } })
}
