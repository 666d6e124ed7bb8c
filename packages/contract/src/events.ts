import { Type } from 'typebox'
import type { Routes } from './route.ts'
import { closed } from './shapes.ts'

export const events = {
  stream: {
    api: 'machine',
    method: 'GET',
    path: '/events',
    summary:
      'Server-sent events: changes of the vaults the caller can see, and every other event of GET /webhook/event-types that the caller may hear of, as they happen. `Last-Event-ID` goes on where a stream ended, `after` behind a number of vault activity: nothing is skipped',
    access: { kind: 'permission', permission: 'machine.monitoring.read' },
    query: closed({ after: Type.Optional(Type.Integer({ minimum: 0 })) }),
    response: Type.String({
      description: 'text/event-stream; an event is one of /monitoring/vault-activity-events, or the body of a webhook',
    }),
  },
} as const satisfies Routes
