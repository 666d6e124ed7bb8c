import { Type } from 'typebox'

export const verifiedConsoleShape = Type.Object({
  url: Type.String(),
  matches: Type.Boolean(),
  /** The hash over the list that it was held against. */
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
  /** The entry of the log that names the build, with --log and --record; null where the log was not asked or nothing was signed. */
  log: Type.Union([
    Type.Object({
      entry: Type.Integer(),
      policyVersion: Type.Integer(),
      /** It was signed just now. */
      isNew: Type.Boolean(),
    }),
    Type.Null(),
  ]),
})
