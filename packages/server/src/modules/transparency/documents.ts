import { holds } from '@strongroom/contract'
import { deriveVaultId, type Envelope, parseStrict } from '@strongroom/protocol'
import { runsOrg } from '../../access/roles.ts'
import { openVault } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import type { Principal, TxCtx } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import { readDocument } from '../../log/state-store.ts'

// Leaves show ids, documents show names. So a document about a vault is for whoever its access list names, and for those who
// audit the whole log: the people who run the organisation, and keys the operator made on the host.

const mayAuditAll = (principal: Principal): boolean =>
  principal.globalAdmin || (principal.type === 'user' && runsOrg(principal))

/** The vault a document is about; undefined for the documents of the directory. */
function vaultOf(kind: string, hash: string, { payload }: Envelope): string | undefined {
  if (kind === 'vault.create') return deriveVaultId(hash)
  const { vaultId } = parseStrict(Buffer.from(payload, 'base64')) as { readonly vaultId?: unknown }
  return typeof vaultId === 'string' ? vaultId : undefined
}

/** What a document may not be read for does not exist, like a document that never was. */
export async function openDocument(ctx: TxCtx, hash: string): Promise<Envelope> {
  const { db, principal } = ctx
  const { kind, envelope } = found(await readDocument(db, principal.orgId, hash), 'document_not_found')
  const vaultId = vaultOf(kind, hash, envelope)
  if (vaultId !== undefined && !mayAuditAll(principal)) await openVault(ctx, vaultId, 'document_not_found')
  if (kind === 'wrapped-dek') await openWrappedKey(ctx, hash)
  return envelope
}

/** A wrapped key is a ciphertext: it takes the permission for ciphertexts, and leaves a trace. */
async function openWrappedKey(ctx: TxCtx, hash: string): Promise<void> {
  const permission = 'machine.vault.secret.read'
  if (!holds(ctx.principal.permissions, permission))
    throw new ApiError('machine_permission_denied', { details: { permission } })
  await record(ctx, { action: 'transparency.wrapped-key.read', targets: [{ type: 'document', id: hash }] })
}
