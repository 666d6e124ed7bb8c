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
      commit: Type.Optional(Type.String()),
    }),
  ),
  hook: Type.Optional(Type.String()),
})
