import type { NeededPermission } from './permissions.ts'

// Everything that happens and is told to others: webhooks and the event stream. An event is told to those who hold the permission of
// its family and may see what it is about.

const family = <const T extends readonly string[]>(permission: NeededPermission, types: T) =>
  Object.fromEntries(types.map((type) => [type, { permission }])) as Readonly<
    Record<T[number], { readonly permission: NeededPermission }>
  >

export const EVENT_TYPES = {
  ...family('machine.license.read', [
    'license.purchase.reserved',
    'license.purchase.provisioning',
    'license.purchase.provider_pending',
    'license.purchase.awaiting_handoff',
    'license.purchase.handoff_reminder',
    'license.purchase.completed',
    'license.purchase.failed',
    'license.purchase.resumed',
    'license.purchase.cancelled',
    'license.purchase.in_review',
    'license.activated',
    'license.renewed',
    'license.expiring',
    'license.expired',
    'license.terminated',
    'license.termination.requested',
    'license.termination.cancel_pending',
    'license.termination.completed',
    'license.termination.failed',
    'license.termination.resumed',
    'license.termination.in_review',
  ]),
  ...family('machine.billing.read', [
    'billing.balance.credited',
    'billing.balance.low',
    'billing.balance.depleted',
    'billing.credit_transaction.created',
    'billing.hold.created',
    'billing.hold.released',
    'billing.charge.posted',
    'billing.charge.corrected',
    'billing.month.closed',
    'billing.funding_intent.created',
    'billing.funding_intent.processing',
    'billing.funding_intent.partially_funded',
    'billing.funding_intent.funded',
    'billing.funding_intent.expired',
    'billing.funding_intent.paid_late',
    'billing.funding_intent.in_review',
    'billing.deposit.seen',
    'billing.deposit.credited',
    'billing.deposit.orphaned',
  ]),
  ...family('machine.budget.read', [
    'budget.created',
    'budget.updated',
    'budget.threshold_reached',
    'budget.exceeded',
    'budget.window_opened',
  ]),
  ...family('machine.vault.read', [
    'vault.created',
    'vault.archived',
    'vault.shared',
    'vault.key_rotated',
    'vault.updated',
    'vault_item.created',
    'vault_item.updated',
    'vault_item.moved',
    'vault_item.archived',
  ]),
  ...family('machine.agent.read', ['agent.created', 'agent.archived', 'agent.key_rotated', 'agent.api_key_rotated']),
  ...family('machine.domain.read', ['domain.dns_records.changed']),
  ...family('machine.webhook.read', [
    'webhook_endpoint.disabled',
    'webhook_endpoint.enabled',
    'webhook_endpoint.secret_rotated',
    'webhook.test',
  ]),
} as const
export type EventType = keyof typeof EVENT_TYPES
