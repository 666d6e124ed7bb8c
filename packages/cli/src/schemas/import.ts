import { Type } from 'typebox'

const FieldsOfItem = Type.Object({ item: Type.String(), fields: Type.Array(Type.String()) })
const FilesOfItem = Type.Object({ item: Type.String(), files: Type.Array(Type.String()) })

export const importShape = Type.Object({
  imported: Type.Integer(),
  fieldsAdded: Type.Integer(),
  filesAdded: Type.Integer(),
  /** Everything that was in the file is in the vaults with the same value. */
  complete: Type.Boolean(),
  plan: Type.Array(
    Type.Object({
      vault: Type.String(),
      isNew: Type.Boolean(),
      items: Type.Array(Type.String()),
      renamed: Type.Array(FieldsOfItem, {
        description: 'Labels that fields get here, since several of the item had one',
      }),
      skipped: Type.Array(Type.String()),
      added: Type.Array(FieldsOfItem),
      differing: Type.Array(FieldsOfItem),
      files: Type.Array(FilesOfItem, { description: 'Attachments that come' }),
      differingFiles: Type.Array(FilesOfItem, { description: 'Attachments that have another content here' }),
    }),
  ),
  leftOut: Type.Array(Type.Object({ name: Type.String(), reason: Type.String() })),
})
