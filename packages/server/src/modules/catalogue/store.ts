import { sql } from 'kysely'
import type { Db } from '../../db/database.ts'
import type { LicenseField, LicenseOffer } from '../../licenses/catalogue.ts'

// Offers that the operator has made over the API. Of the deployment: they belong to no organisation.

/** As it is kept: in the shape of the file. */
interface KeptOffer {
  readonly name: string
  readonly description: string
  readonly provider: string
  readonly sku: string
  readonly price: string
  readonly term: LicenseOffer['term']
  readonly fields: readonly LicenseField[]
  readonly tenants: readonly string[] | null
  readonly isAvailable: boolean
}

const read = ({ slug, offer }: { readonly slug: string; readonly offer: KeptOffer }): LicenseOffer => ({
  ...offer,
  slug,
  price: BigInt(offer.price),
  tenants: offer.tenants ?? undefined,
})

const kept = ({ slug: _, price, tenants, ...offer }: LicenseOffer): KeptOffer => ({
  ...offer,
  price: price.toString(),
  tenants: tenants ?? null,
})

export async function offers(db: Db): Promise<readonly LicenseOffer[]> {
  const { rows } = await sql<{ slug: string; offer: KeptOffer }>`
    select slug, offer from catalogue_offer order by slug`.execute(db)
  return rows.map(read)
}

export async function offer(db: Db, slug: string): Promise<LicenseOffer | undefined> {
  const { rows } = await sql<{ slug: string; offer: KeptOffer }>`
    select slug, offer from catalogue_offer where slug = ${slug}`.execute(db)
  return rows[0] && read(rows[0])
}

export async function putOffer(db: Db, offer: LicenseOffer, at: Date): Promise<void> {
  await sql`
    insert into catalogue_offer (slug, offer, updated_at) values (${offer.slug}, ${JSON.stringify(kept(offer))}::jsonb, ${at})
    on conflict (slug) do update
      set offer = excluded.offer, updated_at = excluded.updated_at, version = catalogue_offer.version + 1`.execute(db)
}

export async function deleteOffer(db: Db, slug: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('catalogue_offer').where('slug', '=', slug).executeTakeFirst()
  return numDeletedRows > 0n
}
