import { Type } from 'typebox'

// The shapes of what `set`, `read` and `rm` print as `data`.

export const setShape = Type.Object({
  ref: Type.String(),
  version: Type.Integer(),
  created: Type.Boolean(),
  vaultCreated: Type.Boolean(),
  generated: Type.Boolean(),
})

export const readShape = Type.Object({
  ref: Type.String(),
  version: Type.Integer(),
  value: Type.Optional(Type.String({ description: 'Absent where it was written to a file' })),
  encoding: Type.Union([Type.Literal('utf8'), Type.Literal('base64')]),
  file: Type.Optional(Type.String()),
  receipt: Type.Object({
    vaultId: Type.String(),
    signerKeyId: Type.String(),
    treeSize: Type.Integer(),
    source: Type.String(),
  }),
})

export const rmShape = Type.Object({
  removed: Type.Union([Type.Literal('field'), Type.Literal('item')]),
  ref: Type.String(),
})
