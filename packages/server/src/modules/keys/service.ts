import type { keys, Output } from '@strongroom/contract'
import {
  claimedKind,
  type Envelope,
  grantName,
  keyAdd,
  keyRotate,
  kidName,
  POLICY_NAME,
  peekDocument,
  principalOf,
  verifyPendingKey,
  wrappedDek,
} from '@strongroom/protocol'
import { ensureWritable, openVault } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { appendAct, lockOrgLog } from '../../log/append.ts'
import { commitDirectory, ensureBroughtBySigner } from '../../log/directory-commit.ts'
import { refusing } from '../../log/refusals.ts'
import { readSigned } from '../../log/signers.ts'
import { transparencyOf } from '../../log/transparency.ts'
import { ensureActiveAgent } from '../agents/open.ts'
import { tellOfAgent } from '../agents/tell.ts'
import { signedVault } from '../vaults/answer.ts'
import * as store from './store.ts'

type Registered = Output<typeof keys.register>

export const register: Handler<typeof keys.register> = (ctx, { body: { event, replacements = [] } }) =>
  transact(ctx, async (ctx) => {
    await lockOrgLog(ctx)
    const kind = await refusing(async () => claimedKind(event))
    if (kind === 'key.rotate') return rotate(ctx, event, replacements)
    if (replacements.length > 0) throw new ApiError('invalid_document', { details: { rule: 'no_batch_here' } })
    return add(ctx, event)
  })

/** The current key and the new one have both signed, so only the agent itself can bring this. */
async function rotate(ctx: TxCtx, event: Envelope, replacements: readonly Envelope[]): Promise<Registered> {
  const { kid, oldKid } = (await refusing(async () => peekDocument(keyRotate, event))).payload
  ensureAgentKey(kid)
  ensureBroughtBySigner(ctx, oldKid)
  const receipt = await commitDirectory(ctx, [event, ...replacements], {
    allowed: ['key.rotate'],
    have: ctx.request.have,
  })
  await tellOfAgent(ctx, 'agent.key_rotated', principalOf(kid).slice('agent:'.length), 'active')
  return { kid, status: 'active', receipt }
}

async function add(ctx: TxCtx, event: Envelope): Promise<Registered> {
  const { kid, by } = (await refusing(async () => peekDocument(keyAdd, event))).payload
  ensureAgentKey(kid)
  const principal = principalOf(kid)
  // The agent itself, or whoever endorses it: nobody else has a reason to bring it.
  if (principal !== ctx.principal.id) ensureBroughtBySigner(ctx, by)
  await ensureActiveAgent(ctx, principal.slice('agent:'.length))
  const { db, principal: caller } = ctx
  const active = (await store.keysOf(db, caller.orgId, principal)).filter(({ status }) => status === 'active')
  if (active.some((key) => key.kid === kid)) return { kid, status: 'active' }
  if (active.length > 0) throw new ApiError('rotation_requires_old_key', { details: { kid: active[0]?.kid } })
  if (!event.signatures.some(({ keyid }) => keyid === by)) return wait(ctx, event)
  const receipt = await commitDirectory(ctx, [event], { allowed: ['key.add'], have: ctx.request.have })
  await store.dropPending(db, caller.orgId, kid)
  return { kid, status: 'active', receipt }
}

/** Half a registration: the key has proven itself, and the endorser it names has yet to sign. */
async function wait(ctx: TxCtx, event: Envelope): Promise<Registered> {
  const { db, principal } = ctx
  const { kid, endorser, envelope } = await refusing(() => verifyPendingKey(principal.orgId, event))
  await store.putPending(db, principal.orgId, { kid, endorser, envelope, createdAt: ctx.now() })
  await record(ctx, { action: 'key.request', targets: [{ type: 'key', id: kid }] })
  return { kid, status: 'pending' }
}

function ensureAgentKey(kid: string): void {
  if (!kid.startsWith('agent:')) throw new ApiError('invalid_document', { details: { rule: 'not_an_agent' } })
}

export const pending: Handler<typeof keys.pending> = (ctx) =>
  transact(ctx, async ({ db, principal }) => {
    const rows = await store.pendingFor(db, principal.orgId, principal.id)
    return {
      data: rows.map(({ kid, envelope, createdAt }) => ({ kid, event: envelope, createdAt: createdAt.toISOString() })),
    }
  })

export const grants: Handler<typeof keys.grants> = (ctx) =>
  transact(ctx, async ({ db, principal }) => {
    const rows = await store.grantsOfPrincipal(db, principal.orgId, principal.id)
    return { data: rows.map(({ vaultId, kid, dekVersion }) => ({ vaultId, kid, dekVersion })) }
  })

export const directory: Handler<typeof keys.directory> = (ctx, { query }) =>
  transact(
    ctx,
    async ({ db, principal, request }) => {
      const kids = await store.activeKids(db, principal.orgId, query.principals.split(','))
      const { documents: _, names, ...documents } = await readSigned(db, principal.orgId, [], kids)
      const proven = [POLICY_NAME, ...kids.map(kidName), ...names]
      const transparency = await transparencyOf(db, principal.orgId, proven, request.have)
      return {
        kids,
        genesis: documents.genesis,
        policies: [...documents.policies],
        records: [...documents.records],
        capSets: [...documents.capSets],
        transparency,
      }
    },
    { atOneMoment: true },
  )

export const wrapped: Handler<typeof keys.wrapped> = (ctx, { params }) =>
  transact(
    ctx,
    async (ctx) => {
      const vault = await openVault(ctx, params.vaultId)
      const rows = await store.grantsOfVault(ctx.db, vault)
      const names = rows.map(({ kid, dekVersion }) => grantName(vault.vaultId, kid, dekVersion))
      const { signed } = await signedVault(ctx, vault, { names })
      return { data: rows.map(({ kid, dekVersion, wrapHash }) => ({ kid, dekVersion, wrapHash })), signed }
    },
    { atOneMoment: true },
  )

export const grant: Handler<typeof keys.grant> = (ctx, { params, body: { wraps } }) =>
  transact(ctx, async (ctx) => {
    await lockOrgLog(ctx)
    const { orgId, vaultId } = ensureWritable(await openVault(ctx, params.vaultId), 'admin')
    const peeked = await refusing(async () => wraps.map((wrap) => peekDocument(wrappedDek, wrap).payload))
    for (const { by, vaultId: wrappedFor } of peeked) {
      ensureBroughtBySigner(ctx, by)
      if (wrappedFor !== vaultId) throw new ApiError('invalid_document', { details: { rule: 'vault_swap' } })
    }
    const { index, transition } = await appendAct(ctx, ctx.db, orgId, { docs: wraps, allowed: ['grant.add'] })
    const keys = peeked.map(({ to }) => ({ type: 'key', id: to }))
    await record(ctx, {
      action: 'vault.grant',
      targets: [{ type: 'vault', id: vaultId }, ...keys.slice(0, 64)],
      metadata: { index },
    })
    const names = transition.updates.map(({ name }) => name)
    return { index, transparency: await transparencyOf(ctx.db, orgId, names, ctx.request.have) }
  })

export const holders: Handler<typeof keys.holders> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    const vault = await openVault(ctx, params.vaultId)
    const rows = await store.grantsOfVault(ctx.db, vault)
    const data = (await store.holders(ctx.db, vault)).map((holder) => {
      const own = rows.filter(({ kid }) => principalOf(kid) === holder.principal)
      const kids = [...new Set(own.map(({ kid }) => kid))]
      const versionsOf = (kid: string) => own.filter((row) => row.kid === kid).map(({ dekVersion }) => dekVersion)
      return { ...holder, keys: kids.map((kid) => ({ kid, dekVersions: versionsOf(kid) })) }
    })
    return { data }
  })

export const own: Handler<typeof keys.own> = (ctx) =>
  transact(ctx, async ({ db, principal }) => ({ data: await store.keysOf(db, principal.orgId, principal.id) }))

export const addOwn: Handler<typeof keys.addOwn> = (ctx, { body: { event } }) =>
  transact(ctx, async (ctx) => {
    const { kid } = (await refusing(async () => peekDocument(keyAdd, event))).payload
    ensureBroughtBySigner(ctx, kid)
    return { kid, receipt: await commitDirectory(ctx, [event], { allowed: ['key.add'], have: ctx.request.have }) }
  })
