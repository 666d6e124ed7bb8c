import { Type } from 'typebox'
import type { Routes } from './route.ts'
import { closed } from './shapes.ts'

export const events = {
  stream: {
    api: 'machine',
    method: 'GET',
    path: '/events',
    summary:
      'Server-sent events: changes of the vaults the caller can see, and every other event of GET /webhook/event-types that the caller may hear of, as they happen. `Last-Event-ID` goes on where a stream ended, `after` behind a number of vault activity: nothing is skipped. With `webhooks` everything comes as the body of a webhook, vault changes too',
    access: { kind: 'permission', permission: 'machine.monitoring.read' },
    query: closed({
      after: Type.Optional(Type.Integer({ minimum: 0 })),
      webhooks: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 2000,
          description:
            'Only these types, as in the eventTypes of a webhook, with commas between them: `budget.*,vault.created`',
        }),
      ),
    }),
    response: Type.String({
      description: 'text/event-stream; an event is one of /monitoring/vault-activity-events, or the body of a webhook',
    }),
    errors: ['webhook_event_type_unknown'],
  },
} as const satisfies Routes
