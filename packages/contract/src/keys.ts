import { Type } from 'typebox'
import type { Access, Routes } from './route.ts'
import { closed, OneOf, SignedDocument, Time } from './shapes.ts'
import { DirectoryReceipt, TransparencyObject } from './transparency.ts'
import { userKeys } from './user-keys.ts'
import { Hash, Role, SignedVault, VaultId, Version, vaultParams } from './vault-shapes.ts'

// Public keys and who can open what. Private keys and vault keys are never here: documents are signed and wrapped on the client.

const reading = { kind: 'permission', permission: 'machine.vault.read' } as const satisfies Access
const writing = { kind: 'permission', permission: 'machine.vault.write' } as const satisfies Access

const AnyKid = Type.String({ maxLength: 160, pattern: '^(?:user|agent):[A-Za-z0-9_-]{4,64}:[a-z2-7]{32}$' })
const KeyStatus = OneOf(['active', 'superseded', 'removed', 'compromised'])
const documentErrors = ['invalid_document', 'invalid_signature', 'signer_not_authorised', 'log_conflict'] as const

const Grant = closed({ vaultId: VaultId, kid: AnyKid, dekVersion: Version })
const OwnKey = closed({ kid: AnyKid, status: KeyStatus, record: SignedDocument })

export const keys = {
  register: {
    api: 'machine',
    method: 'POST',
    path: '/vault/public-key',
    summary:
      'Register the runtime key of an agent (key.add), or rotate it (key.rotate with a wrapped key for each live grant). Without an endorser’s signature a registration waits for it',
    access: { kind: 'principal' },
    body: closed({
      event: SignedDocument,
      replacements: Type.Optional(Type.Array(SignedDocument, { maxItems: 2047 })),
    }),
    bodyLimit: 4_194_304,
    response: closed({
      kid: AnyKid,
      status: OneOf(['active', 'pending']),
      receipt: Type.Optional(DirectoryReceipt),
    }),
    errors: [...documentErrors, 'agent_not_found', 'rotation_requires_old_key', 'incomplete_replacement_batch'],
  },
  pending: {
    api: 'machine',
    method: 'GET',
    path: '/vault/public-key/pending',
    summary: 'Registrations that wait for the caller’s endorsement: sign them and send them to POST /vault/public-key',
    access: { kind: 'principal' },
    response: closed({ data: Type.Array(closed({ kid: AnyKid, event: SignedDocument, createdAt: Time })) }),
  },
  grants: {
    api: 'machine',
    method: 'GET',
    path: '/vault/public-key/grants',
    summary: 'The vault keys wrapped for the caller’s active keys: exactly what a rotation has to replace',
    access: { kind: 'principal' },
    response: closed({ data: Type.Array(Grant) }),
  },
  directory: {
    api: 'machine',
    method: 'GET',
    path: '/vault/public-key/directory',
    summary: 'The active keys of principals, with everything that proves them: what a vault key is wrapped for',
    access: reading,
    query: closed({
      principals: Type.String({
        maxLength: 1600,
        pattern: '^(?:user|agent):[A-Za-z0-9_-]{4,64}(?:,(?:user|agent):[A-Za-z0-9_-]{4,64}){0,39}$',
        description: 'Up to 40, separated by commas; who has no key is left out',
      }),
    }),
    response: closed({
      kids: Type.Array(AnyKid),
      genesis: SignedDocument,
      policies: Type.Array(SignedDocument),
      records: Type.Array(SignedDocument),
      capSets: Type.Array(SignedDocument),
      transparency: TransparencyObject,
    }),
    errors: ['leaf_not_found'],
  },
  wrapped: {
    api: 'machine',
    method: 'GET',
    path: '/vault/:vaultId/wrapped-keys',
    summary: 'Which keys the vault key is wrapped for, version by version',
    access: reading,
    params: vaultParams,
    response: closed({
      data: Type.Array(closed({ kid: AnyKid, dekVersion: Version, wrapHash: Hash })),
      signed: SignedVault,
    }),
    errors: ['vault_not_found'],
  },
  grant: {
    api: 'machine',
    method: 'POST',
    path: '/vault/:vaultId/wrapped-keys',
    summary:
      'Give the vault key to further keys of readers on the access list: wraps that an admin of the vault has made',
    access: writing,
    params: vaultParams,
    body: closed({ wraps: Type.Array(SignedDocument, { minItems: 1, maxItems: 2000 }) }),
    bodyLimit: 4_194_304,
    status: 201,
    response: closed({ index: Type.Integer({ minimum: 0 }), transparency: TransparencyObject }),
    errors: [...documentErrors, 'vault_not_found', 'vault_access_denied', 'vault_archived'],
  },
  holders: {
    api: 'machine',
    method: 'GET',
    path: '/vault/:vaultId/holders',
    summary: 'Who can open a vault: names, roles, and the keys it is wrapped for',
    access: reading,
    params: vaultParams,
    response: closed({
      data: Type.Array(
        closed({
          principal: Type.String(),
          name: Type.String(),
          role: Role,
          keys: Type.Array(closed({ kid: AnyKid, dekVersions: Type.Array(Version) })),
        }),
      ),
    }),
    errors: ['vault_not_found'],
  },
  own: {
    api: 'machine',
    method: 'GET',
    path: '/user-key-pair',
    summary: 'The public keys of the person who asks, former ones too, with the record that brought each in',
    access: { kind: 'user' },
    response: closed({ data: Type.Array(OwnKey) }),
  },
  addOwn: {
    api: 'machine',
    method: 'POST',
    path: '/user-key-pair',
    summary:
      'A further key of the person who asks, such as for another device: a key.add that a directory admin endorsed',
    access: { kind: 'user' },
    body: closed({ event: SignedDocument }),
    status: 201,
    response: closed({ kid: AnyKid, receipt: DirectoryReceipt }),
    errors: documentErrors,
  },
  rotateOwn: { ...userKeys.rotate, api: 'machine', path: '/user-key-pair/rotate' },
} as const satisfies Routes
