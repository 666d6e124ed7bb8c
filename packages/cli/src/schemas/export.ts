import { Type } from 'typebox'

export const exportShape = Type.Object({
  file: Type.String(),
  vaults: Type.Integer(),
  items: Type.Integer(),
  attachments: Type.Integer(),
  attachmentsLeftOut: Type.Array(Type.String(), { description: 'Of a sealed archive always empty' }),
})
