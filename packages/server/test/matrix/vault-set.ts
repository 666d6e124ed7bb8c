import { inOrg } from '../../src/context.ts'
import type { Harness } from '../harness.ts'
import { edit, makeVault, metaCommit, moveCommits, type Writer, writeItems } from '../vault-writer.ts'
import type { Caller, Place } from './relations.ts'

// The vaults of a tenant: real ones, made by the founder of the organisation with signed commits. Who else is on their access
// lists is put straight into the table, since that row is what the server decides by.

/** What everybody at home in the tenant has in a vault: a role, or none any more. */
const ROLES = {
  admin: 'admin',
  write: 'write',
  read: 'read',
  second: 'admin',
  archived: 'admin',
  hidden: null,
} as const
export type Standing = keyof typeof ROLES
const STANDINGS = Object.keys(ROLES) as Standing[]

export interface KeptVault {
  readonly vaultId: string
  readonly itemId: string
  readonly fieldId: string
  /** Hashes of documents about it. */
  readonly head: string
  readonly creation: string
  readonly wrap: string
}

export interface Vaults extends Readonly<Record<Standing, KeptVault>> {
  /** Left the vault `admin` for the vault `hidden`. */
  readonly moved: { readonly itemId: string; readonly fieldId: string }
}

/** How many vaults and items somebody at home in the tenant sees. */
export const SEEN = STANDINGS.filter((standing) => ROLES[standing] !== null).length

/** Every vault has one item, whose id follows from its own. */
export const itemIn = (vaultId: string): string => `itm_${vaultId.slice(1)}`
const fieldIn = (itemId: string, label: string): string => `fld_${itemId}_${label}`

/** Two fields, one of them for the environment, both labelled. */
const itemNamed = (itemId: string, label: string) => {
  const variable = label.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')
  const website = `https://${label.replaceAll(' ', '-')}.example`
  return edit(itemId, { [variable]: 'secret', [label.replaceAll(' ', '-')]: 'secret' }, { name: label, website })
}

export async function makeFilledVault(writer: Writer, label: string): Promise<string> {
  const vaultId = await makeVault(writer, { name: label })
  await writeItems(writer, vaultId, [itemNamed(itemIn(vaultId), label)])
  return vaultId
}

async function keptVault({ deps }: Harness, orgId: string, vaultId: string, label: string): Promise<KeptVault> {
  const itemId = itemIn(vaultId)
  return inOrg(deps, orgId, async (db) => {
    const { head_hash, admins_chain } = await db
      .selectFrom('vault')
      .select(['head_hash', 'admins_chain'])
      .where('vault_id', '=', vaultId)
      .executeTakeFirstOrThrow()
    const { state } = await db
      .selectFrom('map_state')
      .select('state')
      .where('vault_id', '=', vaultId)
      .where('name', 'like', 'grant/%')
      .executeTakeFirstOrThrow()
    return {
      vaultId,
      itemId,
      fieldId: fieldIn(itemId, label),
      head: head_hash,
      creation: admins_chain[0] ?? '',
      wrap: (state as { wrapHash: string }).wrapHash,
    }
  })
}

/** An item that was in one vault and is in another now. */
async function makeMoved(writer: Writer, from: string, to: string, label: string): Promise<Vaults['moved']> {
  const itemId = `itm_moved_${from.slice(1, 17)}`
  const item = itemNamed(itemId, label)
  await writeItems(writer, from, [item])
  await writer.client.items.move({ params: { id: itemId }, body: await moveCommits(writer, item, { from, to }) })
  return { itemId, fieldId: fieldIn(itemId, label) }
}

const labelOf = ({ vaultCanary, hiddenCanary }: Place, standing: Standing): string =>
  standing === 'hidden' ? hiddenCanary : vaultCanary

export async function makeVaults(h: Harness, writer: Writer, place: Place): Promise<Vaults> {
  const { orgId, tenantId } = place
  const made = await Promise.all(
    STANDINGS.map(async (standing) => [standing, await makeFilledVault(writer, labelOf(place, standing))] as const),
  )
  const ids = Object.fromEntries(made) as Record<Standing, string>
  const moved = await makeMoved(writer, ids.admin, ids.hidden, `${place.hiddenCanary}-moved`)
  const commit = await metaCommit(writer, ids.archived, { status: 'archived' })
  await writer.client.vaults.archive({ params: { vaultId: ids.archived }, body: { commit } })
  // The founder works in one tenant; a vault lies in the tenant of whoever made it.
  await inOrg(h.deps, orgId, (db) =>
    db.updateTable('vault').set({ tenant_id: tenantId }).where('vault_id', 'in', Object.values(ids)).execute(),
  )
  const kept = await Promise.all(
    made.map(
      async ([standing, vaultId]) => [standing, await keptVault(h, orgId, vaultId, labelOf(place, standing))] as const,
    ),
  )
  return { ...(Object.fromEntries(kept) as Record<Standing, KeptVault>), moved }
}

/** Puts somebody on the lists of the vaults at home, in every role; from the hidden one they were removed. */
export async function putOnLists({ deps }: Harness, vaults: Vaults, { home, id }: Pick<Caller, 'home' | 'id'>) {
  const rows = STANDINGS.map((standing) => ({
    org_id: home.orgId,
    vault_id: vaults[standing].vaultId,
    principal: id,
    role: ROLES[standing],
    since_index: 0,
  }))
  await inOrg(deps, home.orgId, (db) => db.insertInto('vault_access').values(rows).execute())
}
