import { Type } from 'typebox'

/** What `env --json` prints as `data`: `values`, with `--format` a `text` instead, and neither with `--names`. */
export const envShape = Type.Object({
  variables: Type.Array(Type.Object({ name: Type.String(), from: Type.String() })),
  values: Type.Optional(Type.Record(Type.String(), Type.String())),
  text: Type.Optional(Type.String({ description: 'With --format: what would be printed without --json' })),
})

/** What `inject --json` prints as `data`: `path` with `--out`, else the `text`. */
export const injectShape = Type.Object({
  path: Type.Optional(Type.String()),
  filled: Type.Integer(),
  references: Type.Array(Type.String()),
  text: Type.Optional(Type.String({ description: 'Without --out: what would be printed without --json' })),
})
