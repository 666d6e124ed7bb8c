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
  Type.Object({ keyId: Type.String(), principal: Type.String(), status: Type.String() }),
)

export const accessShape = Type.Array(Type.Object({ principal: Type.String(), name: Type.String(), role }))

export const rotatedShape = Type.Object({ vault: Type.String(), items: Type.Integer(), fields: Type.Integer() })

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
