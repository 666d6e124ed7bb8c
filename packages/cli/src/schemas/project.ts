import { Type } from 'typebox'
import { signerShape } from './vault.ts'

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

export const attestedProjectShape = Type.Object({
  project: projectShape,
  content: signerShape,
  admins: signerShape,
  adminsVersion: Type.Integer(),
  administrators: Type.Array(Type.String()),
})
