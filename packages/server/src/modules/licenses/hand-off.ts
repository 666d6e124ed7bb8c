import type { Input, licenses, Output } from '@strongroom/contract'
import { holds } from '@strongroom/contract'
import {
  type CheckedCommit,
  type Commit,
  documentHash,
  handoffReceipt,
  ProtocolError,
  peekDocument,
  type Signer,
  vaultHead,
  verifyDocument,
} from '@strongroom/protocol'
import { openVault } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import type { TxCtx } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { provisioningKey } from '../../licenses/sealer.ts'
import { refusing } from '../../log/refusals.ts'
import { publicKeyOf } from '../../log/signers.ts'
import { commitNewVault, commitVault, receiptOf, refuseUnless } from '../vaults/commit.ts'
import { claimedVaults, transactInTurn } from '../vaults/turns.ts'
import { linkItem, lockInstance } from './instance-store.ts'
import { dropSealed, lockPurchase, movePurchase, type PurchaseRow, purchase, sealedOf } from './purchase-store.ts'
import { showPurchase } from './show.ts'
import { tellPurchase } from './tell.ts'

// The hand-off: the buyer has opened what was sealed, encrypted it into a vault and signed. The service checks what it can see, keeps
// the item and forgets the sealed credential, all in one transaction.

type Body = Input<typeof licenses.handOff>['body']
type Answer = Output<typeof licenses.handOff>

/** Exactly one new item, with exactly the fields that were bought. */
function oneNewItem({ fields }: PurchaseRow, { items, assets, acts, head }: CheckedCommit): void {
  const [only] = items
  refuseUnless(assets.length === 0 && acts.length === 1 && items.length === 1, 'only_one_item_changes')
  refuseUnless(head.meta.status === 'active', 'another_status')
  refuseUnless(only?.detail.itemVersion === 1 && only.detail.status === 'active', 'not_a_new_item')
  const names = (list: readonly { readonly label: string; readonly env: boolean }[]): string =>
    JSON.stringify(list.map(({ label, env }) => [label, env]).sort())
  if (names(only.detail.fields) !== names(fields)) throw new ApiError('handoff_schema_mismatch')
}

const headOf = (commit: Commit) => refusing(async () => peekDocument(vaultHead, commit.head).payload)

/** The vault is the one that was named when it was bought; a new one is made here, under the name that was given then. */
async function provideVault(ctx: TxCtx, row: PurchaseRow, { commit, vaultCommit }: Body): Promise<string> {
  const { vaultId } = await headOf(commit)
  const refuse = (): never => {
    throw new ApiError('vault_destination_invalid')
  }
  if (row.vaultMode === 'existing') {
    if (vaultCommit || vaultId !== row.vaultId) refuse()
    return vaultId
  }
  if (!vaultCommit) return refuse()
  const made = await headOf(vaultCommit)
  if (made.vaultId !== vaultId || made.meta.name !== row.vaultName) refuse()
  await commitNewVault(ctx, vaultCommit)
  return vaultId
}

/** Signed by the key it was sealed to, over this hand-off and this item. */
async function ensureReceipt(
  { db }: TxCtx,
  row: PurchaseRow,
  receipt: Body['receipt'],
  about: { readonly handoffHash: string; readonly vaultId: string; readonly itemId: string },
): Promise<void> {
  const { orgId, purchaseId, recipientKid } = row
  const keyOf = (kid: string) => (kid === recipientKid ? publicKeyOf(db, orgId, kid) : undefined)
  const verified = await verifyDocument(handoffReceipt, receipt, orgId, keyOf).catch((error: unknown) => {
    if (error instanceof ProtocolError) return undefined
    throw error
  })
  const said = verified?.payload
  const isAbout =
    said?.purchaseId === purchaseId &&
    said.handoffHash === about.handoffHash &&
    said.vaultId === about.vaultId &&
    said.itemId === about.itemId
  if (!isAbout) throw new ApiError('handoff_signature_invalid')
}

async function complete(ctx: TxCtx, row: PurchaseRow, body: Body, provisioner: Signer): Promise<Answer> {
  const { db, principal } = ctx
  const { orgId, purchaseId, instanceId } = row
  const sealed = found(await sealedOf(db, orgId, purchaseId), 'handoff_not_ready')
  const vaultId = await provideVault(ctx, row, body)
  let itemId = ''
  const rule = (checked: CheckedCommit): void => {
    oneNewItem(row, checked)
    itemId = checked.items[0]?.detail.itemId ?? ''
  }
  const receipt = await commitVault(ctx, vaultId, body.commit, { rule, action: 'item.create' })
  await ensureReceipt(ctx, row, body.receipt, { handoffHash: sealed.docHash, vaultId, itemId })
  const at = ctx.now()
  await movePurchase(
    db,
    row,
    { to: 'completed', cause: 'handed_off', actor: principal.id, at },
    {
      vault_id: vaultId,
      item_id: itemId,
      handoff_digest: documentHash(body.commit.head),
      handoff_index: receipt.index,
      handoff_receipt: JSON.stringify(body.receipt),
      next_at: null,
    },
  )
  await linkItem(db, orgId, instanceId, { vaultId, itemId })
  await dropSealed(db, orgId, purchaseId)
  await tellPurchase(ctx, db, row, 'completed')
  await record(ctx, {
    action: 'license.handoff',
    targets: [
      { type: 'license_purchase', id: purchaseId },
      { type: 'vault', id: vaultId },
      { type: 'item', id: itemId },
    ],
  })
  return { purchase: await showPurchase(ctx, await ownPurchase(ctx, purchaseId), provisioner), receipt }
}

/** Under its lock, and only for who bought it: nobody else could open it. Its licence is locked before, as by whoever ends that. */
async function ownPurchase({ db, principal }: TxCtx, purchaseId: string): Promise<PurchaseRow> {
  const { orgId, id } = principal
  const seen = await purchase(db, orgId, purchaseId)
  if (seen?.principal !== id) throw new ApiError('purchase_not_found')
  await lockInstance(db, orgId, seen.instanceId)
  return found(await lockPurchase(db, orgId, purchaseId), 'purchase_not_found')
}

/** The same answer as before, from what is there now. */
async function again(ctx: TxCtx, row: PurchaseRow, provisioner: Signer): Promise<Answer> {
  const vault = await openVault(ctx, row.vaultId ?? '')
  const purchase = await showPurchase(ctx, row, provisioner)
  return { purchase, receipt: await receiptOf(ctx, vault, row.handoffIndex ?? 0) }
}

async function takeOver(ctx: TxCtx, purchaseId: string, body: Body, provisioner: Signer): Promise<Answer> {
  const row = await ownPurchase(ctx, purchaseId)
  if (row.state === 'completed') {
    if (row.handoffDigest !== documentHash(body.commit.head))
      throw new ApiError('handoff_already_completed', { details: { itemId: row.itemId } })
    return again(ctx, row, provisioner)
  }
  if (row.state !== 'awaiting_handoff') throw new ApiError('handoff_not_ready', { details: { status: row.state } })
  return complete(ctx, row, body, provisioner)
}

export const handOff: Handler<typeof licenses.handOff> = async (ctx, { params, body }) => {
  // It writes into a vault, so it needs what every such write needs.
  if (!holds(ctx.principal.permissions, 'machine.vault.write'))
    throw new ApiError('machine_permission_denied', { details: { permission: 'machine.vault.write' } })
  const provisioner = await provisioningKey(ctx)
  return transactInTurn(ctx, claimedVaults(body.commit), (ctx) => takeOver(ctx, params.purchaseId, body, provisioner), {
    replay: {
      kept: () => ({}),
      again: async (ctx) => again(ctx, await ownPurchase(ctx, params.purchaseId), provisioner),
    },
  })
}
