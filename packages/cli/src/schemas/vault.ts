import { Type } from 'typebox'

const classification = Type.Union([
  Type.Literal('public'),
  Type.Literal('internal'),
  Type.Literal('confidential'),
  Type.Literal('restricted'),
])
const role = Type.Union([Type.Literal('READ'), Type.Literal('WRITE'), Type.Literal('ADMIN')])

export const vaultShape = Type.Object({
  vaultId: Type.String(),
  name: Type.String(),
  classification,
  status: Type.Union([Type.Literal('active'), Type.Literal('archived')]),
  role: Type.Union([role, Type.Null()]),
  itemCount: Type.Integer(),
  headVersion: Type.Integer(),
  olderKeys: Type.Optional(
    Type.Array(Type.Integer(), {
      description: 'Versions of its key that values may still be under; of one vault, not in lists',
    }),
  ),
  rotationDue: Type.Union([Type.String(), Type.Null()]),
})
export const vaultListShape = Type.Array(vaultShape)

export const holdersShape = Type.Array(
  Type.Object({
    principal: Type.String(),
    kind: Type.String(),
    name: Type.String(),
    role,
    keyIds: Type.Array(Type.String()),
  }),
)

export const signersShape = Type.Array(
  Type.Object({
    keyId: Type.String(),
    principal: Type.String(),
    status: Type.String(),
    via: Type.String({ description: 'What brought it in, such as key.add' }),
    added: Type.Integer({ description: 'The entry of the log that brought it in' }),
    end: Type.Union([Type.Integer({ description: 'The entry from which on it no longer counts' }), Type.Null()]),
  }),
)

export const accessShape = Type.Array(Type.Object({ principal: Type.String(), name: Type.String(), role }))

export const rotatedShape = Type.Object({
  vault: Type.String(),
  items: Type.Integer(),
  fields: Type.Integer(),
  attachments: Type.Integer(),
})

export const signerShape = Type.Union([Type.String({ description: 'The key that signed it last' }), Type.Null()])
export const attestedShape = Type.Object({
  vaultId: Type.String(),
  name: Type.String(),
  head: signerShape,
  headVersion: Type.Integer(),
  access: signerShape,
  accessVersion: Type.Integer(),
  admins: signerShape,
  adminsVersion: Type.Integer(),
  readers: Type.Array(Type.Object({ principal: Type.String(), role })),
  items: Type.Array(
    Type.Object({
      itemId: Type.String(),
      itemVersion: Type.Integer(),
      name: Type.String(),
      labels: Type.Array(Type.String()),
      by: Type.String(),
    }),
  ),
})

export const archivedShape = Type.Object({ archived: Type.String() })
