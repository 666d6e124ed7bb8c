import type { EventType } from '@strongroom/contract'
import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import type { DomainEvent } from './outbox.ts'

// Vault changes are written down by the feed of activity, in the one statement of a commit. What is told of them is made from the feed
// afterwards: a commit costs nothing more for it.

export interface Change {
  readonly seq: number
  /** Of the activity. */
  readonly id: string
  readonly vaultId: string
  readonly action: string
  readonly actor: string
  readonly subject: string
  readonly occurredAt: Date
  readonly isFirst: boolean
}

const OF_VAULTS: Readonly<Record<string, EventType>> = {
  'vault.create': 'vault.created',
  'vault.archive': 'vault.archived',
  'vault.set-permissions': 'vault.shared',
  'vault.rotate-key': 'vault.key_rotated',
}
const OF_ITEMS: Readonly<Record<string, EventType>> = {
  'item.create': 'vault_item.created',
  'item.import': 'vault_item.created',
  'item.archive': 'vault_item.archived',
  'item.move': 'vault_item.moved',
}

export function typeOfChange({ action, vaultId, subject, isFirst }: Omit<Change, 'seq' | 'id'>): EventType {
  if (subject === vaultId || subject === '') return OF_VAULTS[action] ?? 'vault.updated'
  // A commit of any kind says no more than that the item is another now.
  return OF_ITEMS[action] ?? (isFirst ? 'vault_item.created' : 'vault_item.updated')
}

export interface VaultEvent extends DomainEvent {
  readonly at: Date
}

export function eventOfChange(change: Change): VaultEvent {
  const { vaultId, actor, subject, occurredAt: at } = change
  const type = typeOfChange(change)
  const object = type.startsWith('vault_item.')
    ? { type: 'vault_item', id: subject, vaultId, actor }
    : { type: 'vault', id: vaultId, actor }
  return { type, object, vaultId, at, self: `/api/v1/machine/vault/${vaultId}` }
}

/** Items are made and changed within seconds of each other at the most; further back is not looked. */
const LOOK_BACK = 1000

/** Changes behind `after`, oldest first. */
export async function changesAfter(db: Db, orgId: string, after: number, limit: number): Promise<readonly Change[]> {
  const { rows } = await sql<Change>`
    select e.seq, e.event_id as id, e.vault_id as "vaultId", e.action, e.actor, e.subject, e.occurred_at as "occurredAt",
      i.created_at is not null and not exists (
        select 1 from vault_activity_event p
        where p.org_id = e.org_id and p.seq < e.seq and p.seq > e.seq - ${LOOK_BACK}::bigint
          and p.vault_id = e.vault_id and p.subject = e.subject) as "isFirst"
    from vault_activity_event e
    left join vault_item i on i.org_id = e.org_id and i.vault_id = e.vault_id and i.item_id = e.subject
      and i.created_at between e.occurred_at - interval '2 seconds' and e.occurred_at + interval '2 seconds'
    where e.org_id = ${orgId} and e.seq > ${after}
    order by e.seq limit ${limit}`.execute(db)
  return rows
}
