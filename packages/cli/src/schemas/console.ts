import { Type } from 'typebox'

export const verifiedConsoleShape = Type.Object({
  url: Type.String(),
  matches: Type.Boolean(),
  /** The hash over the list that was held against. */
  build: Type.String(),
  /** What the server itself says it serves. */
  claimed: Type.Union([Type.String(), Type.Null()]),
  checked: Type.Integer(),
  different: Type.Array(
    Type.Object({
      path: Type.String(),
      state: Type.Union([Type.Literal('differs'), Type.Literal('missing')]),
      expected: Type.String(),
      found: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
})
