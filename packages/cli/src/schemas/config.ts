import { Type } from 'typebox'

// The shapes of what `config`, `open`, `explain` and `doctor` print as `data`.

export const profileShape = Type.Object({
  name: Type.String(),
  kind: Type.String(),
  server: Type.String(),
  org: Type.String(),
  who: Type.Optional(Type.String()),
  isDefault: Type.Boolean(),
})

export const configListShape = Type.Object({
  default: Type.Optional(Type.String()),
  profiles: Type.Array(profileShape),
})
export const configProfilesShape = Type.Array(profileShape)
export const configValueShape = Type.Object({ key: Type.String(), value: Type.Union([Type.String(), Type.Null()]) })

export const configPathShape = Type.Object({
  config: Type.String(),
  keys: Type.String(),
  trust: Type.String(),
  cache: Type.String(),
  evidence: Type.String(),
  runtime: Type.Optional(Type.String()),
})

export const openShape = Type.Object({ url: Type.String(), opened: Type.Boolean() })

export const explainShape = Type.Object({
  code: Type.String(),
  from: Type.Array(Type.String({ description: 'program, api or protocol' })),
  meaning: Type.String(),
  next: Type.Optional(Type.String()),
  status: Type.Optional(Type.Integer({ description: 'Of the answer of the API' })),
  exitCode: Type.Integer(),
})

export const doctorShape = Type.Object({
  healthy: Type.Boolean(),
  checks: Type.Array(
    Type.Object({
      name: Type.String(),
      state: Type.Union([Type.Literal('ok'), Type.Literal('failed'), Type.Literal('skipped')]),
      detail: Type.String(),
      code: Type.Optional(Type.String()),
      fix: Type.Optional(Type.String()),
    }),
  ),
  file: Type.Optional(Type.String({ description: 'Where the report was written' })),
})
