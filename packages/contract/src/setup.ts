import { Type } from 'typebox'
import type { Routes } from './route.ts'
import { closed, Id, Name, SignedDocument, Time } from './shapes.ts'
import { Email, Kid, NewSecrets, OpaqueMessage, Recovery } from './user-keys.ts'

// The first start: one organisation, its first person, its first tenant, and the genesis document of its log.

export const setup = {
  status: {
    api: 'platform',
    method: 'GET',
    path: '/setup',
    summary: 'Does this server still wait for its organisation?',
    access: { kind: 'public' },
    response: closed({ needed: Type.Boolean() }),
  },
  start: {
    api: 'platform',
    method: 'POST',
    path: '/setup/start',
    summary:
      'Mint the ids that the first keys and the genesis document name, and answer the first registration message',
    access: { kind: 'setup' },
    body: closed({ email: Email, registrationRequest: OpaqueMessage }),
    response: closed({
      attemptId: Id,
      orgId: Id,
      userId: Id,
      tenantId: Id,
      registrationResponse: OpaqueMessage,
      log: closed({ origin: Type.String(), vkey: Type.String() }),
    }),
    errors: ['invalid_setup_token', 'already_set_up'],
  },
  finish: {
    api: 'platform',
    method: 'POST',
    path: '/setup/finish',
    summary: 'Create organisation, log, tenant and owner, all or nothing',
    access: { kind: 'setup' },
    body: closed({
      attemptId: Id,
      orgName: Name,
      userName: Name,
      tenantName: Name,
      genesis: SignedDocument,
      kid: Kid,
      ...NewSecrets,
      recovery: Type.Optional(Recovery),
      deviceInstallationId: Type.Optional(Id),
    }),
    status: 201,
    response: closed({
      orgId: Id,
      userId: Id,
      tenantId: Id,
      accessToken: Type.String(),
      expiresAt: Time,
      trustAnchor: Type.String(),
    }),
    errors: [
      'invalid_setup_token',
      'already_set_up',
      'attempt_over',
      'invalid_document',
      'invalid_signature',
      'signer_not_authorised',
    ],
  },
} as const satisfies Routes
