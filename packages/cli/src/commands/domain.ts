import type { Group } from '../model/command.ts'
import { check } from './domain/check.ts'
import { add, list, remove } from './domain/manage.ts'
import { record, records } from './domain/records.ts'

export const domain: Group = {
  summary: 'domains of the organisation, and the records of those managed here',
  verbs: { list, add, records, record, check, remove },
}
