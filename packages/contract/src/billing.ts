import { Type } from 'typebox'
import { Money } from './money.ts'
import type { Access, Routes } from './route.ts'
import { closed, Id, listOf, Meta, Nullable, OneOf, Page, Time } from './shapes.ts'

// Prepaid credit of the organisation: what was paid in, what is held for purchases under way, and every movement.

const reading = { kind: 'permission', permission: 'machine.billing.read' } as const satisfies Access

export const CREDIT_TYPES = [
  'funding',
  'hold',
  'capture',
  'release',
  'charge',
  'refund',
  'grant',
  'expiry',
  'adjustment',
] as const

const CreditTransaction = closed({
  id: Type.String(),
  type: OneOf(CREDIT_TYPES),
  amount: Money,
  balanceAfter: Money,
  availableAfter: Money,
  ref: closed({ type: Type.String(), id: Type.String() }),
  occurredAt: Time,
})

const Check = closed({
  code: OneOf([
    'credit_available',
    'funding_rail_configured',
    'tenant_active',
    'budget_headroom',
    'recipient_key_registered',
  ]),
  ok: Type.Boolean(),
  message: Type.String(),
  action: Type.Union([Type.String(), Type.Null()]),
})

const Day = Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', description: 'A day in UTC' })

const ChargeLine = closed({
  date: Day,
  kind: OneOf(['recurring', 'usage', 'setup', 'credit', 'adjustment']),
  quantity: Type.Integer({ minimum: 1 }),
  amount: Money,
  state: OneOf(['estimated', 'final']),
  correctsDate: Nullable(Day),
  ledgerTransferId: Type.String({ description: 'What has paid for it, or given it back' }),
})

const LicenseCharges = closed({
  licenseInstanceId: Id,
  licenseId: Type.String(),
  name: Type.String(),
  sku: Type.String(),
  provider: Type.String(),
  tenantId: Id,
  subtotal: Money,
  breakdown: closed({ recurring: Money, usage: Money, setup: Money, credit: Money, adjustment: Money }),
  lines: Type.Optional(Type.Array(ChargeLine)),
})

export const billing = {
  balance: {
    api: 'machine',
    method: 'GET',
    path: '/billing/balance',
    summary: 'The prepaid credit of the organisation',
    access: reading,
    response: closed({
      posted: Money,
      held: Money,
      available: Money,
      incoming: Type.Object(Money.properties, {
        additionalProperties: false,
        description: 'Seen on the chain and not confirmed: to be known, not to be spent',
      }),
    }),
  },
  creditTransactions: {
    api: 'machine',
    method: 'GET',
    path: '/billing/credit-transactions',
    summary: 'Every movement of the credit, holds included, newest first',
    access: reading,
    query: closed(Page),
    response: listOf('data', CreditTransaction),
  },
  readiness: {
    api: 'machine',
    method: 'GET',
    path: '/billing/readiness',
    summary: 'Whether a paid write of the caller could succeed now, and if not, what to do',
    access: reading,
    response: closed({ ready: Type.Boolean(), checks: Type.Array(Check) }),
  },
  distributorCharges: {
    api: 'machine',
    method: 'GET',
    path: '/billing/distributor-charges',
    summary:
      'What licences cost in a month: of the organisation for those who manage its money, of their tenants for budget managers, and what they bought for everybody else. A month is open, closing for two days after its end, then final',
    access: reading,
    query: closed({
      month: Type.Optional(
        Type.String({ pattern: '^[0-9]{4}-(?:0[1-9]|1[0-2])$', description: 'YYYY-MM, in UTC; by default this month' }),
      ),
      licenseInstanceId: Type.Optional(Id),
      tenantId: Type.Optional(Id),
      includeLines: Type.Optional(Type.Boolean({ description: 'With a line for each day' })),
      ...Page,
    }),
    response: closed({
      month: Type.String(),
      status: OneOf(['open', 'closing', 'final']),
      asOf: Time,
      total: Money,
      licenses: Type.Array(LicenseCharges),
      meta: Type.Optional(Meta),
    }),
    errors: ['invalid_month'],
  },
} as const satisfies Routes
