import { Type } from 'typebox'
import type { Routes } from './route.ts'
import { closed, SignedDocument } from './shapes.ts'
import { DirectoryReceipt } from './transparency.ts'

// Signed changes of the signer directory that concern others than oneself (docs/reference/protocol.md 4.1). The signatures decide who
// may make them; whoever brings one must have signed it.

const event = closed({ event: SignedDocument })
const access = { kind: 'user' } as const
const errors = ['invalid_document', 'invalid_signature', 'signer_not_authorised', 'log_conflict'] as const
const Receipt = closed({ ...DirectoryReceipt.properties, kid: Type.String() })

export const directory = {
  setCaps: {
    api: 'platform',
    method: 'POST',
    path: '/directory/caps',
    summary: 'Log a caps.set: what a key may do in the directory, signed by the quorum of directory admins',
    access,
    body: event,
    response: Receipt,
    errors: [...errors, 'quorum_unreachable'],
  },
  setPolicy: {
    api: 'platform',
    method: 'POST',
    path: '/directory/policy',
    summary: 'Log a policy.set: the next policy of the organisation, signed by the quorum of directory admins',
    access,
    body: event,
    response: closed({ ...DirectoryReceipt.properties, policyVersion: Type.Integer({ minimum: 2 }) }),
    errors: [...errors, 'quorum_unreachable'],
  },
  recoverKey: {
    api: 'platform',
    method: 'POST',
    path: '/directory/recover',
    summary: 'Log a key.recover: a new key in place of all keys of an agent, signed by the recovery quorum',
    access,
    body: event,
    response: Receipt,
    errors: [...errors, 'agent_not_found'],
  },
  recoverLog: {
    api: 'platform',
    method: 'POST',
    path: '/directory/recover-log',
    summary:
      'Log a log.recover: the log goes on from a restored backup, signed by the recovery quorum. Writing goes on with it',
    access,
    body: event,
    response: DirectoryReceipt,
    errors: [...errors, 'recovery_not_due'],
  },
} as const satisfies Routes
