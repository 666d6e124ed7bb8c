import { Type } from 'typebox'

export const projectShape = Type.Object({
  id: Type.String(),
  slug: Type.String(),
  name: Type.String(),
  status: Type.Union([Type.Literal('active'), Type.Literal('archived')]),
  vaultIds: Type.Array(Type.String()),
  version: Type.Integer(),
  isVerified: Type.Boolean(),
})
export const projectListShape = Type.Array(projectShape)

const signer = Type.Union([Type.String({ description: 'The key that signed it last' }), Type.Null()])
export const attestedProjectShape = Type.Object({
  project: projectShape,
  content: signer,
  admins: signer,
  adminsVersion: Type.Integer(),
  administrators: Type.Array(Type.String()),
})
