import { inOrg } from '../../src/context.ts'
import type { Kind } from './kinds.ts'

const domain: Kind = {
  relations: ['own', 'other-org'],
  make: async ({ h: { deps } }, { place, label }) => {
    const name = `${label}-${deps.newId('d')}.dev`.replace(/[^a-z0-9.-]/gi, '-').toLowerCase()
    await inOrg(deps, place.orgId, async (db) => {
      await db
        .insertInto('domain')
        .values({ org_id: place.orgId, name, managed: true, created_by: 'test', created_at: deps.now() })
        .execute()
    })
    return name
  },
  absent: ({ h }) => `${h.deps.newId('d').replace('_', '-').toLowerCase()}.dev`,
  malformed: 'a b.dev',
}

export const DOMAIN_KINDS = { domain } as const satisfies Record<string, Kind>
