import { Type } from 'typebox'

// What `admin` prints. Only `setupTokenShape` and `globalAdminKeyShape` can hold a secret, and not where it went to a file.

const file = Type.Optional(Type.String({ description: 'Where it was written to, readable by its owner alone' }))
const org = Type.Object({ orgId: Type.String(), name: Type.String() })
const orNull = Type.Union([Type.String(), Type.Null()])

export const setupTokenShape = Type.Object({
  isNew: Type.Boolean(),
  setupToken: Type.Optional(Type.String({ description: 'A secret: whoever shows it founds the organisation' })),
  file,
})

const key = Type.Object({ keyId: Type.String(), accessKey: Type.String(), createdAt: Type.String() })

export const globalAdminKeyShape = Type.Union([
  Type.Object({
    org,
    keyId: Type.String(),
    accessKey: Type.String(),
    apiKey: Type.Optional(Type.String({ description: 'A secret, shown once' })),
    file,
  }),
  Type.Object({ org, keys: Type.Array(key) }),
  Type.Object({ org, revoked: Type.Integer() }),
])

export const orgsShape = Type.Array(
  Type.Object({ orgId: Type.String(), name: Type.String(), createdAt: Type.String() }),
)

const inReview = Type.Object({
  kind: Type.Union([Type.Literal('purchase'), Type.Literal('renewal'), Type.Literal('termination')]),
  purchaseId: Type.String({ description: 'Of the purchase, the renewal or the termination' }),
  name: Type.String(),
  provider: Type.String(),
  amount: Type.String({
    description: 'In millionths of a dollar: what stays held; of a termination, the most that can come back',
  }),
  reason: orNull,
  since: Type.String(),
})
export const licenseReviewShape = Type.Union([
  Type.Object({ org, purchases: Type.Array(inReview) }),
  Type.Object({ org, purchaseId: Type.String() }),
  Type.Object({
    org,
    terminationId: Type.String(),
    refund: Type.String({ description: 'In millionths of a dollar' }),
  }),
])

export const issuerKeyShape = Type.Object({ kid: Type.String({ description: 'Of the key that signs from now on' }) })

export const backupShape = Type.Object({
  file: Type.String(),
  bytes: Type.Integer(),
  rows: Type.Integer(),
  createdAt: Type.String(),
  schema: Type.String(),
  lock: Type.Union([Type.Literal('root-key'), Type.Literal('passphrase')]),
  orgs: Type.Array(org),
  logs: Type.Record(Type.String(), Type.Object({ size: Type.Integer(), root: Type.String() })),
})

export const restoreShape = Type.Object({
  data: Type.String(),
  createdAt: Type.String(),
  rows: Type.Integer(),
  endedSessions: Type.Integer(),
  orgs: Type.Array(org),
  rootKeyFile: Type.Union([Type.String(), Type.Null()], { description: 'Null where the key is in the settings' }),
  waitsForStatement: Type.Boolean({ description: 'Nothing can be changed before: strongroom log recover' }),
})

export const rootKeyShape = Type.Object({ resealed: Type.Integer(), file: Type.String(), old: orNull })

export const upgradeShape = Type.Object({
  state: Type.Union(['empty', 'current', 'waiting', 'newer', 'foreign'].map((state) => Type.Literal(state))),
  data: orNull,
  program: Type.String(),
  waiting: Type.Array(Type.String()),
  postgres: orNull,
  lastBackup: orNull,
  problem: Type.Union([
    Type.Object({ code: Type.String(), message: Type.String(), nextStep: Type.String() }),
    Type.Null(),
  ]),
})

export const recoverShape = Type.Object({
  state: Type.Union(['none', 'waiting', 'signed', 'recovered'].map((state) => Type.Literal(state))),
  keptSize: Type.Optional(Type.Integer()),
  keptRoot: Type.Optional(Type.String()),
  recoverQuorum: Type.Optional(Type.Integer()),
  restoredAt: Type.Optional(Type.String()),
  signatures: Type.Optional(Type.Integer()),
  file: Type.Optional(Type.String()),
  index: Type.Optional(Type.Integer({ description: 'Of the statement in the log' })),
})
