import type { Vault } from '@strongroom/contract'
import { type Envelope, kidName, POLICY_NAME, type VaultAnswer, vaultName } from '@strongroom/protocol'
import type { ReadableVault } from '../../access/vaults.ts'
import type { TxCtx } from '../../context.ts'
import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { readSigned, type SignedDocuments } from '../../log/signers.ts'
import { type Transparency, transparencyOf } from '../../log/transparency.ts'
import * as store from './store.ts'

// What lets a client verify a vault (docs/reference/protocol.md 4.5 and 5.4). Callers read at one moment: documents never change, but
// which of them are current, the rows beside them and the proofs must belong together.

export interface SignedOptions {
  /** Documents of the answer besides those of the vault: their signers are proven too. */
  readonly hashes?: readonly string[]
  readonly kids?: readonly string[]
  readonly names?: readonly string[]
}

export async function signedVault(
  { db, request }: Pick<TxCtx, 'db' | 'request'>,
  { orgId, vaultId }: Pick<ReadableVault, 'orgId' | 'vaultId'>,
  options: SignedOptions = {},
): Promise<{ signed: VaultAnswer; documents: SignedDocuments['documents'] }> {
  const hashes = await store.vaultHashes(db, orgId, vaultId)
  if (!hashes) throw new Error('a vault has no state in the log')
  const { adminsChain, headHash, aclHash } = hashes
  const asked = [...adminsChain, headHash, aclHash, ...(options.hashes ?? [])]
  const found = await readSigned(db, orgId, asked, options.kids)
  const prove = (names: readonly string[]) =>
    transparencyOf(db, orgId, [...names, ...(options.names ?? [])], request.have)
  return { signed: await answerAbout({ vaultId, ...hashes }, found, prove), documents: found.documents }
}

type Place = Pick<store.VaultHashes, 'adminsChain' | 'headHash' | 'aclHash'> & { readonly vaultId: string }

/** The answer about a vault from its documents, and the proof of everything they need. */
export async function answerAbout(
  { vaultId, adminsChain, headHash, aclHash }: Place,
  { documents, names, ...directory }: SignedDocuments,
  prove: (names: readonly string[]) => Promise<Transparency>,
): Promise<VaultAnswer> {
  const [create, ...chain] = adminsChain.map((hash) => documentIn(documents, hash))
  return {
    vaultId,
    ...directory,
    create: create as Envelope,
    adminsChain: chain,
    acl: documentIn(documents, aclHash),
    head: documentIn(documents, headHash),
    transparency: await prove([POLICY_NAME, vaultName(vaultId), ...names]),
  }
}

function documentIn(documents: ReadonlyMap<string, Envelope>, hash: string): Envelope {
  const envelope = documents.get(hash)
  if (!envelope) throw new Error('the log has lost a document')
  return envelope
}

/** The same with the vault keys wrapped for the caller's active keys. */
export async function signedWithKeys(
  ctx: TxCtx,
  vault: ReadableVault,
  /** Of documents of the answer besides: their signers are proven too. */
  moreKids: readonly string[] = [],
): Promise<{ signed: VaultAnswer; wrappedKeys: Envelope[] }> {
  const { db, principal } = ctx
  const { orgId, vaultId } = vault
  const grants = await store.grantsOf(db, orgId, vaultId, principal.id)
  if (grants.length === 0) throw new ApiError('wrapped_key_missing')
  const kids = [...new Set(grants.map(({ kid }) => kid))]
  const hashes = grants.map(({ wrapHash }) => wrapHash)
  const names = [...grants.map(({ name }) => name), ...kids.map(kidName)]
  const { signed, documents } = await signedVault(ctx, vault, { hashes, kids: [...kids, ...moreKids], names })
  return { signed, wrappedKeys: hashes.map((hash) => documentIn(documents, hash)) }
}

export const vaultAnswer = ({ role, tenantId, rotationDue, createdAt, updatedAt, ...row }: store.VaultRow): Vault => ({
  ...row,
  domainTenantId: tenantId,
  role: role && (role.toUpperCase() as 'READ' | 'WRITE' | 'ADMIN'),
  rotationDue: rotationDue?.toISOString() ?? null,
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
})

export async function readVault(db: Db, orgId: string, principal: string, vaultId: string): Promise<Vault> {
  const row = await store.vaultRow(db, orgId, principal, vaultId)
  if (!row) throw new Error('a vault that was opened is gone')
  return vaultAnswer(row)
}
