import { type Client, createClient } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { endSession, joinGroup, type Place, seedGroup, seedSession } from '../../../test/agent-seed.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'

// What is revoked is refused on the very next request, whichever process revoked it and whichever is asked: two apps with a pool
// each on one database. Catches: any cache of a positive answer, an answer that is sent before its transaction is committed.
// Seen red with authentication remembered for a second.

/** `npm run test:revocation` takes two hundred. */
const TRIALS_PER_KIND = Number(process.env.REVOCATIONS ?? 40)
const LANES = 8

let h: Harness
let other: { url: string; close(): Promise<void> }
let org: Place
let group: string
let managers: readonly [Client, Client]

beforeAll(async () => {
  h = await startHarness()
  other = await h.sibling()
  org = await h.org('acme')
  group = await seedGroup(h, org, 'managers', ['TENANT_AGENT_MANAGER'])
  const manager = await h.agent(org, ['machine.all'], ['TENANT_ADMIN'])
  managers = [manager.client, createClient({ baseUrl: other.url, apiKey: manager.apiKey })]
})
afterAll(async () => {
  await other.close()
  await h.close()
})

interface Trial {
  /** What was allowed until now, asked of each process. */
  readonly ask: readonly [() => Promise<unknown>, () => Promise<unknown>]
  revoke(manager: Client): Promise<unknown>
}

const onBoth = (agent: TestAgent, ask: (client: Client) => Promise<unknown>): Trial['ask'] => {
  const second = createClient({ baseUrl: other.url, apiKey: agent.apiKey })
  return [() => ask(agent.client), () => ask(second)]
}
const me = (client: Client) => client.identity.me()
const list = (client: Client) => client.agents.list({ query: { page: 1, limit: 1 } })

const KINDS: Readonly<Record<string, { readonly refusal: string; prepare(trial: number): Promise<Trial> }>> = {
  'archived agent': {
    refusal: 'invalid_api_key',
    prepare: async () => {
      const agent = await h.agent(org, [])
      return { ask: onBoth(agent, me), revoke: (manager) => manager.agents.archive({ params: { id: agent.agentId } }) }
    },
  },
  'regenerated key': {
    refusal: 'invalid_api_key',
    prepare: async () => {
      const agent = await h.agent(org, [])
      return {
        ask: onBoth(agent, me),
        revoke: (manager) => manager.agents.regenerateApiKey({ params: { id: agent.agentId } }),
      }
    },
  },
  'removed role': {
    refusal: 'role_required',
    prepare: async (trial) => {
      const isDirect = trial % 2 === 0
      const agent = await h.agent(org, ['machine.agent.read'], isDirect ? ['TENANT_AGENT_MANAGER'] : [])
      const params = { id: agent.agentId }
      if (!isDirect) await joinGroup(h, org, group, agent.agentId)
      return {
        ask: onBoth(agent, list),
        revoke: (manager) =>
          isDirect
            ? manager.agents.replaceTenantRoles({ params, body: { tenantRoles: [] } })
            : manager.agents.update({ params, body: { securityGroups: [] } }),
      }
    },
  },
  'removed permission': {
    refusal: 'machine_permission_denied',
    prepare: async () => {
      const agent = await h.agent(org, ['machine.agent.read', 'machine.vault.read'], ['TENANT_AGENT_MANAGER'])
      return {
        ask: onBoth(agent, list),
        revoke: (manager) =>
          manager.agents.update({ params: { id: agent.agentId }, body: { permissions: ['machine.vault.read'] } }),
      }
    },
  },
  'ended session': {
    refusal: 'unauthorized',
    prepare: async () => {
      const { client, accessToken, sessionId } = await seedSession(h, org, [])
      const second = createClient({ baseUrl: other.url, accessToken })
      return { ask: [() => me(client), () => me(second)], revoke: () => endSession(h, org, sessionId) }
    },
  },
}

const outcome = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'late success',
    (error: { code: string }) => error.code,
  )

/** Allowed by both processes, revoked through one, then asked of both, the one that did not revoke first. */
async function run(kind: string, trial: number): Promise<string[]> {
  const { ask, revoke } = await (KINDS[kind] as (typeof KINDS)[string]).prepare(trial)
  await Promise.all(ask.map((call) => call()))
  const revoking = trial % 2
  // Refusals are counted against the address; time passes so that none is slowed down.
  h.advance(3000)
  await revoke(managers[revoking] as Client)
  const first = await outcome((ask[1 - revoking] as Trial['ask'][0])())
  return [first, await outcome((ask[revoking] as Trial['ask'][0])())]
}

it('is refused at once, every time: archived agent, regenerated key, removed role, removed permission, ended session', {
  timeout: 240_000,
}, async () => {
  const trials = Object.keys(KINDS).flatMap((kind) => Array.from({ length: TRIALS_PER_KIND }, (_, i) => ({ kind, i })))
  expect(trials).toHaveLength(5 * TRIALS_PER_KIND)
  const seen = new Map<string, number>()
  const lane = async (): Promise<void> => {
    for (let next = trials.pop(); next; next = trials.pop()) {
      for (const code of await run(next.kind, next.i))
        seen.set(`${next.kind}: ${code}`, (seen.get(`${next.kind}: ${code}`) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  expect(Object.fromEntries(seen)).toEqual(
    Object.fromEntries(
      Object.entries(KINDS).map(([kind, { refusal }]) => [`${kind}: ${refusal}`, 2 * TRIALS_PER_KIND]),
    ),
  )
})
