import type { AuditEvent, Strongroom } from '@strongroom/sdk'
import { queryOptions } from '@tanstack/react-query'

// Who read what, as the audit of the server tells it: everybody's for those who run the organisation, else the caller's own.

const READS: ReadonlySet<string> = new Set([
  'item.read',
  'item.version.read',
  'field.read',
  'vault.environment.read',
  'vault.wrapped-key.read',
])

export interface Read {
  readonly at: string
  readonly who: string
}

export interface Reads {
  /** Of the vault, by principal. */
  readonly byReader: ReadonlyMap<string, string>
  /** Newest first, one for each reader. */
  ofItem(itemId: string, isExported: boolean): readonly Read[]
}

function newestByReader(events: readonly AuditEvent[]): readonly Read[] {
  const seen = new Map<string, string>()
  for (const { actor, occurredAt } of events) if (!seen.has(actor.id)) seen.set(actor.id, occurredAt)
  return [...seen].map(([who, at]) => ({ who, at }))
}

export function readsIn(vaultId: string, events: readonly AuditEvent[]): Reads {
  const isOf = (id: string) => (event: AuditEvent) => event.targets.some((target) => target.id === id)
  const here = events.filter((event) => event.outcome === 'success' && READS.has(event.action) && isOf(vaultId)(event))
  return {
    byReader: new Map(newestByReader(here).map(({ who, at }) => [who, at])),
    ofItem: (itemId, isExported) =>
      newestByReader(
        here.filter((event) => isOf(itemId)(event) || (isExported && event.action === 'vault.environment.read')),
      ),
  }
}

const EVENTS_LOOKED_AT = 500

/** In the newest audit events. */
export const readsQuery = (strongroom: Strongroom, vaultId: string) =>
  queryOptions({
    queryKey: ['vault', vaultId, 'reads'],
    queryFn: async ({ signal }) =>
      readsIn(vaultId, await strongroom.monitoring.audit({}, { signal }).all({ max: EVENTS_LOOKED_AT })),
  })
