import { Type } from 'typebox'

export const scanShape = Type.Object({
  values: Type.Integer(),
  looked: Type.Integer(),
  skipped: Type.Array(Type.String()),
  found: Type.Array(
    Type.Object({
      ref: Type.String(),
      path: Type.String(),
      line: Type.Integer(),
      commit: Type.Optional(Type.String({ description: 'the first commit that holds it' })),
      blob: Type.Optional(Type.String({ description: 'what git keeps this version of the file under' })),
    }),
  ),
  hook: Type.Optional(Type.String()),
})
