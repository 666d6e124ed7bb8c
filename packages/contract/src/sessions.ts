import { Type } from 'typebox'
import { ORG_ROLES } from './permissions.ts'
import type { Routes } from './route.ts'
import { closed, Id, listOf, Nullable, OneOf, Page, Time } from './shapes.ts'
import { BundleVersion, Email, Kdf, Kid, OpaqueMessage, PrivateBundle } from './user-keys.ts'

const Session = closed({
  sessionId: Id,
  current: Type.Boolean(),
  deviceInstallationId: Nullable(Id),
  userAgent: Type.String(),
  createdAt: Time,
  lastUsedAt: Time,
  expiresAt: Time,
})

export const sessions = {
  loginStart: {
    api: 'platform',
    method: 'POST',
    path: '/login/start',
    summary: 'The first half of an OPAQUE login; an unknown address gets an answer of the same kind',
    access: { kind: 'public' },
    body: closed({ email: Email, startLoginRequest: OpaqueMessage, deviceInstallationId: Type.Optional(Id) }),
    response: closed({ attemptId: Id, loginResponse: OpaqueMessage, kdf: Kdf }),
    errors: ['rate_limited'],
  },
  loginFinish: {
    api: 'platform',
    method: 'POST',
    path: '/login/finish',
    summary: 'The second half of an OPAQUE login: a session, and the sealed keys',
    access: { kind: 'public' },
    body: closed({ attemptId: Id, finishLoginRequest: OpaqueMessage, deviceInstallationId: Type.Optional(Id) }),
    response: closed({
      accessToken: Type.String(),
      expiresAt: Time,
      user: closed({
        userId: Id,
        email: Type.String(),
        name: Type.String(),
        tenantId: Id,
        orgRoles: Type.Array(OneOf(ORG_ROLES)),
      }),
      org: closed({ orgId: Id, name: Type.String() }),
      kid: Kid,
      kdf: Kdf,
      bundleVersion: BundleVersion,
      privateBundle: PrivateBundle,
      trustAnchor: Type.String(),
    }),
    errors: ['login_failed'],
  },
  list: {
    api: 'platform',
    method: 'GET',
    path: '/session',
    summary: 'The own live sessions, the current one marked',
    access: { kind: 'user' },
    query: closed(Page),
    response: listOf('data', Session),
  },
  end: {
    api: 'platform',
    method: 'DELETE',
    path: '/session/:id',
    summary: 'End one of the own sessions',
    access: { kind: 'user' },
    params: closed({ id: Id }),
    response: closed({ sessionId: Id, endedAt: Time }),
    errors: ['session_not_found'],
  },
  logout: {
    api: 'platform',
    method: 'POST',
    path: '/logout',
    summary: 'End the session of this access token',
    access: { kind: 'user' },
    response: closed({ sessionId: Id, endedAt: Time }),
  },
} as const satisfies Routes
