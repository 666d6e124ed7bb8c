import type { Group } from '../model/command.ts'
import { archive, linkItem, roles, update } from './agent/change.ts'
import { create } from './agent/create.ts'
import { endorse, enrol, pending, request, revokeKey } from './agent/enrol.ts'
import { bundle, rotateKey, rotateRuntimeKey } from './agent/keys.ts'
import { list, show } from './agent/look.ts'
import { simulate } from './agent/simulate.ts'
import { test } from './agent/test.ts'

export const agent: Group = {
  summary: 'agents: what processes act as, each with its own keys',
  verbs: {
    create,
    list,
    show,
    test,
    simulate,
    bundle,
    'rotate-key': rotateKey,
    'rotate-runtime-key': rotateRuntimeKey,
    'revoke-key': revokeKey,
    enrol,
    request,
    pending,
    endorse,
    update,
    roles,
    'link-item': linkItem,
    archive,
  },
}
