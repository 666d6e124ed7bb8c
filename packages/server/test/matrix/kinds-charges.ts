import { sql } from 'kysely'
import type { Kind } from './kinds.ts'
import type { World } from './world.ts'

const slugFor = ({ h }: World): string => h.deps.newId('o').replace('_', '-').toLowerCase()

/** On sale on the whole server. */
const offer: Kind = {
  relations: ['own'],
  make: async (world) => {
    const { deps } = world.h
    const slug = slugFor(world)
    const kept = {
      ...{ name: 'Mail', description: '', provider: 'builtin', sku: 'MP1', price: '1000000' },
      term: 'once',
    }
    const fields = [{ label: 'MAIL_KEY', isEnvironmentVariable: true }]
    const text = JSON.stringify({ ...kept, fields, tenants: null, isAvailable: true })
    await sql`insert into catalogue_offer (slug, offer, updated_at) values (${slug}, ${text}::jsonb, ${deps.now()})`.execute(
      deps.database.kysely,
    )
    return slug
  },
  absent: slugFor,
  malformed: 'Not a slug',
}

export const CHARGE_KINDS = { offer } as const satisfies Record<string, Kind>
