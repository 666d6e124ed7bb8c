import { Type } from 'typebox'

// What `license` prints. Amounts are whole micro-units.

const money = Type.Object({ amount: Type.String(), currency: Type.Literal('USD'), scale: Type.Literal(6) })
const nullable = <T extends Parameters<typeof Type.Array>[0]>(schema: T) => Type.Union([schema, Type.Null()])
const time = Type.String()

export const offersShape = Type.Array(
  Type.Object({
    licenseId: Type.String(),
    name: Type.String(),
    description: Type.String(),
    provider: Type.String(),
    quantity: Type.Integer(),
    price: money,
    term: Type.String(),
    schema: Type.Array(
      Type.Object({ label: Type.String(), isEnvironmentVariable: Type.Boolean(), required: Type.Boolean() }),
    ),
    validUntil: time,
  }),
)

export const licensesShape = Type.Array(
  Type.Object({
    licenseInstanceId: Type.String(),
    purchaseId: Type.String(),
    licenseId: Type.String(),
    name: Type.String(),
    provider: Type.String(),
    sku: Type.String(),
    quantity: Type.Integer(),
    price: money,
    term: Type.String(),
    status: Type.String(),
    buyer: Type.String(),
    domainTenantId: Type.String(),
    vaultId: nullable(Type.String()),
    itemId: nullable(Type.String()),
    periodStart: time,
    periodEnd: nullable(time),
    revision: Type.Integer(),
    createdAt: time,
    terminatedAt: nullable(time),
  }),
)

export const boughtShape = Type.Object({
  licenseInstanceId: Type.String(),
  license: Type.String(),
  purchaseId: Type.String(),
  vaultId: nullable(Type.String()),
  itemId: nullable(Type.String()),
})

export const endingShape = Type.Object({
  terminationId: Type.String(),
  licenseInstanceId: Type.String(),
  effectiveAt: nullable(time),
  refund: nullable(money),
})

export const resumedShape = Type.Object({
  purchases: Type.Array(boughtShape),
  terminations: Type.Array(endingShape),
})

export const statusShape = Type.Object({
  kind: Type.Union([Type.Literal('purchase'), Type.Literal('termination')]),
  id: Type.String(),
  state: Type.String(),
  licenseInstanceId: Type.String(),
  nextAction: Type.String(),
  failure: nullable(Type.Object({ code: Type.String(), message: Type.String(), resumable: Type.Boolean() })),
  history: Type.Array(Type.Object({ state: Type.String(), at: time, note: Type.String() })),
  /** Of a purchase. */
  license: Type.Optional(Type.String()),
  price: Type.Optional(money),
  vault: Type.Optional(
    Type.Object({ mode: Type.String(), name: nullable(Type.String()), vaultId: nullable(Type.String()) }),
  ),
  itemId: Type.Optional(nullable(Type.String())),
  /** Of a termination. */
  effectiveAt: Type.Optional(nullable(time)),
  refund: Type.Optional(nullable(money)),
})

export const enabledShape = Type.Object({ provisioner: Type.String(), isNew: Type.Boolean() })
export const creditShape = Type.Object({ granted: money, available: money })
