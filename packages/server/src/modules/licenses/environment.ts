import type { licenses } from '@strongroom/contract'
import { proveItemRow } from '@strongroom/protocol'
import { managesMoney } from '../../access/roles.ts'
import { openVault, type ReadableVault } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { listAnswer } from '../../http/pagination.ts'
import { signedVault, signedWithKeys } from '../vaults/answer.ts'
import * as vaults from '../vaults/store.ts'
import { hasEnded, type InstanceRow, instance, listInstances } from './instance-store.ts'
import { openInstance } from './open.ts'
import { showLicense } from './show.ts'

export const list: Handler<typeof licenses.list> = (ctx, { query }) =>
  transact(ctx, async (ctx) => {
    const { db, principal } = ctx
    const buyer = managesMoney(principal) ? undefined : principal.id
    return listAnswer('data', await listInstances(db, principal.orgId, buyer, query), showLicense)
  })

/** The vault of a licence, for whoever is on its list; before there is one, only the buyer knows of the licence. */
async function vaultOf(ctx: TxCtx, license: InstanceRow): Promise<{ vault: ReadableVault; itemId: string }> {
  const { vaultId, itemId, licenseInstanceId } = license
  if (vaultId === null || itemId === null) {
    await openInstance(ctx, licenseInstanceId)
    throw new ApiError(hasEnded(license) ? 'license_terminated' : 'license_handoff_pending')
  }
  const vault = await openVault(ctx, vaultId, 'license_instance_not_found')
  if (hasEnded(license)) throw new ApiError('license_terminated')
  return { vault, itemId }
}

/** The item with its path to the root that the head signs: fields of one item alone can be verified by nothing else. */
async function provenItem(ctx: TxCtx, vault: ReadableVault, itemId: string, withKeys: boolean) {
  const { detail } = found(await vaults.item(ctx.db, vault, itemId), 'vault_item_not_found')
  const content = vaults.contentOf(await vaults.contentRows(ctx.db, vault))
  const row = found(content.items.get(itemId), 'vault_item_not_found')
  const { siblings, terminal } = proveItemRow(content, itemId)
  const proof = { siblings: [...siblings], terminal: terminal && [...terminal] }
  const kids = detail.signatures.map(({ keyid }) => keyid)
  const signed = withKeys ? await signedWithKeys(ctx, vault, kids) : await signedVault(ctx, vault, { kids })
  return {
    item: { row, proof, detail },
    signed: signed.signed,
    ...('wrappedKeys' in signed && { wrappedKeys: signed.wrappedKeys }),
  }
}

export const environment: Handler<typeof licenses.environment> = (ctx, { params, query }) =>
  transact(
    ctx,
    async (ctx) => {
      const { db, principal } = ctx
      const license = found(await instance(db, principal.orgId, params.licenseInstanceId), 'license_instance_not_found')
      const { vault, itemId } = await vaultOf(ctx, license)
      const { vaultId, headVersion, headHash } = vault
      const proven = await provenItem(ctx, vault, itemId, query.include !== undefined)
      const fields = await vaults.environmentFields(db, vault)
      await record(ctx, {
        action: 'license.environment.read',
        targets: [
          { type: 'license', id: license.licenseInstanceId },
          { type: 'vault', id: vaultId },
        ],
      })
      return {
        license: {
          instanceId: license.licenseInstanceId,
          sku: license.sku,
          status: license.status === 'terminating' ? 'terminating' : 'active',
          periodEnd: license.periodEnd?.toISOString() ?? null,
          revision: license.revision,
        },
        vaultId,
        itemId,
        data: fields.filter(({ row }) => row.itemId === itemId),
        headVersion,
        headHash,
        ...proven,
      }
    },
    { atOneMoment: true },
  )
