import { Type } from 'typebox'

export const exportShape = Type.Object({
  file: Type.String(),
  vaults: Type.Integer(),
  items: Type.Integer(),
  attachments: Type.Integer(),
})
