import { deliveryOf } from './kinds-webhooks.ts'
import { permitted, type Row, slot } from './oracle.ts'

// Webhooks belong to the key that made them: to nobody else of the tenant, whatever their role, and not to the operator.

const READING = permitted('machine.webhook.read')
const WRITING = permitted('machine.webhook.write')

const own = slot('webhook', 'webhook_not_found', (_, { relation }) => relation === 'own' || relation === 'archived')
const enabled = slot(
  'webhook',
  'webhook_not_found',
  (_, { relation }) => relation === 'own' || relation === 'archived',
  { archived: 'webhook_disabled' },
)

export const WEBHOOKS: readonly Row[] = [
  { route: 'GET /machine/webhook', may: READING },
  { route: 'GET /machine/webhook/event-types', may: READING },
  {
    route: 'POST /machine/webhook',
    may: WRITING,
    body: (_, { name }) => ({ url: 'https://93.184.216.34/hook', eventTypes: ['*'], description: name() }),
  },
  {
    route: 'PATCH /machine/webhook/:id',
    may: WRITING,
    ids: { id: own },
    body: (_, { name }) => ({ description: name() }),
    takes: ['status'],
  },
  { route: 'DELETE /machine/webhook/:id', may: WRITING, ids: { id: own } },
  { route: 'POST /machine/webhook/:id/test', may: WRITING, ids: { id: own }, body: () => ({}) },
  { route: 'POST /machine/webhook/:id/rotate-secret', may: WRITING, ids: { id: own } },
  { route: 'GET /machine/webhook/:id/deliveries', may: READING, ids: { id: own } },
  {
    route: 'GET /machine/webhook/:id/deliveries/:deliveryId',
    may: READING,
    ids: { id: own },
    path: ({ id = '' }) => ({ deliveryId: deliveryOf(id) }),
  },
  {
    route: 'POST /machine/webhook/:id/deliveries/:deliveryId/redeliver',
    may: WRITING,
    ids: { id: enabled },
    path: ({ id = '' }) => ({ deliveryId: deliveryOf(id) }),
  },
]
