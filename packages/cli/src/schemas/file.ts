import { Type } from 'typebox'

// What `file` prints: what is known of a file, never its content.

const members = {
  assetId: Type.String(),
  itemId: Type.String(),
  name: Type.String(),
  size: Type.Integer({ description: 'In bytes' }),
  version: Type.Integer(),
}
const file = { ...members, mediaType: Type.String(), signerKeyId: Type.String() }
const treeSize = Type.Integer({ description: 'Of the log that proves it' })

export const filesShape = Type.Array(Type.Object(file))

export const sentShape = Type.Object({
  ...members,
  resumed: Type.Boolean({ description: 'It went on where it was cut off' }),
  treeSize,
})

export const savedShape = Type.Object({ ...file, treeSize, file: Type.String() })

export const removedShape = Type.Object({ removed: Type.String() })

export const movedShape = Type.Object({
  assetId: Type.String(),
  name: Type.String(),
  from: Type.String(),
  to: Type.String(),
})
