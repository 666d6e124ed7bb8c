import { Type } from 'typebox'
import type { Routes } from './route.ts'
import { closed, Id, Name, OneOf, Text } from './shapes.ts'

export const FEEDBACK_CATEGORIES = ['missing_capability', 'bug', 'docs', 'other'] as const

export const feedback = {
  send: {
    api: 'machine',
    method: 'POST',
    path: '/feedback',
    summary: 'What an agent misses; without secrets, credentials or private data',
    access: { kind: 'agent', permission: 'machine.feedback.write' },
    body: closed({
      category: OneOf(FEEDBACK_CATEGORIES),
      summary: Name,
      details: Text(4000),
      route: Type.Optional(Text(200)),
      requestId: Type.Optional(
        Type.String({ pattern: '^req_[0-9a-z]{22}$', description: 'The X-Request-Id of an answer' }),
      ),
    }),
    status: 201,
    response: closed({ feedbackId: Id }),
    errors: ['agent_principal_required', 'feedback_contains_secret', 'rate_limited'],
  },
} as const satisfies Routes
