import { agents } from '@strongroom/contract'
import { Type } from 'typebox'

// The shapes of what the verbs of `agent` print as `data`. None of them but `agentBundleShape` and `agentKeyShape` holds a secret.

export const agentShape = Type.Object({
  agentId: Type.String(),
  domainTenantId: Type.String(),
  name: Type.String(),
  description: Type.String(),
  status: Type.String(),
  permissions: Type.Array(Type.String()),
  securityGroups: Type.Array(Type.Object({ groupId: Type.String(), name: Type.String() })),
  expiresAt: Type.Union([Type.String({ description: 'Its keys are refused from then on' }), Type.Null()]),
  networks: Type.Array(Type.String(), { description: 'Where its keys may be used; none: anywhere' }),
  createdAt: Type.String(),
  profile: Type.Optional(Type.String({ description: 'Of this machine' })),
})

export const agentListShape = Type.Array(agentShape)

const vaultRole = Type.Object({ vault: Type.String(), role: Type.String() })

export const agentCreatedShape = Type.Object({
  agent: agentShape,
  keyId: Type.String(),
  fingerprint: Type.String(),
  vaults: Type.Array(vaultRole),
  profile: Type.String(),
  keyStore: Type.Object({ kind: Type.String(), where: Type.String() }),
})

export const agentBundleShape = Type.Object({
  agentId: Type.String(),
  profile: Type.String(),
  bundle: Type.Optional(Type.String({ description: 'A secret: whoever has it is the agent' })),
  file: Type.Optional(Type.String()),
})

export const agentKeyShape = Type.Object({
  agentId: Type.String(),
  saved: Type.Boolean({ description: 'Into the profile of this machine' }),
  profile: Type.Optional(Type.String()),
  apiKey: Type.Optional(Type.String({ description: 'A secret, shown once, where no profile could take it' })),
})

export const agentRuntimeKeyShape = Type.Object({
  agentId: Type.String(),
  keyId: Type.String(),
  rewrapped: Type.Integer(),
  profile: Type.String(),
})

const role = Type.Object({ tenantId: Type.String(), role: Type.String() })
export const agentRolesShape = Type.Object({ direct: Type.Array(role), inherited: Type.Array(role) })

export const agentArchivedShape = Type.Object({ agentId: Type.String(), profileRemoved: Type.Boolean() })

export const agentTestShape = Type.Object({
  agentId: Type.String(),
  vaults: Type.Array(
    Type.Object({
      vault: Type.String(),
      ok: Type.Boolean(),
      variables: Type.Optional(Type.Array(Type.String())),
      signer: Type.Optional(Type.String()),
      treeSize: Type.Optional(Type.Integer()),
      code: Type.Optional(Type.String()),
    }),
  ),
})

export const agentSimulationShape = agents.simulate.response

export const agentLinkShape = Type.Object({
  agentId: Type.String(),
  vaultItem: Type.Union([Type.Object({ vaultId: Type.String(), itemId: Type.String() }), Type.Null()]),
})

const fingerprint = Type.String({ description: 'To be compared with what the agent itself shows' })

export const agentEnrolledShape = Type.Object({
  agent: agentShape,
  endorser: Type.String(),
  enrolment: Type.Optional(Type.String({ description: 'A secret, shown once: it makes the keys of the agent' })),
  file: Type.Optional(Type.String()),
})

export const agentRequestShape = Type.Object({
  agentId: Type.String(),
  keyId: Type.String(),
  fingerprint,
  words: Type.String(),
  profile: Type.Optional(Type.String()),
  file: Type.Optional(Type.String()),
})

export const agentPendingShape = Type.Array(
  Type.Object({
    keyId: Type.String(),
    agentId: Type.String(),
    agent: Type.String(),
    fingerprint,
    words: Type.String(),
    requestedAt: Type.String(),
  }),
)

export const agentEndorsedShape = Type.Object({ keyId: Type.String(), vaults: Type.Array(vaultRole) })

export const agentRevokedShape = Type.Object({
  keyId: Type.String(),
  rotationDue: Type.Array(Type.String({ description: 'Vaults whose key it knew' })),
})
