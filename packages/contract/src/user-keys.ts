import { Type } from 'typebox'
import type { Routes } from './route.ts'
import { closed, Id, Nullable, SignedDocument, Time } from './shapes.ts'

// What a person opens their keys with. The server keeps all of it and can open none of it (docs/reference/protocol.md section 8).

/** Where a person is reached, and their name at login; compared without regard to case. */
export const Email = Type.String({
  minLength: 3,
  maxLength: 254,
  pattern: '^[^\\s@\\u0000-\\u001f\\u007f]+@[^\\s@\\u0000-\\u001f\\u007f]+$',
})
/** A message of OPAQUE (RFC 9807) as the client library writes it. */
export const OpaqueMessage = Type.String({ minLength: 1, maxLength: 1024, pattern: '^[A-Za-z0-9_-]+$' })
export const Kid = Type.String({ maxLength: 128, pattern: '^user:[A-Za-z0-9_-]{4,64}:[a-z2-7]{32}$' })
export const Kdf = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'PHC string: parameters and salt, never a hash',
})
export const BundleVersion = Type.Integer({ minimum: 1, maximum: 1_000_000 })
export const PrivateBundle = Type.String({ maxLength: 16_384, pattern: '^vub3\\.[A-Za-z0-9_-]+$' })
/** A copy of the bundle for the recovery code, and what the code's holder later shows to be given it back. */
export const Recovery = closed({ bundle: PrivateBundle, token: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }) })

/** Proof of the passphrase of today: the second message of a login that was started for it. */
const Proof = closed({ attemptId: Id, finishLoginRequest: OpaqueMessage })
const NewSession = {
  accessToken: Nullable(Type.String()),
  expiresAt: Time,
  secretRedacted: Type.Optional(Type.Boolean()),
}

/** What a registration leaves with the server, in setup, invites and recovery alike. */
export const NewSecrets = {
  registrationRecord: OpaqueMessage,
  kdf: Kdf,
  bundleVersion: BundleVersion,
  privateBundle: PrivateBundle,
}

export const userKeys = {
  get: {
    api: 'platform',
    method: 'GET',
    path: '/user-key',
    summary: 'The own sealed keys and what is needed to open them',
    access: { kind: 'user' },
    response: closed({
      kid: Kid,
      kdf: Kdf,
      bundleVersion: BundleVersion,
      privateBundle: PrivateBundle,
      hasRecovery: Type.Boolean(),
      updatedAt: Time,
    }),
  },
  register: {
    api: 'platform',
    method: 'POST',
    path: '/user-key/registration',
    summary: 'The server’s half of registering a new passphrase; nothing changes yet',
    access: { kind: 'user' },
    body: closed({ registrationRequest: OpaqueMessage }),
    response: closed({ registrationResponse: OpaqueMessage }),
  },
  change: {
    api: 'platform',
    method: 'PUT',
    path: '/user-key',
    summary:
      'Change the passphrase: a new registration and the keys sealed anew; every session ends and a new one starts',
    access: { kind: 'user' },
    body: closed({ proof: Proof, ...NewSecrets, deviceInstallationId: Type.Optional(Id) }),
    response: closed({ bundleVersion: BundleVersion, ...NewSession }),
    errors: ['login_failed', 'bundle_version_conflict', 'invalid_document'],
    onceOnly: ['accessToken'],
  },
  rotate: {
    api: 'platform',
    method: 'POST',
    path: '/user-key/rotate',
    summary: 'Rotate the own key pair: key.rotate, a wrapped key for each live grant, and the new keys sealed',
    access: { kind: 'user' },
    body: closed({
      event: SignedDocument,
      replacements: Type.Array(SignedDocument, { maxItems: 2047 }),
      bundleVersion: BundleVersion,
      privateBundle: PrivateBundle,
      recovery: Type.Optional(Recovery),
    }),
    response: closed({ kid: Kid, bundleVersion: BundleVersion }),
    errors: [
      'bundle_version_conflict',
      'invalid_document',
      'invalid_signature',
      'signer_not_authorised',
      'incomplete_replacement_batch',
    ],
    bodyLimit: 4_194_304,
  },
  revoke: {
    api: 'platform',
    method: 'POST',
    path: '/user-key/revoke',
    summary: 'Log a key.revoke that the caller has signed: of an own key, or of another one as directory admin',
    access: { kind: 'user' },
    body: closed({ event: SignedDocument }),
    response: closed({ kid: Type.String() }),
    errors: ['invalid_document', 'invalid_signature', 'signer_not_authorised'],
  },
  setRecovery: {
    api: 'platform',
    method: 'PUT',
    path: '/user-key/recovery',
    summary: 'Store a copy of the keys sealed for a new recovery code; an older code stops working',
    access: { kind: 'user' },
    body: closed({ proof: Proof, bundleVersion: BundleVersion, recovery: Recovery }),
    response: closed({ bundleVersion: BundleVersion }),
    errors: ['login_failed', 'bundle_version_conflict'],
  },
  recoveryStart: {
    api: 'platform',
    method: 'POST',
    path: '/user-key/recovery/start',
    summary: 'Begin with a recovery code: the sealed copy, and the server’s half of registering a new passphrase',
    access: { kind: 'public' },
    body: closed({ email: Email, token: Recovery.properties.token, registrationRequest: OpaqueMessage }),
    response: closed({
      attemptId: Id,
      orgId: Id,
      userId: Id,
      kid: Kid,
      bundleVersion: BundleVersion,
      recoveryBundle: PrivateBundle,
      recoveryVersion: BundleVersion,
      registrationResponse: OpaqueMessage,
      trustAnchor: Type.String(),
    }),
    errors: ['login_failed'],
  },
  recoveryFinish: {
    api: 'platform',
    method: 'POST',
    path: '/user-key/recovery/finish',
    summary:
      'End a recovery: the new passphrase, the keys sealed anew, and a new recovery code in place of the used one',
    access: { kind: 'public' },
    body: closed({ attemptId: Id, ...NewSecrets, recovery: Recovery, deviceInstallationId: Type.Optional(Id) }),
    response: closed({ bundleVersion: BundleVersion, accessToken: Type.String(), expiresAt: Time }),
    errors: ['attempt_over', 'bundle_version_conflict', 'invalid_document'],
  },
} as const satisfies Routes
