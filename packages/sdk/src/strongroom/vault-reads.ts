import type { Vault as ListedVault } from '@strongroom/contract'
import type { AclEntry } from '@strongroom/protocol'
import type { VerifiedVaultRead } from '../engine/vaults.ts'
import type { KeyedPlace } from './core.ts'
import { verifiedVault } from './names.ts'
import { receiptFrom } from './receipt.ts'
import type { AccessRole, KeyHolder, Vault } from './vaults.ts'

// Vaults as callers see them. Apart from the surface: whoever only reads secrets does not load it.

export const roleName = (role: AclEntry['role']): AccessRole => role.toUpperCase() as AccessRole
export const roleOf = (role: AccessRole): AclEntry['role'] => role.toLowerCase() as AclEntry['role']

export const listed = ({
  vaultId,
  name,
  classification,
  status,
  role,
  itemCount,
  headVersion,
  rotationDue,
}: ListedVault): Vault => ({
  vaultId,
  name,
  classification,
  status,
  role,
  itemCount,
  headVersion,
  rotationDue: rotationDue === null ? null : new Date(rotationDue),
})

const vaultOf = (read: VerifiedVaultRead): Vault => ({
  vaultId: read.vaultId,
  name: read.name,
  classification: read.classification,
  status: read.status,
  role: read.role === undefined ? null : roleName(read.role),
  itemCount: read.itemCount,
  headVersion: read.headVersion,
  rotationDue: read.rotationDue === null ? null : new Date(read.rotationDue),
  olderKeys: read.draining,
  receipt: receiptFrom(read.receipt),
})

export const getVault = async (place: KeyedPlace, asked: string): Promise<Vault> =>
  vaultOf(await verifiedVault(place, asked))

export async function holdersOf(place: KeyedPlace, asked: string): Promise<readonly KeyHolder[]> {
  const { actor, options } = place
  const { vaultId, access } = await verifiedVault(place, asked)
  const { data } = await actor.client.keys.holders({ params: { vaultId } }, options)
  const claimed = new Map(data.map((holder) => [holder.principal, holder]))
  return access.map(({ p, role }) => ({
    principal: p,
    kind: p.startsWith('user:') ? 'user' : 'agent',
    name: claimed.get(p)?.name ?? '',
    role: roleName(role),
    keyIds: claimed.get(p)?.keys.map(({ kid }) => kid) ?? [],
  }))
}
