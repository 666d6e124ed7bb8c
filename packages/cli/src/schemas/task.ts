import { Type } from 'typebox'

// What `allow` and `deny` print.

export const allowedShape = Type.Object({
  project: Type.String({ description: 'path of strongroom.toml' }),
  tasks: Type.Array(
    Type.Object({
      name: Type.String(),
      run: Type.Union([Type.String(), Type.Array(Type.String())]),
      variables: Type.Array(Type.Object({ name: Type.String(), from: Type.String() })),
      digest: Type.String(),
    }),
  ),
})

export const deniedShape = Type.Object({ project: Type.String(), denied: Type.Array(Type.String()) })
