import type { EventType } from '@strongroom/contract'
import { sql } from 'kysely'
import type { Deps } from '../context.ts'
import type { Db } from '../db/database.ts'

// Telling others of what happened. Call `emit` in the transaction of the change; nobody is told of what was rolled back.

/** Of the payloads: a change of their shape that an old receiver would not understand is a new one. */
export const EVENT_API_VERSION = '2026-11-01'

export interface DomainEvent {
  readonly type: EventType
  /** What it is about, as it is now. Ids, states and amounts; never a name of a secret, a label or a ciphertext. */
  readonly object: { readonly type: string; readonly id: string; readonly [member: string]: unknown }
  /** What it was before, of what changed. */
  readonly previous?: Readonly<Record<string, unknown>>
  /** Where to read more, under the API's prefix. */
  readonly self?: string
  /** Who may hear of it, besides holding the permission of its type. */
  readonly tenantId?: string | null
  readonly vaultId?: string
  readonly principal?: string
  /** When it happened, if not now. */
  readonly at?: Date
}

interface ToldEvent extends DomainEvent {
  readonly id: string
  readonly at: Date
  readonly sequence: number
}

/** What is told of an event, as it is signed and sent. */
export function bodyOf(orgId: string, event: ToldEvent): string {
  const { id, type, at, sequence, object, previous, self, tenantId = null } = event
  return JSON.stringify({
    id,
    type,
    timestamp: at.toISOString(),
    apiVersion: EVENT_API_VERSION,
    sequence,
    synthetic: false,
    org: orgId,
    ...(tenantId !== null && { tenant: tenantId }),
    data: { object, ...(previous && { previous }) },
    ...(self !== undefined && { links: { self } }),
  })
}

type Maker = Pick<Deps, 'now' | 'newId'>

/**
 * Tells of things that are told of once and never change: each is the first and the last of its object, so nobody counts them, and all of them
 * are one statement.
 */
export async function emitOnce(
  { now, newId }: Maker,
  db: Db,
  orgId: string,
  events: readonly DomainEvent[],
): Promise<void> {
  if (events.length === 0) return
  const rows = events.map((event) => {
    const { type, tenantId = null, vaultId = null, principal = null, at = now() } = event
    const id = newId('evt')
    return { id, type, at, tenantId, vaultId, principal, body: bodyOf(orgId, { ...event, id, at, sequence: 1 }) }
  })
  // One parameter, however many there are.
  await sql`
    insert into outbox_event (org_id, event_id, type, body, tenant_id, vault_id, principal, occurred_at)
    select ${orgId}, id, type, body, "tenantId", "vaultId", principal, at
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(
      id text, type text, body text, "tenantId" text, "vaultId" text, principal text, at timestamptz)`.execute(db)
}

export async function emit({ now, newId }: Maker, db: Db, orgId: string, event: DomainEvent): Promise<string> {
  const { type, object, tenantId = null, vaultId = null, principal = null } = event
  const { at = now() } = event
  const id = newId('evt')
  const { rows } = await sql<{ sequence: number }>`
    insert into outbox_sequence (org_id, object_type, object_id, sequence) values (${orgId}, ${object.type}, ${object.id}, 1)
    on conflict (org_id, object_type, object_id) do update set sequence = outbox_sequence.sequence + 1
    returning sequence`.execute(db)
  const body = bodyOf(orgId, { ...event, id, at, sequence: rows[0]?.sequence ?? 1 })
  await db
    .insertInto('outbox_event')
    .values({
      org_id: orgId,
      event_id: id,
      type,
      body,
      tenant_id: tenantId,
      vault_id: vaultId,
      principal,
      occurred_at: at,
      fanned_out_at: null,
      feed_seq: null,
    })
    .execute()
  return id
}
