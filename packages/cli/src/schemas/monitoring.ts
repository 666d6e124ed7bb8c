import { monitoring } from '@strongroom/contract'
import { type TSchema, Type } from 'typebox'

// What the looking commands print. Where an answer of the server is passed on, its shape is the contract's.

export const searchShape = Type.Array(
  Type.Object({
    kind: Type.String(),
    id: Type.String(),
    name: Type.String(),
    vaultId: Type.Union([Type.String(), Type.Null()]),
    itemId: Type.Union([Type.String(), Type.Null()]),
    path: Type.String(),
    score: Type.Number(),
  }),
)

const checkpoint = Type.Object({
  origin: Type.String(),
  treeSize: Type.Integer(),
  rootHash: Type.String(),
  timestamp: Type.String(),
  note: Type.String(),
})

export const verifyShape = Type.Object({
  ok: Type.Boolean(),
  head: checkpoint,
  previous: Type.Optional(Type.Object({ treeSize: Type.Integer(), rootHash: Type.String() })),
  steps: Type.Array(Type.Object({ step: Type.String(), detail: Type.String() })),
  newSigners: Type.Array(Type.Object({ keyId: Type.String(), logIndex: Type.Integer(), at: Type.String() })),
  durationMs: Type.Number(),
})

export const headShape = checkpoint

export const logEntriesShape = Type.Array(
  Type.Object({
    index: Type.Integer(),
    type: Type.String(),
    subjects: Type.Array(Type.String()),
    at: Type.String(),
    leafHash: Type.String(),
  }),
)

export const activityShape = Type.Array(
  Type.Object({
    kind: Type.String(),
    at: Type.String(),
    who: Type.String(),
    what: Type.String(),
    vault: Type.String(),
    subject: Type.String({ description: 'The id of what it was done to, where that is no vault' }),
    name: Type.String({ description: 'The same by name, where it has one' }),
    requestId: Type.String(),
    errorCode: Type.Optional(Type.String()),
  }),
)

export const requestsShape = monitoring.requestEvents.response.properties.data
export const auditShape = monitoring.auditEvents.response.properties.data

const nullable = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])
const placed = Type.Object({ position: Type.Integer(), at: Type.String() })
const end = { position: Type.Integer(), hash: Type.String() }

const auditVerdictShape = Type.Object({
  ok: Type.Boolean(),
  complete: Type.Boolean({
    description: 'Every entry of the organisation was seen; false for those who are shown some',
  }),
  entries: Type.Integer(),
  waiting: Type.Integer({ description: 'So new that they are not sealed yet' }),
  first: nullable(placed),
  last: nullable(placed),
  head: nullable(Type.Object(end)),
  remembered: nullable(
    Type.Object({ ...end, at: Type.String() }, { description: 'What this machine had seen as the end before' }),
  ),
})

/** With --verify a verdict, otherwise events. */
export const auditOrVerdictShape = Type.Union([auditShape, auditVerdictShape])

export const statsShape = Type.Object({
  ...monitoring.metricStats.response.properties,
  counts: Type.Record(Type.String(), Type.Integer()),
})

export const systemShape = Type.Object({
  system: monitoring.systemStats.response,
  sessions: monitoring.sessionStats.response,
})

export const signersShape = Type.Array(
  Type.Object({ keyId: Type.String(), status: Type.String(), via: Type.String(), verified: Type.String() }),
)

export const anchorShape = Type.Object({ trustAnchor: Type.String() })
