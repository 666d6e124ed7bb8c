import { Type } from 'typebox'

// `up --json` prints one of these a line.

const ready = Type.Object({
  type: Type.Union([Type.Literal('ready'), Type.Literal('running')]),
  url: Type.String(),
  api: Type.String(),
  docs: Type.String(),
  console: Type.Optional(Type.String()),
  data: Type.Optional(Type.String()),
  pid: Type.Optional(Type.Integer()),
  organisation: Type.Boolean({ description: 'Whether there is one already' }),
  next: Type.String(),
})

export const upEventShape = Type.Union([
  Type.Object({ type: Type.Literal('reset'), data: Type.String() }),
  ready,
  Type.Object({ type: Type.Literal('stopped'), url: Type.String(), data: Type.String() }),
])
