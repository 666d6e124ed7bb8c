import { Type } from 'typebox'
import { Destination, License, LicenseField, Purchase, Quantity, Slug, TERMS, Termination } from './license-shapes.ts'
import { Amount, Money } from './money.ts'
import type { Access, Routes } from './route.ts'
import { closed, Id, listOf, NoPage, Nullable, OneOf, Page, SignedDocument, Text, Time } from './shapes.ts'
import {
  Ciphertext,
  CommitBody,
  CommitReceipt,
  commitErrors,
  EnvRowShape,
  Hash,
  ItemRowShape,
  MapProof,
  SignedVault,
  VaultId,
  Version,
} from './vault-shapes.ts'

// Licences: bought with credit and within budgets, handed over sealed to the buyer's key, used from a vault, and ended. Everything that
// takes longer than a request is read from its status, which says what to do next.

const reading = { kind: 'permission', permission: 'machine.license.read' } as const satisfies Access
const writing = { kind: 'permission', permission: 'machine.license.write' } as const satisfies Access
const secrets = { kind: 'permission', permission: 'machine.vault.secret.read' } as const satisfies Access

const purchaseParams = closed({ purchaseId: Id })
const terminationParams = closed({ terminationId: Id })
const offered = ['license_not_found', 'license_not_eligible', 'license_unavailable'] as const

export const licenses = {
  list: {
    api: 'machine',
    method: 'GET',
    path: '/licenses',
    summary: 'The licences the caller has bought; for who manages the money of the organisation, all of them',
    access: reading,
    query: closed(Page),
    response: listOf('data', License),
  },
  quote: {
    api: 'machine',
    method: 'POST',
    path: '/licenses/quote',
    summary: 'What a licence costs now and what it brings. Nothing is held',
    access: reading,
    body: closed({ licenseId: Slug, quantity: Type.Optional(Quantity) }),
    response: closed({
      licenseId: Slug,
      name: Type.String(),
      description: Type.String(),
      provider: Type.String(),
      quantity: Quantity,
      price: Money,
      term: TERMS,
      schema: Type.Array(LicenseField),
      validUntil: Time,
    }),
    errors: offered,
  },
  purchase: {
    api: 'machine',
    method: 'POST',
    path: '/licenses/purchase',
    summary: 'Start a purchase: the price is held in credit and budgets, and a provider is asked. Poll its status',
    access: writing,
    body: closed({
      licenseId: Slug,
      vault: Destination,
      quantity: Type.Optional(Quantity),
      maxPrice: Type.Optional(Amount),
    }),
    status: 202,
    response: Purchase,
    errors: [
      ...offered,
      'quote_expired',
      'vault_not_found',
      'vault_access_denied',
      'vault_archived',
      'vault_destination_invalid',
      'billing_not_ready',
      'recipient_key_missing',
      'provisioner_not_named',
      'budget_exceeded',
      'budget_transaction_limit',
      'insufficient_credit',
    ],
  },
  purchaseStatus: {
    api: 'machine',
    method: 'GET',
    path: '/licenses/purchases/:purchaseId/status',
    summary: 'How far a purchase is, and what to do next; with the sealed credential while it waits for its buyer',
    access: reading,
    params: purchaseParams,
    response: Purchase,
    errors: ['purchase_not_found'],
  },
  handOff: {
    api: 'machine',
    method: 'POST',
    path: '/licenses/purchases/:purchaseId/vault-item',
    summary:
      'Complete the hand-off: the signed commit that brings the item, before it the creation of a new vault, and a receipt',
    access: writing,
    params: purchaseParams,
    body: closed({ commit: CommitBody, vaultCommit: Type.Optional(CommitBody), receipt: SignedDocument }),
    bodyLimit: 4_194_304,
    response: closed({ purchase: Purchase, receipt: CommitReceipt }),
    errors: [
      'purchase_not_found',
      'handoff_not_ready',
      'handoff_already_completed',
      'handoff_schema_mismatch',
      'handoff_signature_invalid',
      'vault_destination_invalid',
      ...commitErrors,
    ],
  },
  resumePurchase: {
    api: 'machine',
    method: 'POST',
    path: '/licenses/purchases/:purchaseId/resume',
    summary:
      'Go on with a purchase that failed, from what the provider and the ledger say of it. With `reseal=true` a credential that waits is sealed anew, to the key that the buyer has now',
    access: writing,
    params: purchaseParams,
    query: closed({ reseal: Type.Optional(Type.Boolean()) }),
    response: Purchase,
    errors: [
      'purchase_not_found',
      'purchase_not_resumable',
      'resume_window_expired',
      'handoff_not_ready',
      'recipient_key_missing',
      'quote_expired',
      'budget_exceeded',
      'budget_transaction_limit',
      'insufficient_credit',
    ],
  },
  environment: {
    api: 'machine',
    method: 'GET',
    path: '/licenses/:licenseInstanceId/environment',
    summary:
      'The environment fields of a licence, encrypted, with the path of its item in the signed head. With `include=wrapped-key` the vault key too',
    access: secrets,
    params: closed({ licenseInstanceId: Id }),
    query: closed({ include: Type.Optional(Type.String({ pattern: '^wrapped-key$', maxLength: 32 })), ...NoPage }),
    response: closed({
      license: closed({
        instanceId: Id,
        sku: Type.String(),
        status: OneOf(['active', 'terminating']),
        periodEnd: Nullable(Time),
        revision: Type.Integer(),
      }),
      vaultId: VaultId,
      itemId: Id,
      data: Type.Array(closed({ row: EnvRowShape, value: Ciphertext })),
      headVersion: Version,
      headHash: Hash,
      item: closed({ row: ItemRowShape, proof: MapProof, detail: SignedDocument }),
      signed: SignedVault,
      wrappedKeys: Type.Optional(Type.Array(SignedDocument)),
    }),
    errors: [
      'license_instance_not_found',
      'license_handoff_pending',
      'license_terminated',
      'wrapped_key_missing',
      'vault_item_not_found',
    ],
  },
  terminate: {
    api: 'machine',
    method: 'POST',
    path: '/licenses/terminate',
    summary: 'End a licence now or with its period; what is left of the period is given back. Poll its status',
    access: writing,
    body: closed({
      licenseInstanceId: Id,
      effective: Type.Optional(OneOf(['immediate', 'period_end'])),
      fallback: Type.Optional(OneOf(['period_end'])),
      reason: Type.Optional(Text(500)),
    }),
    status: 202,
    response: Termination,
    errors: ['license_instance_not_found', 'license_terminated', 'termination_in_progress'],
  },
  terminationStatus: {
    api: 'machine',
    method: 'GET',
    path: '/licenses/terminations/:terminationId/status',
    summary: 'How far a termination is, what is given back, and what to do next',
    access: reading,
    params: terminationParams,
    response: Termination,
    errors: ['termination_not_found'],
  },
  resumeTermination: {
    api: 'machine',
    method: 'POST',
    path: '/licenses/terminations/:terminationId/resume',
    summary: 'Go on with a termination that failed',
    access: writing,
    params: terminationParams,
    response: Termination,
    errors: ['termination_not_found', 'termination_not_resumable'],
  },
  sandboxCredit: {
    api: 'platform',
    method: 'POST',
    path: '/billing/sandbox-credit',
    summary:
      'Test credit to try the sandbox licences with: once for each organisation, and only while they are on sale',
    access: { kind: 'user', anyOf: ['ORG_OWNER', 'ORG_BILLING_MANAGER'] },
    status: 201,
    response: closed({ granted: Money, available: Money }),
    errors: ['sandbox_not_on', 'sandbox_credit_granted'],
  },
} as const satisfies Routes
