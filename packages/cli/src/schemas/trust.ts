import { Type } from 'typebox'

export const alarmsShape = Type.Array(Type.Object({ at: Type.Number(), code: Type.String() }))
