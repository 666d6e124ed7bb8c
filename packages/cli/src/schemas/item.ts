import { Type } from 'typebox'

const base = {
  itemId: Type.String(),
  name: Type.String(),
  website: Type.String(),
  status: Type.Union([Type.Literal('active'), Type.Literal('archived')]),
  version: Type.Integer(),
}

export const itemListShape = Type.Array(Type.Object({ ...base, labels: Type.Array(Type.String()) }))

export const itemHistoryShape = Type.Array(
  Type.Object({
    version: base.version,
    name: base.name,
    website: base.website,
    status: base.status,
    labels: Type.Array(Type.String()),
    at: Type.String(),
    signerKeyId: Type.String(),
    isReadable: Type.Boolean(),
  }),
)

export const itemShape = Type.Object({
  ...base,
  vaultId: Type.String(),
  fields: Type.Array(
    Type.Object({
      fieldId: Type.String(),
      label: Type.String(),
      isEnvironmentVariable: Type.Boolean(),
      version: Type.Integer(),
    }),
  ),
  receipt: Type.Object({ signerKeyId: Type.String(), treeSize: Type.Integer(), rootHash: Type.String() }),
})
