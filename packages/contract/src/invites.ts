import { Type } from 'typebox'
import type { Routes } from './route.ts'
import { closed, Id, listOf, Name, Nullable, OneOf, Page, SignedDocument, Time } from './shapes.ts'
import { Email, Kid, NewSecrets, OpaqueMessage, Recovery } from './user-keys.ts'

// Invites without trusting the server (docs/reference/protocol.md 4.6): the secret is in the link and never here.

const Invite = closed({
  inviteId: Id,
  userId: Id,
  email: Type.String(),
  name: Type.String(),
  tenantId: Id,
  status: OneOf(['open', 'accepted', 'endorsed', 'revoked', 'expired']),
  invite: SignedDocument,
  acceptance: Nullable(SignedDocument),
  createdBy: Type.String(),
  createdAt: Time,
  expiresAt: Time,
})

const ADMINS = { kind: 'user', anyOf: ['ORG_OWNER', 'ORG_ADMIN', 'TENANT_ADMIN'] } as const
const params = closed({ id: Id })

export const invites = {
  create: {
    api: 'platform',
    method: 'POST',
    path: '/invite',
    summary: 'Store a signed invite and mint the id of the person who will accept it',
    access: ADMINS,
    body: closed({ email: Email, name: Name, tenantId: Id, invite: SignedDocument }),
    status: 201,
    response: closed({ inviteId: Id, userId: Id }),
    errors: [
      'tenant_not_found',
      'role_required',
      'email_taken',
      'invite_exists',
      'invalid_document',
      'invalid_signature',
      'signer_not_authorised',
    ],
  },
  list: {
    api: 'platform',
    method: 'GET',
    path: '/invite',
    summary: 'Invites with their acceptances, for whoever may endorse them',
    access: ADMINS,
    query: closed(Page),
    response: listOf('data', Invite),
  },
  revoke: {
    api: 'platform',
    method: 'DELETE',
    path: '/invite/:id',
    summary: 'Revoke an invite that is not endorsed yet',
    access: ADMINS,
    params,
    response: closed({ inviteId: Id, status: OneOf(['revoked']) }),
    errors: ['invite_not_found'],
  },
  endorse: {
    api: 'platform',
    method: 'POST',
    path: '/invite/:id/endorse',
    summary: 'Log the key.add that invitee and admin have signed; the person becomes active',
    access: ADMINS,
    params,
    body: closed({ keyAdd: SignedDocument }),
    response: closed({ userId: Id, kid: Kid, status: OneOf(['active']) }),
    errors: [
      'invite_not_found',
      'invite_not_accepted',
      'invalid_document',
      'invalid_signature',
      'signer_not_authorised',
    ],
  },
  show: {
    api: 'platform',
    method: 'GET',
    path: '/invite/:id',
    summary: 'What an invitee needs: the organisation, the own id, the signed invite and the trust anchor',
    access: { kind: 'public' },
    params,
    response: closed({
      org: closed({ orgId: Id, name: Type.String() }),
      userId: Id,
      email: Type.String(),
      name: Type.String(),
      invite: SignedDocument,
      trustAnchor: Type.String(),
      expiresAt: Time,
    }),
    errors: ['invite_not_found', 'invite_used'],
  },
  register: {
    api: 'platform',
    method: 'POST',
    path: '/invite/:id/registration',
    summary: 'The server’s half of registering the invitee’s passphrase',
    access: { kind: 'public' },
    params,
    body: closed({ registrationRequest: OpaqueMessage }),
    response: closed({ attemptId: Id, registrationResponse: OpaqueMessage }),
    errors: ['invite_not_found', 'invite_used'],
  },
  accept: {
    api: 'platform',
    method: 'POST',
    path: '/invite/:id/accept',
    summary: 'Accept an invite, once: the half-signed key.add and the sealed keys',
    access: { kind: 'public' },
    params,
    body: closed({
      attemptId: Id,
      acceptance: SignedDocument,
      kid: Kid,
      ...NewSecrets,
      recovery: Type.Optional(Recovery),
    }),
    response: closed({ status: OneOf(['waiting for endorsement']) }),
    errors: ['invite_not_found', 'invite_used', 'attempt_over', 'invalid_document', 'invalid_signature'],
  },
} as const satisfies Routes
