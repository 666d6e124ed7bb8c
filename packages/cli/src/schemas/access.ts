import { Type } from 'typebox'

export { accessShape } from './vault.ts'

const role = Type.Union([Type.Literal('READ'), Type.Literal('WRITE'), Type.Literal('ADMIN')])

export const explainShape = Type.Object({
  principal: Type.String(),
  name: Type.String(),
  vault: Type.String(),
  role: Type.Union([role, Type.Null()]),
  keyIds: Type.Array(Type.String()),
  canDecrypt: Type.Boolean(),
  canWrite: Type.Boolean(),
  canShare: Type.Boolean(),
})
