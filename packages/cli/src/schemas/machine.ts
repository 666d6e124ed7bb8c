import { Type } from 'typebox'

// The shapes of what `whoami`, `version` and other commands about this machine print as `data`.

export const versionShape = Type.Object({
  strongroom: Type.String(),
  node: Type.String(),
  platform: Type.String(),
})

export const whoamiShape = Type.Object({
  kind: Type.String(),
  id: Type.String(),
  name: Type.String(),
  org: Type.String(),
  tenant: Type.Optional(Type.String()),
  authMethod: Type.String(),
  permissions: Type.Array(Type.String()),
  orgRoles: Type.Array(Type.String()),
  tenantRoles: Type.Array(Type.Object({ tenantId: Type.String(), role: Type.String() })),
  warnings: Type.Array(Type.String()),
  server: Type.String(),
  source: Type.String(),
  profile: Type.Optional(Type.String()),
})

export const scriptShape = Type.Object({ script: Type.String() })
export const namesShape = Type.Array(Type.String())

const named = {
  name: Type.String(),
  kind: Type.String(),
  summary: Type.String(),
  choices: Type.Optional(Type.Array(Type.String())),
}
const flagShape = Type.Object({ ...named, value: Type.Optional(Type.String()) })
export const helpShape = Type.Union([
  Type.Object({ text: Type.String() }),
  Type.Object({
    commands: Type.Array(
      Type.Object({
        path: Type.String(),
        summary: Type.String(),
        args: Type.Array(Type.Object(named)),
        flags: Type.Array(flagShape),
        examples: Type.Array(Type.Object({ run: Type.String(), does: Type.String() })),
        takesCommand: Type.Boolean(),
      }),
    ),
    flags: Type.Array(flagShape),
  }),
])
