import { holds } from '@strongroom/contract'
import { deriveProjectId, deriveVaultId, type Envelope, parseStrict } from '@strongroom/protocol'
import { openProject } from '../../access/projects.ts'
import { runsOrg } from '../../access/roles.ts'
import { openVault } from '../../access/vaults.ts'
import { record } from '../../audit/record.ts'
import type { Principal, TxCtx } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import { readDocument } from '../../log/state-store.ts'

// Leaves show ids, documents show names. So a document about a vault or a project is for whoever its access list names, and for those who
// audit the whole log: the people who run the organisation, and keys the operator made on the host.

const mayAuditAll = (principal: Principal): boolean =>
  principal.globalAdmin || (principal.type === 'user' && runsOrg(principal))

/** What a document is about; neither for the documents of the directory. */
function placeOf(kind: string, hash: string, { payload }: Envelope): { vaultId?: string; projectId?: string } {
  if (kind === 'vault.create') return { vaultId: deriveVaultId(hash) }
  if (kind === 'project.create') return { projectId: deriveProjectId(hash) }
  const { vaultId, projectId } = parseStrict(Buffer.from(payload, 'base64')) as Readonly<Record<string, unknown>>
  return { ...(typeof vaultId === 'string' && { vaultId }), ...(typeof projectId === 'string' && { projectId }) }
}

/** What a document may not be read for does not exist, like a document that never was. */
export async function openDocument(ctx: TxCtx, hash: string): Promise<Envelope> {
  const { db, principal } = ctx
  const { kind, envelope } = found(await readDocument(db, principal.orgId, hash), 'document_not_found')
  if (!mayAuditAll(principal)) {
    const { vaultId, projectId } = placeOf(kind, hash, envelope)
    if (vaultId !== undefined) await openVault(ctx, vaultId, 'document_not_found')
    if (projectId !== undefined) await openProject(ctx, projectId, 'document_not_found')
  }
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
