import { Type } from 'typebox'

/** What `env --json` prints as `data`: `values` is absent with `--names`. */
export const envShape = Type.Object({
  variables: Type.Array(Type.Object({ name: Type.String(), from: Type.String() })),
  values: Type.Optional(Type.Record(Type.String(), Type.String())),
})

/** What `inject --json` prints as `data`. */
export const injectShape = Type.Object({
  path: Type.String(),
  filled: Type.Integer(),
  references: Type.Array(Type.String()),
})
