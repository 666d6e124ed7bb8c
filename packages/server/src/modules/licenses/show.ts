import { type License, money, type Purchase, type Termination } from '@strongroom/contract'
import type { Signer } from '@strongroom/protocol'
import type { TxCtx } from '../../context.ts'
import { destinationOf } from '../../licenses/sealer.ts'
import type { InstanceRow } from './instance-store.ts'
import * as purchases from './purchase-machine.ts'
import { type PurchaseRow, sealedOf } from './purchase-store.ts'
import * as terminations from './termination-machine.ts'
import type { TerminationRow } from './termination-store.ts'
import { type TransitionRow, transitionsOf } from './transition-store.ts'
import { MOST_UNKNOWN } from './turns.ts'

// Rows as the API shows them. Every status says what happened, why it stopped and what to do next.

const iso = (at: Date | null): string | null => at?.toISOString() ?? null

const showTransition = ({ at, ...transition }: TransitionRow) => ({ ...transition, at: at.toISOString() })

export const schemaOf = (fields: PurchaseRow['fields']) =>
  fields.map(({ label, env }) => ({ label, isEnvironmentVariable: env, required: true }))

const destination = ({ vaultMode, vaultName, vaultId }: PurchaseRow) => ({
  mode: vaultMode,
  name: vaultName,
  vaultId,
})

/** For the buyer alone, and only while it waits. */
export const isForTaking = ({ principal }: Pick<TxCtx, 'principal'>, row: PurchaseRow): boolean =>
  row.principal === principal.id && row.state === 'awaiting_handoff'

async function handoffOf(ctx: TxCtx, row: PurchaseRow, provisioner?: Signer): Promise<Purchase['handoff']> {
  const sealed = isForTaking(ctx, row) && (await sealedOf(ctx.db, row.orgId, row.purchaseId))
  if (!sealed || !provisioner) return undefined
  const { kid, key } = provisioner
  return {
    sealed: sealed.envelope,
    provisioner: { kid, key: { ...key.bundle } },
    destination: destinationOf(row),
    schema: schemaOf(row.fields),
    vault: destination(row),
    recipientKeyId: row.recipientKid,
  }
}

export const isResumable = ({ state, resumableUntil }: PurchaseRow, now: Date): boolean =>
  state === 'failed' && resumableUntil !== null && resumableUntil > now

type About = Pick<Purchase, 'nextAction' | 'retryable' | 'handoff'>

/** A row with its steps; what it means for who asks stands in `about`. */
function shown(row: PurchaseRow, transitions: readonly TransitionRow[], about: About): Purchase {
  return {
    purchaseId: row.purchaseId,
    licenseInstanceId: row.instanceId,
    licenseId: row.slug,
    name: row.name,
    provider: row.provider,
    quantity: row.quantity,
    price: money(row.amount),
    term: row.term,
    status: row.state,
    version: row.version,
    sealing: row.sealing,
    recipientKeyId: row.recipientKid,
    vault: destination(row),
    itemId: row.itemId,
    resumableUntil: iso(row.resumableUntil),
    stage: purchases.stageOf(row.state),
    statusReason: row.reason,
    ...about,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    transitions: transitions.map(showTransition),
  }
}

/** One that has just begun, before it is written. */
export const showBegun = (row: PurchaseRow): Purchase =>
  shown(row, [{ from: null, to: row.state, cause: 'purchased', actor: row.principal, at: row.createdAt }], {
    nextAction: purchases.nextActionOf(row.state, false),
    retryable: false,
  })

const POLL = { type: 'poll', afterMs: 1000 } as const

/** With the provisioning key, which is opened over a connection of its own: before the transaction, or many wait for each other's. */
export async function showPurchase(ctx: TxCtx, row: PurchaseRow, provisioner?: Signer): Promise<Purchase> {
  const retryable = isResumable(row, ctx.now())
  const handoff = await handoffOf(ctx, row, provisioner)
  // To another key than before: see `resealing`.
  const isBeingSealed = isForTaking(ctx, row) && !handoff
  const sealing = row.attempts < MOST_UNKNOWN ? POLL : ({ type: 'contact_support' } as const)
  return shown(row, await transitionsOf(ctx.db, row.orgId, row.purchaseId), {
    nextAction: isBeingSealed ? sealing : purchases.nextActionOf(row.state, retryable),
    retryable,
    ...(handoff && { handoff }),
  })
}

export async function showTermination({ db }: Pick<TxCtx, 'db'>, row: TerminationRow): Promise<Termination> {
  return {
    terminationId: row.terminationId,
    licenseInstanceId: row.instanceId,
    status: row.state,
    version: row.version,
    effective: row.effective,
    effectiveAt: iso(row.effectiveAt),
    earliestDate: iso(row.earliestAt),
    refund: row.refund === null ? null : money(row.refund),
    stage: terminations.stageOf(row.state),
    statusReason: row.reason,
    nextAction: terminations.nextActionOf(row.state, row.replacedBy !== null),
    retryable: row.state === 'failed' && row.replacedBy === null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    transitions: (await transitionsOf(db, row.orgId, row.terminationId)).map(showTransition),
  }
}

export const showLicense = ({ amount, instanceRef: _, ...row }: InstanceRow): License => ({
  ...row,
  price: money(amount),
  periodStart: row.periodStart.toISOString(),
  periodEnd: iso(row.periodEnd),
  createdAt: row.createdAt.toISOString(),
  terminatedAt: iso(row.terminatedAt),
})
