import { Type } from 'typebox'

// A line that `mcp` writes: the answer to one request.

export const messageShape = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Union([Type.String(), Type.Integer(), Type.Null()]),
  result: Type.Optional(Type.Object({})),
  error: Type.Optional(Type.Object({ code: Type.Integer(), message: Type.String() })),
})
