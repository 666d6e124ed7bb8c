import { Type } from 'typebox'

export const alarmsShape = Type.Array(Type.Object({ at: Type.Number(), code: Type.String() }))

export const verdictShape = Type.Object({
  claimed: Type.String({ description: 'The code of the refusal' }),
  found: Type.Union([Type.String(), Type.Null()], { description: 'The code the answer is refused with now' }),
  reproduced: Type.Boolean(),
  checkable: Type.Boolean({ description: 'False: nothing could be run again' }),
  checkpoints: Type.Array(Type.Object({ size: Type.Integer(), root: Type.String() })),
})
