import { Type } from 'typebox'

// What `user` prints. Only `invitedShape` can hold a secret, and not where it went to a file.

export const userShape = Type.Object({
  userId: Type.String(),
  name: Type.String(),
  email: Type.String(),
  status: Type.String(),
  orgRoles: Type.Array(Type.String()),
  tenantRoles: Type.Array(Type.Object({ tenantId: Type.String(), role: Type.String() })),
  invite: Type.Union([
    Type.Object({ inviteId: Type.String(), status: Type.String(), expiresAt: Type.String() }),
    Type.Null(),
  ]),
})

export const usersShape = Type.Array(userShape)

export const invitedShape = Type.Object({
  inviteId: Type.String(),
  userId: Type.String(),
  email: Type.String(),
  link: Type.Optional(Type.String({ description: 'A secret for the invitee alone' })),
  file: Type.Optional(Type.String()),
})

export const endorsedShape = Type.Object({
  userId: Type.String(),
  email: Type.String(),
  inviteId: Type.String(),
  status: Type.Literal('active'),
})

export const removedUserShape = Type.Object({
  userId: Type.String(),
  email: Type.Union([Type.String(), Type.Null()], { description: 'Null where the server has the person no more' }),
  was: Type.Union([Type.Literal('active'), Type.Literal('invited'), Type.Literal('removed')]),
})
