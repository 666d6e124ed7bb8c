import { type Static, Type } from 'typebox'
import { Money } from './money.ts'
import { closed, Id, Name, Nullable, OneOf, SignedDocument, Time } from './shapes.ts'
import { VaultId } from './vault-shapes.ts'

// What answers about licences have in common: how far something is, why it stopped, and what to do next.

export const PURCHASE_STATES = [
  'reserved',
  'provisioning',
  'provider_pending',
  'awaiting_handoff',
  'completed',
  'failed',
  'compensating',
  'cancelled',
  'in_review',
] as const
export const TERMINATION_STATES = [
  'requested',
  'cancelling',
  'cancel_pending',
  'settling',
  'completed',
  'failed',
  'in_review',
] as const

export const Slug = Type.String({ pattern: '^[a-z0-9][a-z0-9-]{1,62}$', description: 'Slug of the catalogue' })
export const Quantity = Type.Integer({ minimum: 1, maximum: 1000 })
export const TERMS = OneOf(['month', 'once'])

export const LicenseField = closed({
  label: Type.String(),
  isEnvironmentVariable: Type.Boolean(),
  required: Type.Boolean(),
})

/** Where the credential goes: a vault that is made with the hand-off, or one that is there. */
export const Destination = Type.Union([
  closed({ mode: OneOf(['new']), name: Name }),
  closed({ mode: Type.Optional(OneOf(['existing'])), vaultId: VaultId }),
])
const ShownDestination = closed({
  mode: OneOf(['new', 'existing']),
  name: Nullable(Type.String()),
  vaultId: Nullable(VaultId),
})

const NextAction = closed({
  type: OneOf(['none', 'poll', 'complete_vault_item', 'resume', 'contact_support']),
  /** In milliseconds, where it is to poll. */
  afterMs: Type.Optional(Type.Integer({ minimum: 0 })),
})

const Transition = closed({
  from: Nullable(Type.String()),
  to: Type.String(),
  cause: Type.String(),
  actor: Type.String(),
  at: Time,
})

/** What every status has, so that nobody has to guess. */
const Progress = {
  stage: OneOf(['money', 'provider', 'handoff', 'settlement', 'done']),
  statusReason: Nullable(Type.String({ description: 'A code: why it stopped' })),
  nextAction: NextAction,
  retryable: Type.Boolean(),
  createdAt: Time,
  updatedAt: Time,
  transitions: Type.Array(Transition),
}

/** A public key as it travels; checked by the protocol against its key id. */
const KeyBundle = closed({
  enc: Type.String(),
  encAlg: Type.String(),
  sig: Type.String(),
  sigAlg: Type.String(),
  kem: Type.Optional(Type.String()),
  kemAlg: Type.Optional(Type.String()),
})

const Handoff = closed({
  sealed: SignedDocument,
  provisioner: closed({ kid: Type.String(), key: KeyBundle }),
  destination: Type.String({ description: 'As it is signed' }),
  schema: Type.Array(LicenseField),
  vault: ShownDestination,
  recipientKeyId: Type.String(),
})

export const Purchase = closed({
  purchaseId: Id,
  licenseInstanceId: Id,
  licenseId: Slug,
  name: Type.String(),
  provider: Type.String(),
  quantity: Quantity,
  price: Money,
  term: TERMS,
  status: OneOf(PURCHASE_STATES),
  version: Type.Integer(),
  sealing: Nullable(OneOf(['at_source', 'on_receipt'])),
  recipientKeyId: Type.String(),
  vault: ShownDestination,
  itemId: Nullable(Id),
  resumableUntil: Nullable(Time),
  ...Progress,
  /** For the buyer, while it waits to be put into a vault. */
  handoff: Type.Optional(Handoff),
})
export type Purchase = Static<typeof Purchase>

export const Termination = closed({
  terminationId: Id,
  licenseInstanceId: Id,
  status: OneOf(TERMINATION_STATES),
  version: Type.Integer(),
  effective: OneOf(['immediate', 'period_end']),
  effectiveAt: Nullable(Time),
  earliestDate: Nullable(Time),
  refund: Nullable(Money),
  ...Progress,
})
export type Termination = Static<typeof Termination>

export const License = closed({
  licenseInstanceId: Id,
  purchaseId: Id,
  licenseId: Slug,
  name: Type.String(),
  provider: Type.String(),
  sku: Type.String(),
  quantity: Quantity,
  price: Money,
  term: TERMS,
  status: OneOf(['active', 'terminating', 'terminated', 'expired']),
  buyer: Type.String(),
  domainTenantId: Id,
  vaultId: Nullable(VaultId),
  itemId: Nullable(Id),
  periodStart: Time,
  periodEnd: Nullable(Time),
  revision: Type.Integer(),
  createdAt: Time,
  terminatedAt: Nullable(Time),
})
export type License = Static<typeof License>
