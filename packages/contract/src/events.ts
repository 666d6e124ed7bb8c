import { Type } from 'typebox'
import type { Routes } from './route.ts'
import { closed } from './shapes.ts'

export const events = {
  stream: {
    api: 'machine',
    method: 'GET',
    path: '/events',
    summary:
      'Server-sent events: changes of the vaults the caller can see, as they happen. `Last-Event-ID`, or `after`, goes on where a stream ended: nothing is skipped',
    access: { kind: 'permission', permission: 'machine.monitoring.read' },
    query: closed({ after: Type.Optional(Type.Integer({ minimum: 0 })) }),
    response: Type.String({ description: 'text/event-stream; each event is one of /monitoring/vault-activity-events' }),
  },
} as const satisfies Routes
