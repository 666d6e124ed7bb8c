import { Type } from 'typebox'

// What `key` prints: public halves, never private ones.

const orNull = Type.Union([Type.String(), Type.Null()])
const words = Type.String({ description: 'To tell keys apart at a glance; compare the fingerprint to be sure' })

export const keysShape = Type.Array(
  Type.Object({ keyId: Type.String(), words, status: Type.String(), addedAt: Type.String(), endedAt: orNull }),
)

export const fingerprintsShape = Type.Array(
  Type.Object({ principal: Type.String(), keyId: Type.String(), words, fingerprint: Type.String() }),
)

export const verifiedShape = Type.Object({
  principal: Type.String(),
  matches: Type.Boolean(),
  keyId: orNull,
  status: orNull,
})

export const rotatedShape = Type.Object({
  keyId: Type.String(),
  old: Type.String(),
  words,
  rewrapped: Type.Integer(),
  profile: Type.String(),
  recoveryKit: Type.String(),
})

export const dueShape = Type.Array(
  Type.Object({
    vaultId: Type.String(),
    name: Type.String(),
    role: orNull,
    rotationDue: orNull,
    olderKeys: Type.Integer({ description: 'Older versions of its key that values may still be under' }),
    fix: Type.String(),
  }),
)

export const reencryptedShape = Type.Object({
  vault: Type.String(),
  items: Type.Integer(),
  fields: Type.Integer(),
  attachments: Type.Integer(),
})
