import { Type } from 'typebox'

/** What `env --json` prints as `data`: `values`, with `--format` a `text` instead, and neither with `--names`. */
export const envShape = Type.Object({
  variables: Type.Array(Type.Object({ name: Type.String(), from: Type.String() })),
  values: Type.Optional(Type.Record(Type.String(), Type.String())),
  text: Type.Optional(Type.String({ description: 'With --format: what would be printed without --json' })),
})

/** What `inject --json` prints as `data`. */
export const injectShape = Type.Object({
  path: Type.String(),
  filled: Type.Integer(),
  references: Type.Array(Type.String()),
})
