import { Type } from 'typebox'

// The shapes of what `init`, `login` and `logout` print as `data`.

const keyStore = Type.Object({ kind: Type.String(), where: Type.String() })

export const initShape = Type.Object({
  status: Type.Union([Type.Literal('founded'), Type.Literal('joined'), Type.Literal('exists')]),
  server: Type.String(),
  org: Type.Object({ id: Type.String(), name: Type.Optional(Type.String()) }),
  person: Type.Object({ id: Type.Optional(Type.String()), email: Type.String() }),
  profile: Type.String(),
  keyId: Type.Optional(Type.String()),
  fingerprint: Type.String({ description: 'Of the organisation: the hash of its genesis document' }),
  logKey: Type.String(),
  recoveryKit: Type.Optional(Type.String({ description: 'Where the file is' })),
  keyStore: Type.Optional(keyStore),
})

export const loginShape = Type.Object({
  profile: Type.String(),
  kind: Type.Union([Type.Literal('person'), Type.Literal('agent')]),
  server: Type.String(),
  org: Type.String(),
  id: Type.String(),
  email: Type.Optional(Type.String()),
  expiresAt: Type.Optional(Type.String()),
  fingerprint: Type.String(),
  recoveryKit: Type.Optional(Type.String()),
  keyStore,
})

export const logoutShape = Type.Object({
  profile: Type.String(),
  sessionEnded: Type.Boolean({
    description: 'False if the server could not be asked: the session then ends by itself',
  }),
  profileRemoved: Type.Boolean(),
})
