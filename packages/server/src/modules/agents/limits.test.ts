import { createClient } from '@strongroom/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Place, seedSession } from '../../../test/agent-seed.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { codeOf } from '../../../test/people.ts'
import { readConfig } from '../../config.ts'
import { inOrg } from '../../context.ts'
import { makeApiKey } from '../../secrets/credentials.ts'

// Catches: an expired agent or a foreign address that is let in, a limit that a rotation sheds, one that tells strangers that an agent
// exists, an agent that gives itself or another one more room than it has, a change that is not recorded or that a refusal leaves behind.
// Seen red: the expiry not compared, the networks not looked at, an IPv4 address inside IPv6 taken as it is, limits judged before the
// secret, the limits left out of what can be given, of the audit row and of the stream's second look.

// This file's proxy is the test itself: without the header a request comes from 127.0.0.1, with it from wherever it says.
const PROXIES = readConfig({ STRONGROOM_TRUSTED_PROXIES: '127.0.0.1' }, [])

let h: Harness
let acme: Place
let globex: Place
let manager: TestAgent
let foreign: TestAgent

const ROLE = ['TENANT_AGENT_MANAGER']
const MINUTE_MS = 60_000

beforeAll(async () => {
  h = await startHarness({ trustedProxies: PROXIES.trustedProxies })
  acme = await h.org('acme')
  globex = await h.org('globex')
  manager = await h.agent(acme, ['machine.all'], ROLE)
  foreign = await h.agent(globex, ['machine.all'], ROLE)
})
afterAll(() => h.close())

type Limits = { expiresAt?: string; networks?: string[] }
const inMinutes = (minutes: number): string => new Date(h.deps.now().getTime() + minutes * MINUTE_MS).toISOString()

let made = 0
async function make(limits: Limits, permissions: 'machine.all'[] = []) {
  const tenantRoles = [{ tenantId: acme.tenantId, role: 'TENANT_AGENT_MANAGER' } as const]
  const body = { name: `limited ${made++}`, permissions, tenantRoles, ...limits }
  const { agent, apiKey } = await manager.client.agents.create({ body })
  return { agent, apiKey: apiKey ?? '', client: createClient({ baseUrl: h.url, apiKey: apiKey ?? '' }) }
}

async function ask(apiKey: string, from?: string, path = '/api/v1/machine/agent/me') {
  const response = await fetch(`${h.url}${path}`, {
    headers: { 'x-api-key': apiKey, ...(from !== undefined && { 'x-forwarded-for': from }) },
  })
  const { error } = (await response.json()) as { error?: { code: string; message: string; details?: object } }
  // Refusals are counted against the address and the key; time passes so that none is slowed down.
  h.advance(6000)
  return error ? { status: response.status, ...error } : { status: response.status, code: 'ok' }
}

const outcome = async (apiKey: string, from?: string) => (await ask(apiKey, from)).code
const change = (id: string, body: { expiresAt?: string | null; networks?: string[] }, by = manager) =>
  by.client.agents.update({ params: { id }, body })
const events = (agentId: string) =>
  inOrg(h.deps, acme.orgId, (db) => db.selectFrom('audit_event').selectAll().orderBy('seq').execute()).then((rows) =>
    rows.filter(({ targets, actor_id }) => JSON.stringify([targets, actor_id]).includes(agentId)),
  )

describe('an expiry', () => {
  it('refuses from its moment on, and no earlier; moved or taken away, the same key works again', async () => {
    const expiresAt = inMinutes(10)
    const { agent, apiKey } = await make({ expiresAt })
    expect(agent).toMatchObject({ expiresAt, networks: [] })
    expect(await outcome(apiKey)).toBe('ok')
    h.advance(10 * MINUTE_MS)
    expect(await ask(apiKey)).toMatchObject({ status: 401, code: 'agent_expired', details: { expiresAt } })

    const moved = inMinutes(10)
    expect((await change(agent.agentId, { expiresAt: moved })).agent.expiresAt).toBe(moved)
    expect(await outcome(apiKey)).toBe('ok')
    h.advance(10 * MINUTE_MS)
    expect(await outcome(apiKey)).toBe('agent_expired')
    expect((await change(agent.agentId, { expiresAt: null })).agent.expiresAt).toBeNull()
    expect(await outcome(apiKey)).toBe('ok')
  })

  it('has to lie in the future', async () => {
    const { agent } = await make({ expiresAt: inMinutes(10) })
    const noMoments = [
      ...['tomorrow', '2999-02-30T00:00:00Z', '2999-06-30T23:59:60Z', '2999-01-01T00:00:00Z[Asia/Tokyo]'],
      // In UTC these are of the year 10000, which no answer has a place for.
      ...['9999-12-31T23:59:59-01:00', '9999-12-31T23:59:59-23:59'],
    ]
    for (const expiresAt of [inMinutes(-1), inMinutes(0), ...noMoments])
      await expect(change(agent.agentId, { expiresAt })).rejects.toMatchObject({ code: 'validation_failed' })
    await expect(make({ expiresAt: inMinutes(-1) })).rejects.toMatchObject({
      status: 400,
      code: 'validation_failed',
      details: { in: 'body', problems: [{ path: '/expiresAt', problem: 'not in the future' }] },
    })
    const { agent: now } = await manager.client.agents.get({ params: { id: agent.agentId } })
    expect(now).toEqual(agent)
    for (const last of ['9999-12-31T23:59:59.999Z', '9998-12-31T23:59:59-23:59'])
      expect((await change(agent.agentId, { expiresAt: last })).agent.expiresAt).toBe(new Date(last).toISOString())
  })

  it('ends an open stream of events', async () => {
    const { apiKey } = await make({ expiresAt: inMinutes(10) }, ['machine.all'])
    const response = await fetch(`${h.url}/api/v1/machine/events`, { headers: { 'x-api-key': apiKey } })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toMatch(/^: listening/)
    h.advance(10 * MINUTE_MS)
    expect(await reader.read()).toMatchObject({ done: true })
  })
})

describe('an allow-list of networks', () => {
  it('lets in what lies inside, by IPv4, by IPv6 and by IPv4 written as IPv6, and names the address of whoever does not', async () => {
    const networks = ['10.1.0.0/16', '2001:db8:7::/48', '192.0.2.7', '127.0.0.0/8']
    const { agent, apiKey } = await make({ networks })
    expect(agent.networks).toEqual(networks)
    for (const inside of ['10.1.255.255', '::ffff:10.1.2.3', '2001:db8:7:ffff::1', '192.0.2.7', undefined])
      expect([inside, await outcome(apiKey, inside)]).toEqual([inside, 'ok'])
    for (const outside of ['10.2.0.0', '2001:db8:8::1', '192.0.2.8', '::1'])
      expect(await ask(apiKey, outside)).toMatchObject({
        status: 403,
        code: 'network_not_allowed',
        message: `This agent may not be used from ${outside}.`,
        details: { address: outside },
      })
    expect(await ask(apiKey, '::ffff:10.2.3.4')).toMatchObject({ details: { address: '10.2.3.4' } })
  })

  it('is anywhere again once it is emptied, and is written in one spelling', async () => {
    const { agent, apiKey } = await make({ networks: ['2001:0DB8::/32', '2001:db8::/32', '::ffff:10.1.0.0/112'] })
    expect(agent.networks).toEqual(['2001:db8::/32', '10.1.0.0/16'])
    expect(await outcome(apiKey, '203.0.113.9')).toBe('network_not_allowed')
    expect((await change(agent.agentId, { networks: [] })).agent.networks).toEqual([])
    expect(await outcome(apiKey, '203.0.113.9')).toBe('ok')
  })

  it('refuses what is no network, and says which', async () => {
    const { agent } = await make({ networks: ['10.1.0.0/16'] })
    for (const bad of ['10.1.2.3/8', '10.1', 'example.com', '10.1.0.0/33', '1::2::3', '::1%eth0'])
      await expect(change(agent.agentId, { networks: ['10.1.0.0/16', bad] })).rejects.toMatchObject({
        status: 400,
        code: 'validation_failed',
        details: { in: 'body', problems: [{ path: '/networks/1', problem: expect.any(String) }] },
      })
    const many = Array.from({ length: 33 }, (_, i) => `10.${i}.0.0/16`)
    await expect(change(agent.agentId, { networks: many })).rejects.toMatchObject({ code: 'validation_failed' })
    expect((await manager.client.agents.get({ params: { id: agent.agentId } })).agent).toEqual(agent)
    expect((await change(agent.agentId, { networks: many.slice(0, 32) })).agent.networks).toHaveLength(32)
  })
})

describe('limits', () => {
  it('are the agent’s: another key has them too, and what is not named stays', async () => {
    const { agent, apiKey } = await make({ expiresAt: inMinutes(60), networks: ['10.1.0.0/16'] })
    const rotated = await manager.client.agents.regenerateApiKey({ params: { id: agent.agentId } })
    expect(rotated.agent).toMatchObject({ expiresAt: agent.expiresAt, networks: agent.networks })
    const key = rotated.apiKey ?? ''
    expect([await outcome(key, '10.1.2.3'), await outcome(key, '10.2.0.1')]).toEqual(['ok', 'network_not_allowed'])
    const { agent: renamed } = await manager.client.agents.update({
      params: { id: agent.agentId },
      body: { name: 'named anew' },
    })
    expect(renamed).toMatchObject({ expiresAt: agent.expiresAt, networks: agent.networks })
    h.advance(60 * MINUTE_MS)
    expect(await outcome(key, '10.1.2.3')).toBe('agent_expired')
    expect(await outcome(apiKey, '10.1.2.3')).toBe('invalid_api_key')
  })

  it('tell a stranger nothing: with a wrong secret an expired agent and a foreign address are an invalid key', async () => {
    const { apiKey } = await make({ expiresAt: inMinutes(1), networks: ['10.1.0.0/16'] })
    const wrong = `${apiKey.split('.')[0]}.${makeApiKey(h.deps.pepper).apiKey.split('.')[1]}`
    expect(await outcome(wrong, '203.0.113.9')).toBe('invalid_api_key')
    h.advance(MINUTE_MS)
    expect(await outcome(wrong, '10.1.2.3')).toBe('invalid_api_key')
  })

  it('are recorded when they change, and so is who comes against them', async () => {
    const { agent, apiKey } = await make({ networks: ['10.1.0.0/16'] })
    await change(agent.agentId, { expiresAt: null, networks: ['10.2.0.0/16'] })
    await outcome(apiKey, '10.1.2.3')
    const [created, changed, refused] = await events(agent.agentId)
    expect(created).toMatchObject({ action: 'agent.create', metadata: { networks: ['10.1.0.0/16'], expiresAt: null } })
    expect(changed).toMatchObject({ action: 'agent.update', metadata: { expiresAt: null, networks: ['10.2.0.0/16'] } })
    expect(refused).toMatchObject({ outcome: 'refused', error_code: 'network_not_allowed', ip: '10.1.2.3' })
  })

  it('are not seen or changed from another organisation, nor changed without the right to write agents', async () => {
    const { agent } = await make({ networks: ['10.1.0.0/16'] })
    const reader = await h.agent(acme, ['machine.agent.read'], ROLE)
    const roleless = await h.agent(acme, ['machine.all'])
    const body = { networks: [] }
    expect(await codeOf(foreign.client.agents.get({ params: { id: agent.agentId } }))).toBe('agent_not_found')
    expect(await codeOf(change(agent.agentId, body, foreign))).toBe('agent_not_found')
    expect(await codeOf(change(agent.agentId, body, reader))).toBe('machine_permission_denied')
    expect(await codeOf(change(agent.agentId, body, roleless))).toBe('role_required')
    expect((await manager.client.agents.get({ params: { id: agent.agentId } })).agent).toEqual(agent)
  })

  it('are changed by a person who manages agents', async () => {
    const { agent } = await make({ networks: ['10.1.0.0/16'] })
    const { client } = await seedSession(h, acme, [], ROLE)
    const { agent: now } = await client.agents.update({
      params: { id: agent.agentId },
      body: { networks: ['10.2.0.0/16'] },
    })
    expect(now.networks).toEqual(['10.2.0.0/16'])
  })
})

describe('an agent with limits that may write agents', () => {
  const NETWORKS = ['127.0.0.0/8', '10.1.0.0/16']
  const writer = () => make({ expiresAt: inMinutes(600), networks: NETWORKS }, ['machine.all'])

  it('narrows its own, and cannot widen them', async () => {
    const { agent, client } = await writer()
    const params = { id: agent.agentId }
    for (const [body, limits] of [
      [{ expiresAt: null }, ['expiresAt']],
      [{ expiresAt: inMinutes(601) }, ['expiresAt']],
      [{ networks: [] }, ['networks']],
      [{ networks: ['127.0.0.0/8', '10.0.0.0/8'] }, ['networks']],
      [{ expiresAt: null, networks: ['203.0.113.9'] }, ['expiresAt', 'networks']],
    ] as const)
      await expect(client.agents.update({ params, body: body as never })).rejects.toMatchObject({
        status: 403,
        code: 'cannot_grant',
        details: { limits },
      })
    expect((await manager.client.agents.get({ params })).agent).toEqual(agent)
    const narrower = { expiresAt: inMinutes(60), networks: ['127.0.0.1'] }
    expect((await client.agents.update({ params, body: narrower })).agent).toMatchObject(narrower)
  })

  it('makes no agent with more room, gives none to another, and takes no key of one that has it', async () => {
    const { agent, client } = await writer()
    const { agent: free } = await make({})
    const { agent: other } = await make({ expiresAt: inMinutes(60), networks: ['10.1.2.0/24'] })
    const body = { name: 'way out', permissions: [] }
    expect(await codeOf(client.agents.create({ body }))).toBe('cannot_grant')
    expect(await codeOf(client.agents.create({ body: { ...body, networks: ['10.1.0.0/16'] } }))).toBe('cannot_grant')
    expect(await codeOf(client.agents.regenerateApiKey({ params: { id: free.agentId } }))).toBe('cannot_grant')
    const wider = { params: { id: other.agentId }, body: { networks: ['10.0.0.0/8'] } }
    expect(await codeOf(client.agents.update(wider))).toBe('cannot_grant')
    expect((await manager.client.agents.get({ params: { id: other.agentId } })).agent).toEqual(other)

    const within = { ...body, expiresAt: agent.expiresAt ?? '', networks: ['10.1.0.0/16'] }
    expect((await client.agents.create({ body: within })).agent.networks).toEqual(['10.1.0.0/16'])
    // What is taken away from another one needs not be held.
    const narrowed = await client.agents.update({ params: { id: free.agentId }, body: { networks: ['203.0.113.9'] } })
    expect(narrowed.agent.networks).toEqual(['203.0.113.9'])
  })
})
