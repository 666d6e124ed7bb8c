import type { Db } from '../../db/database.ts'

export interface TransitionRow {
  readonly from: string | null
  readonly to: string
  readonly cause: string
  readonly actor: string
  readonly at: Date
}

export async function insertTransition(
  db: Db,
  orgId: string,
  objectId: string,
  { seq, from, to, cause, actor, at }: TransitionRow & { readonly seq: number },
): Promise<void> {
  await db
    .insertInto('license_transition')
    .values({ org_id: orgId, object_id: objectId, seq, from_state: from, to_state: to, cause, actor, at })
    .execute()
}

export const transitionsOf = (db: Db, orgId: string, objectId: string): Promise<TransitionRow[]> =>
  db
    .selectFrom('license_transition')
    .select(['from_state as from', 'to_state as to', 'cause', 'actor', 'at'])
    .where('org_id', '=', orgId)
    .where('object_id', '=', objectId)
    .orderBy('seq')
    .execute()

export type CallState = 'planned' | 'sent' | 'unknown' | 'done'
export interface CallName {
  readonly orgId: string
  /** What the provider knows it by. */
  readonly objectId: string
  readonly op: 'order' | 'cancel' | 'renew'
}

/** Written before anybody is asked. Planned once, however often the step is taken. */
export async function planCall(
  db: Db,
  { orgId, objectId, op }: CallName,
  { provider, digest, at }: { readonly provider: string; readonly digest: string; readonly at: Date },
): Promise<void> {
  await db
    .insertInto('license_call')
    .values({
      org_id: orgId,
      object_id: objectId,
      op,
      provider,
      request_digest: digest,
      state: 'planned',
      provider_ref: null,
      planned_at: at,
      sent_at: null,
      ended_at: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function markCall(
  db: Db,
  { orgId, objectId, op }: CallName,
  state: CallState,
  at: Date,
  providerRef?: string,
): Promise<void> {
  await db
    .updateTable('license_call')
    .set({
      state,
      ...(state === 'sent' ? { sent_at: at } : { ended_at: at }),
      ...(providerRef !== undefined && { provider_ref: providerRef }),
    })
    .where('org_id', '=', orgId)
    .where('object_id', '=', objectId)
    .where('op', '=', op)
    .execute()
}

export async function callState(db: Db, { orgId, objectId, op }: CallName): Promise<CallState | undefined> {
  const row = await db
    .selectFrom('license_call')
    .select('state')
    .where('org_id', '=', orgId)
    .where('object_id', '=', objectId)
    .where('op', '=', op)
    .executeTakeFirst()
  return row?.state as CallState | undefined
}
