import type { Group } from '../model/command.ts'
import { deliveries, resend, test } from './webhook/deliveries.ts'
import { delivery } from './webhook/delivery.ts'
import { listen } from './webhook/listen.ts'
import { list, show, types } from './webhook/look.ts'
import { create, rm, rotate, update } from './webhook/manage.ts'

export const webhook: Group = {
  summary: 'webhooks: signed events, at an address of yours',
  verbs: { create, list, show, update, rm, test, deliveries, delivery, resend, rotate, listen, types },
}
