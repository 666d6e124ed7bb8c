import { createHash } from 'node:crypto'
import type { ChainedEvent } from '@strongroom/contract'
import { canonicalText } from '@strongroom/protocol'
import { expect, it } from 'vitest'
import { nextHash, nextHashOf, startOfChain } from './chain.ts'

// Sealing and verifying share one way of writing an event down, so here it is compared with the definition. Seen red: a member
// under another name; `errorCode` left out where it is null.

const EVENT: ChainedEvent = {
  id: 'aud_1',
  action: 'vault.environment.read',
  occurredAt: '2026-01-31T12:00:00.123456Z',
  actorType: 'agent',
  actorId: 'agent:agt_1',
  targets: [{ type: 'vault', id: 'vlt_1' }],
  outcome: 'success',
  errorCode: null,
  requestId: 'req_"1"\\',
  ip: '127.0.0.1',
  userAgent: 'curl/8.5.0',
  metadata: { index: 7, b: { z: 1, a: 'ä' } },
}

const defined = (previous: Buffer, orgId: string, event: ChainedEvent): Buffer => {
  const { actorType, actorId, requestId, ip, userAgent, ...rest } = event
  const members = { ...rest, version: 1, orgId, actor: { type: actorType, id: actorId } }
  const text = canonicalText({ ...members, context: { requestId, ip, userAgent } })
  return createHash('sha256').update(previous).update(text).digest()
}

it('hashes exactly the canonical form of an event', () => {
  const start = startOfChain('org_1')
  for (const event of [EVENT, { ...EVENT, outcome: 'refused', errorCode: 'not_found', targets: [], metadata: {} }])
    expect(nextHash(start, 'org_1', event)).toEqual(defined(start, 'org_1', event))
  const written = { ...EVENT, targets: canonicalText(EVENT.targets), metadata: canonicalText(EVENT.metadata) }
  expect(nextHashOf(start, 'org_1', written)).toEqual(nextHash(start, 'org_1', EVENT))
})

it('refuses what has no canonical form', () => {
  const start = startOfChain('org_1')
  for (const event of [
    { ...EVENT, metadata: { share: 0.5 } },
    { ...EVENT, ip: '\ud800' },
  ])
    expect(() => nextHash(start, 'org_1', event)).toThrow()
})
