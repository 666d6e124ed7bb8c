import type { Input, licenses } from '@strongroom/contract'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { hasEnded, type InstanceRow, lockInstance, setInstanceStatus } from './instance-store.ts'
import { openInstance, openTermination } from './open.ts'
import { purchase } from './purchase-store.ts'
import { showTermination } from './show.ts'
import { tellTermination, whoseOf } from './tell.ts'
import { nextTermination } from './termination-machine.ts'
import { insertTermination, moveTermination, runningTermination, type TerminationRow } from './termination-store.ts'
import { stopWaiting } from './waiting.ts'

// Ending a licence begins with saying so. The provider is asked by the next turn; money is settled when it has answered.

type Body = Input<typeof licenses.terminate>['body']

/** Somebody else was first, and it is not known here what they did. */
const again = (): ApiError => new ApiError('overloaded', { headers: { 'retry-after': '1' } })

/** Nobody hands over what is being ended: the sealed credential goes with the settlement. */
async function stopHandOff(ctx: TxCtx, { purchaseId }: InstanceRow): Promise<void> {
  const { db, principal } = ctx
  const row = await purchase(db, principal.orgId, purchaseId)
  // It was handed over this very moment: the licence is ended all the same.
  if (row && !(await stopWaiting(db, row, principal.id, ctx.now()))) throw again()
}

const isSame = (row: TerminationRow, { effective = 'immediate', fallback }: Body): boolean =>
  row.asked === effective && row.fallback === (fallback ?? null)

/** One that has come to a stop makes way for one that was asked for in another way; one that runs does not. */
async function replace({ db, principal, now }: TxCtx, row: TerminationRow, terminationId: string): Promise<void> {
  const to = nextTermination(row.state, 'replaced')
  if (!to) throw new ApiError('termination_in_progress', { details: { terminationId: row.terminationId } })
  const move = { to, cause: 'replaced', actor: principal.id, at: now() }
  if (!(await moveTermination(db, row, move, { replaced_by: terminationId, next_at: null }))) throw again()
}

async function begin(ctx: TxCtx, license: InstanceRow, body: Body): Promise<TerminationRow> {
  const { db, principal } = ctx
  const { orgId, id } = principal
  const { licenseInstanceId, effective = 'immediate', fallback = null, reason = null } = body
  const before = await runningTermination(db, orgId, licenseInstanceId)
  if (before && isSame(before, body)) return before
  const terminationId = ctx.newId('ter')
  if (before) await replace(ctx, before, terminationId)
  const wanted = { orgId, instanceId: licenseInstanceId, principal: id, effective, fallback, note: reason }
  const row = await insertTermination(db, { ...wanted, terminationId }, ctx.now())
  if (!row) throw again()
  await setInstanceStatus(db, orgId, licenseInstanceId, ['active'], 'terminating')
  // What runs to the end of its period is paid until then, and can be taken until then.
  if (effective === 'immediate') await stopHandOff(ctx, license)
  await tellTermination(ctx, db, row, whoseOf(license), row.state)
  await record(ctx, {
    action: 'license.terminate',
    targets: [
      { type: 'license_termination', id: row.terminationId },
      { type: 'license', id: licenseInstanceId },
    ],
    metadata: { effective, ...(before && { replaces: before.terminationId }) },
  })
  return row
}

export const terminate: Handler<typeof licenses.terminate> = (ctx, { body }) =>
  transact(ctx, async (ctx) => {
    const { licenseInstanceId: id } = await openInstance(ctx, body.licenseInstanceId)
    const license = found(await lockInstance(ctx.db, ctx.principal.orgId, id), 'license_instance_not_found')
    if (hasEnded(license)) throw new ApiError('license_terminated')
    return showTermination(ctx, await begin(ctx, license, body))
  })

export const terminationStatus: Handler<typeof licenses.terminationStatus> = (ctx, { params }) =>
  transact(ctx, async (ctx) => showTermination(ctx, (await openTermination(ctx, params.terminationId)).row))

export const resumeTermination: Handler<typeof licenses.resumeTermination> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    const { db, principal } = ctx
    const { row, license } = await openTermination(ctx, params.terminationId)
    const to = nextTermination(row.state, 'resumed')
    if (!to || row.replacedBy !== null)
      throw new ApiError('termination_not_resumable', { details: { status: row.state } })
    // The licence before everything of it, as by whoever ends or takes it. Of two at once the second finds it moved, and is shown it as it is.
    await lockInstance(db, principal.orgId, license.licenseInstanceId)
    const at = ctx.now()
    const move = { to, cause: 'resumed', actor: principal.id, at }
    const isMoved = await moveTermination(db, row, move, { reason: null, attempts: 0, earliest_at: null, next_at: at })
    if (isMoved) {
      if (row.effective === 'immediate') await stopHandOff(ctx, license)
      await tellTermination(ctx, db, row, whoseOf(license), to, 'license.termination.resumed')
      await record(ctx, {
        action: 'license.termination.resume',
        targets: [{ type: 'license_termination', id: row.terminationId }],
      })
    }
    return showTermination(ctx, (await openTermination(ctx, params.terminationId)).row)
  })
