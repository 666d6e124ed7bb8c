import { webhooks } from '@strongroom/contract'
import { Type } from 'typebox'

// What `webhook` prints. Endpoints and deliveries are the contract's.

const nullable = <T extends Parameters<typeof Type.Array>[0]>(schema: T) => Type.Union([schema, Type.Null()])

export const webhookShape = webhooks.update.response
export const webhooksShape = Type.Array(webhookShape)
export const deliveryShape = webhooks.test.response
export const deliveryDetailShape = webhooks.delivery.response
export const deliveriesShape = Type.Array(deliveryShape)
export const removedWebhookShape = Type.Object({ webhookId: Type.String() })
export const eventTypesShape = Type.Array(Type.Object({ type: Type.String(), permission: Type.String() }))

export const madeWebhookShape = Type.Object({
  endpoint: webhookShape,
  secret: nullable(Type.String({ description: 'Shown once; null where there is none, or where it is in a file' })),
  file: Type.Optional(Type.String({ description: 'Where --out wrote the secret' })),
})

/** `webhook listen --json` prints one of these a line. */
export const listenShape = Type.Union([
  Type.Object({
    type: Type.Literal('listening'),
    eventTypes: Type.Array(Type.String()),
    forwardTo: nullable(Type.String()),
    secret: nullable(Type.String({ description: 'What the forwarded requests are signed with, made for this run' })),
  }),
  Type.Object({ type: Type.Union([Type.Literal('lost'), Type.Literal('back')]) }),
  Type.Object({
    type: Type.Literal('event'),
    event: Type.Object({ id: Type.String(), type: Type.String(), timestamp: Type.String() }),
    forwarded: nullable(
      Type.Object({
        status: nullable(Type.Integer()),
        error: nullable(Type.String()),
        durationMs: Type.Integer(),
      }),
    ),
  }),
])
