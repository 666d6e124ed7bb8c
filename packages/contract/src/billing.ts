import { Type } from 'typebox'
import { Money } from './money.ts'
import type { Access, Routes } from './route.ts'
import { closed, listOf, OneOf, Page, Time } from './shapes.ts'

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
} as const satisfies Routes
