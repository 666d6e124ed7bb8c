import type { AssetRow, Commit, EnvRow, ItemRow, VaultAnswer } from '@strongroom/protocol'
import { CLASSIFICATIONS } from '@strongroom/protocol'
import { type Static, Type } from 'typebox'
import { closed, Id, Nullable, OneOf, SignedDocument, Time } from './shapes.ts'
import { TransparencyObject } from './transparency.ts'

// What answers about vaults, items and attachments have in common. Their meaning is in docs/reference/protocol.md: here is only their form.

export const VaultId = Type.String({ pattern: '^v[a-z2-7]{32}$', description: 'Hash of the vault’s creation' })
export const Hash = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'SHA-256, base64url' })
export const Version = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
export const STATUS = OneOf(['active', 'archived'])
export const Role = OneOf(['READ', 'WRITE', 'ADMIN'])
export const Ciphertext = Type.String({ maxLength: 131_072, description: 'v3 field envelope' })
export const vaultParams = closed({ vaultId: VaultId })

/** The members every answer about a vault carries (docs/reference/protocol.md 4.5): enough to verify it without anything else. */
export const SignedVault = Type.Unsafe<VaultAnswer>(
  closed({
    vaultId: VaultId,
    genesis: SignedDocument,
    policies: Type.Array(SignedDocument),
    records: Type.Array(SignedDocument),
    capSets: Type.Array(SignedDocument),
    create: SignedDocument,
    adminsChain: Type.Array(SignedDocument),
    acl: SignedDocument,
    head: SignedDocument,
    transparency: TransparencyObject,
  }),
)

/** A change of a vault (docs/reference/protocol.md 6.3): a signed head, what it brings, and the head it follows. */
export const CommitBody = Type.Unsafe<Commit>(
  closed({
    expect: closed({
      headVersion: Type.Integer({ minimum: 0 }),
      // Empty before the first head.
      headHash: Type.String({ maxLength: 43, pattern: '^[A-Za-z0-9_-]*$' }),
    }),
    head: SignedDocument,
    docs: Type.Array(SignedDocument, { maxItems: 8192 }),
    values: Type.Record(Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }), Ciphertext, { maxProperties: 20_000 }),
  }),
)

export const ItemRowShape = Type.Unsafe<ItemRow>(
  closed({
    itemId: Id,
    itemVersion: Version,
    name: Type.String(),
    website: Type.String(),
    status: STATUS,
    fieldCount: Type.Integer({ minimum: 0 }),
    detailHash: Hash,
  }),
)
export const EnvRowShape = Type.Unsafe<EnvRow>(
  closed({
    ct: Hash,
    dekVersion: Version,
    fieldId: Id,
    itemId: Id,
    label: Type.String({ description: 'The name of the variable; not encrypted' }),
    rev: Version,
  }),
)
export const AssetRowShape = Type.Unsafe<AssetRow>(
  closed({ assetId: Id, assetVersion: Version, docHash: Hash, itemId: Id, status: STATUS }),
)

export const MapProof = closed({
  siblings: Type.Array(Type.String()),
  terminal: Nullable(Type.Array(Type.String(), { minItems: 2, maxItems: 2 })),
})

export const Vault = closed({
  vaultId: VaultId,
  domainTenantId: Id,
  name: Type.String({ description: 'Not encrypted' }),
  classification: OneOf(CLASSIFICATIONS),
  status: STATUS,
  role: Nullable(Role),
  itemCount: Type.Integer({ minimum: 0, description: 'Active items' }),
  headVersion: Version,
  rotationDue: Nullable(Time),
  createdBy: Type.String(),
  createdAt: Time,
  updatedAt: Time,
})
export type Vault = Static<typeof Vault>

/** What a commit is answered with: where it stands in the log, and the vault as it is now, proven. */
export const CommitReceipt = closed({
  index: Type.Integer({ minimum: 0 }),
  vault: Vault,
  signed: SignedVault,
})
export type CommitReceipt = Static<typeof CommitReceipt>

export const commitErrors = [
  'vault_not_found',
  'vault_access_denied',
  'vault_archived',
  'vault_head_conflict',
  'rotation_due',
  'invalid_document',
  'invalid_signature',
  'signer_not_authorised',
  'root_mismatch',
  'envelope_rejected',
  'incomplete_replacement_batch',
  'log_conflict',
  'id_conflict',
] as const
