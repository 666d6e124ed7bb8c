import { Type } from 'typebox'

export const importShape = Type.Object({
  imported: Type.Integer(),
  plan: Type.Array(
    Type.Object({
      vault: Type.String(),
      isNew: Type.Boolean(),
      items: Type.Array(Type.String()),
      skipped: Type.Array(Type.String()),
    }),
  ),
  leftOut: Type.Array(Type.Object({ name: Type.String(), reason: Type.String() })),
})
