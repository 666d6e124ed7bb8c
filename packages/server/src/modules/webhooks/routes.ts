import type { webhooks } from '@strongroom/contract'
import type { Handlers } from '../../http/mount.ts'
import { delivery } from './read-delivery.ts'
import { create, deliveries, eventTypes, list, redeliver, remove, rotateSecret, update } from './service.ts'
import { test } from './test-delivery.ts'

export const webhookRoutes: Handlers<typeof webhooks> = {
  list,
  create,
  eventTypes,
  update,
  remove,
  test,
  rotateSecret,
  deliveries,
  delivery,
  redeliver,
}
