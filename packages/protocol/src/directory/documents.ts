import {
  bytesText,
  hash,
  hashOrNone,
  integer,
  literal,
  type Of,
  record,
  sortedList,
  text,
  words,
} from '../encoding/shape.ts'
import { defineKind, type PayloadOf } from '../identity/document.ts'
import { id, kidText, principalText, vaultIdText } from '../identity/identifiers.ts'
import { keyBundle } from '../identity/key-bundle.ts'

// Section 4.1: the documents a directory consists of. Sorted lists make equal content equal bytes.

export const CAPS = ['agent', 'agent-manager', 'dir-admin', 'member', 'recovery'] as const
export type Cap = (typeof CAPS)[number]
const caps = sortedList(literal(...CAPS), CAPS.length, (cap) => cap)

const MAX_ADMINS = 64
export const salt = bytesText(16, 16)

/** The rules of an organisation. Authority over them comes from `policy.set`; version 1 is in the genesis document. */
export const policyShape = record(
  {
    /** How many dir-admins must sign `caps.set` and `policy.set`. */
    dirQuorum: integer(1, 8),
    kdf: literal('argon2id', 'pbkdf2'),
    minRsaBits: literal(2048, 3072, 4096),
    /** Principals whose hand-offs of licence secrets are accepted (6.5). */
    provisioners: sortedList(principalText, 16, (principal) => principal),
    recoverQuorum: integer(1, 7),
    rotationGraceMs: integer(0),
  },
  {
    /** The console build that people shall be served: the hash that its list of files has in `build.json`. */
    console: text(/^[0-9a-f]{64}$/),
  },
)
export type Policy = Of<typeof policyShape>

export const DAY_MS = 86_400_000

export const defaultPolicy = (founders: number): Policy => ({
  dirQuorum: 1,
  kdf: 'argon2id',
  minRsaBits: 2048,
  provisioners: [],
  recoverQuorum: Math.min(2, founders),
  rotationGraceMs: DAY_MS,
})

const namedKey = record({ kid: kidText, key: keyBundle })

/** Its hash is the fingerprint of the organisation, pinned by every client. */
export const orgGenesis = defineKind('org.genesis', {
  admins: sortedList(namedKey, MAX_ADMINS, (admin) => admin.kid),
  policy: policyShape,
  salt,
})

export const keyAdd = defineKind('key.add', { kid: kidText, key: keyBundle, caps }, { invite: hash })

const replacement = record({ vaultId: vaultIdText, dekVersion: integer(1, 0xffff_ffff), wrapHash: hash })
export type Replacement = Of<typeof replacement>
export const replacementKey = (entry: { vaultId: string; dekVersion: number }): string =>
  `${entry.vaultId}/${String(entry.dekVersion).padStart(10, '0')}`

/** Each entry changes two states, and one leaf changes at most 4096. */
export const MAX_BATCH = 2047
export const keyRotate = defineKind('key.rotate', {
  oldKid: kidText,
  kid: kidText,
  key: keyBundle,
  batch: sortedList(replacement, MAX_BATCH, replacementKey),
})

/** How many keys a principal may use at a time: one for each of its devices. */
export const MAX_ACTIVE_KEYS = 64
export const keyRecover = defineKind('key.recover', {
  principal: principalText,
  oldKids: sortedList(kidText, MAX_ACTIVE_KEYS, (kid) => kid),
  kid: kidText,
  key: keyBundle,
  reason: literal('lost', 'compromised'),
})

export const keyRevoke = defineKind(
  'key.revoke',
  { kid: kidText, reason: literal('superseded', 'removed', 'compromised') },
  { since: integer() },
)

/** `prev` is the hash of the kid's previous caps.set, so that a sequence of them has one order. */
export const capsSet = defineKind('caps.set', { kid: kidText, caps, prev: hashOrNone })

export const policySet = defineKind('policy.set', { policyVersion: integer(2), policy: policyShape, prev: hash })

/**
 * Says that the log was restored from a backup: it goes on from `keptSize`, and what came after is given up. `lost` is the
 * largest log known to have been served, its root `''` where nobody knows it.
 */
export const logRecover = defineKind('log.recover', {
  keptSize: integer(1),
  keptRoot: hash,
  lost: record({ size: integer(1), root: hashOrNone }),
  reason: words(200),
  salt,
})

export const recoveryEnrol = defineKind('recovery.enrol', { recoveryKid: kidText, sealHash: hash })

/** Section 4.6: promises membership to whoever holds the secret behind `inviteKey`. */
export const invite = /* @__PURE__ */ defineKind('invite', {
  inviteId: id,
  inviteKey: bytesText(44, 44),
  caps,
  expires: integer(),
  note: words(200),
})

export type GenesisPayload = PayloadOf<typeof orgGenesis>
export type KeyAddPayload = PayloadOf<typeof keyAdd>
export type KeyRotatePayload = PayloadOf<typeof keyRotate>
export type KeyRecoverPayload = PayloadOf<typeof keyRecover>
export type CapsSetPayload = PayloadOf<typeof capsSet>
export type LogRecoverPayload = PayloadOf<typeof logRecover>
export type InvitePayload = PayloadOf<typeof invite>

/** The kinds that bring a key into the directory: the `rec` of an entry names one of them. */
export const RECORD_KINDS = {
  'org.genesis': orgGenesis,
  'key.add': keyAdd,
  'key.rotate': keyRotate,
  'key.recover': keyRecover,
} as const
