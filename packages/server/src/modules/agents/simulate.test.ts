import { API_PREFIX, type agents, api, callsOf, type Input, type Route } from '@strongroom/contract'
import { createClient, type FirstPerson } from '@strongroom/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentWriter } from '../../../test/agent-writer.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { changesBetween, openState, type State } from '../../../test/matrix/state.ts'
import { codeOf, foundOrg } from '../../../test/people.ts'
import { edit, makeVault, type Writer, writeItems } from '../../../test/vault-writer.ts'
import { readConfig } from '../../config.ts'
import { inOrg, type Principal, type TxCtx } from '../../context.ts'
import type { Mounted } from '../../http/mounted.ts'
import { rehearse } from '../../http/rehearse.ts'

// Catches: a simulation that says something else than the call itself is answered, that leaves anything behind, that is counted or
// recorded as the agent's, that shows what was read, that tells somebody more than they could learn by acting as the agent, that waits
// for a second connection. Seen red: the savepoint kept instead of rolled back, the handler run as whoever asks, the expiry, the networks,
// the permission or the input not looked at, what the agent holds not compared with what the caller holds, the audit row left out or with
// the query in it, a handler that is given the real database, an upload or a stream that is begun, the key looked up on another connection.

// This file's proxy is the test itself: without the header a request comes from 127.0.0.1, with it from wherever it says.
const PROXIES = readConfig({ STRONGROOM_TRUSTED_PROXIES: '127.0.0.1' }, [])
const MINUTE_MS = 60_000
const ROLE = ['TENANT_AGENT_MANAGER']

type Asked = Input<typeof agents.simulate>['body']

let h: Harness
let alice: FirstPerson
let manager: TestAgent
let foreign: TestAgent
let bot: TestAgent & Writer
let state: State
let vaultId: string
let closedVaultId: string
beforeAll(async () => {
  h = await startHarness({ trustedProxies: PROXIES.trustedProxies })
  state = await openState(h)
  alice = await foundOrg(h)
  manager = await h.agent(alice, ['machine.all'], ROLE)
  foreign = await h.agent(await h.org('globex'), ['machine.all'], ROLE)
  bot = await agentWriter(h, alice, 'deploy')
  vaultId = await makeVault(alice, { with: [{ identity: bot.identity, role: 'read' }] })
  closedVaultId = await makeVault(alice, { name: 'closed' })
  await writeItems(alice, vaultId, [edit('itm_env', { TOKEN: 'canary-of-the-vault' })])
})
afterAll(async () => {
  await state.close()
  await h.close()
})

const simulate = (agentId: string, body: Asked, by: TestAgent = manager) =>
  by.client.agents.simulate({ params: { id: agentId }, body })

let made = 0
async function make(limits: { expiresAt?: string; networks?: string[] }, permissions: 'machine.vault.read'[] = []) {
  const { agent, apiKey } = await manager.client.agents.create({
    body: { name: `simulated ${made++}`, permissions, ...limits },
  })
  return { agentId: agent.agentId, apiKey: apiKey ?? '' }
}

const routes = callsOf(api)
const routeOf = (call: string): Route => routes.get(call) ?? expect.fail(`no call ${call}`)

/** The call itself, with the agent's key. */
async function ask(apiKey: string, { call, params = {}, query = {}, from }: Asked) {
  const route = routeOf(call)
  const path = route.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  const response = await fetch(`${h.url}${API_PREFIX[route.api]}${path}?${new URLSearchParams(query)}`, {
    method: route.method,
    headers: { 'x-api-key': apiKey, ...(from !== undefined && { 'x-forwarded-for': from }) },
  })
  const { error } = (await response.json()) as { error?: { code: string; message: string; details?: object } }
  // Refusals are counted against the address and the key; time passes so that none is slowed down.
  h.advance(6000)
  return { status: response.status, code: error?.code ?? null, message: error?.message, details: error?.details }
}

async function told(agentId: string, asked: Asked) {
  const { status, refusal } = await simulate(agentId, asked)
  return { status, code: refusal?.code ?? null, message: refusal?.message, details: refusal?.details }
}

const resultsOf = ({ checks }: Awaited<ReturnType<typeof simulate>>) =>
  Object.fromEntries(checks.map(({ check, result }) => [check, result]))

const ENVIRONMENT = 'vaults.environmentFields'

describe('tells what the call would meet', () => {
  it('passes every check in their order, with the status and nothing of the answer', async () => {
    const answer = await simulate(bot.agentId, { call: ENVIRONMENT, params: { vaultId }, from: '203.0.113.9' })
    expect(answer).toEqual({
      call: ENVIRONMENT,
      method: 'GET',
      path: '/api/v1/machine/vault/:vaultId/environment-fields',
      outcome: 'answered',
      status: 200,
      checks: ['key', 'expiry', 'network', 'permission', 'input', 'service'].map((check) => ({
        check,
        result: 'passed',
      })),
      refusal: null,
    })
    expect(JSON.stringify(answer)).not.toContain('canary')
  })

  it('refuses an agent whose time is over, by that and by nothing behind it', async () => {
    const expiresAt = new Date(h.deps.now().getTime() + MINUTE_MS).toISOString()
    const { agentId, apiKey } = await make({ expiresAt })
    expect(await simulate(agentId, { call: 'agents.me' })).toMatchObject({ outcome: 'answered' })
    h.advance(MINUTE_MS)
    const answer = await simulate(agentId, { call: 'agents.me' })
    expect(answer).toMatchObject({ outcome: 'refused', status: 401, refusal: { details: { expiresAt } } })
    const rest = { network: 'not_tried', permission: 'not_tried', input: 'not_tried', service: 'not_tried' }
    expect(resultsOf(answer)).toEqual({ key: 'passed', expiry: 'refused', ...rest })
    expect(await told(agentId, { call: 'agents.me' })).toEqual(await ask(apiKey, { call: 'agents.me' }))
  })

  it('judges the address that is named, and none where none is', async () => {
    const { agentId, apiKey } = await make({ networks: ['10.1.0.0/16'] })
    expect(await simulate(agentId, { call: 'agents.me' })).toMatchObject({ outcome: 'admitted', status: null })
    for (const from of ['10.1.2.3', '10.2.0.1', '::ffff:10.1.2.3', '::ffff:10.2.3.4', '2001:db8::1']) {
      const asked = { call: 'agents.me', from }
      expect([from, await told(agentId, asked)]).toEqual([from, await ask(apiKey, asked)])
    }
    for (const from of ['10.1.0.0/16', 'localhost', '10.1.2'])
      await expect(simulate(agentId, { call: 'agents.me', from })).rejects.toMatchObject({
        status: 400,
        code: 'validation_failed',
        details: { in: 'body', problems: [{ path: '/from', problem: 'not an address' }] },
      })
  })

  it('names the permission that is missing', async () => {
    const { agentId } = await make({})
    const answer = await simulate(agentId, { call: ENVIRONMENT, params: { vaultId } })
    expect(answer).toMatchObject({
      outcome: 'refused',
      refusal: {
        status: 403,
        code: 'machine_permission_denied',
        message: expect.any(String),
        hint: expect.any(String),
        details: { permission: 'machine.vault.secret.read' },
      },
    })
    expect(resultsOf(answer)).toMatchObject({ network: 'passed', permission: 'refused', input: 'not_tried' })
  })

  it('admits a write without promising anything, and judges its path all the same', async () => {
    const write = { call: 'items.archive', params: { vaultId, itemId: 'itm_env' } }
    const answer = await simulate(bot.agentId, write)
    expect(answer).toMatchObject({ outcome: 'admitted', status: null, refusal: null })
    expect(answer.checks.at(-1)).toEqual({
      check: 'service',
      result: 'not_tried',
      reason: expect.stringContaining('The call writes, and is not tried'),
    })
    const malformed = { ...write, params: { vaultId: 'no id!', itemId: 'itm_env' } }
    expect(resultsOf(await simulate(bot.agentId, malformed))).toMatchObject({ permission: 'passed', input: 'refused' })
  })

  it('refuses an agent that has no active key', async () => {
    const { agentId } = await make({})
    await state.query("update api_key set status = 'revoked' where agent_id = $1", [agentId])
    const answer = await simulate(agentId, { call: 'agents.me' })
    expect(answer).toMatchObject({ status: 401, refusal: { code: 'invalid_api_key' } })
    expect(resultsOf(answer)).toMatchObject({ key: 'refused', expiry: 'not_tried' })
  })

  it('knows no call that is not in the contract, and takes exactly the parts of its path', async () => {
    for (const call of ['vaults.nothing', 'nothing.list', 'toString.call'])
      expect(await codeOf(simulate(bot.agentId, { call }))).toBe('route_not_found')
    for (const params of [undefined, {}, { vaultId, itemId: 'itm_env' }])
      expect(await codeOf(simulate(bot.agentId, { call: 'vaults.get', ...(params && { params }) }))).toBe(
        'validation_failed',
      )
  })
})

/** Values for what paths and queries name; what is not here is of nothing that exists. */
const VALUES: Readonly<Record<string, () => string>> = {
  vaultId: () => vaultId,
  itemId: () => 'itm_env',
  itemVersion: () => '1',
  index: () => '0',
  level: () => '0',
  hash: () => 'a'.repeat(64),
  start: () => '0',
  end: () => '1',
  name: () => `vault:${vaultId}`,
  domain: () => 'example.com',
}
const textsFor = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, VALUES[name]?.() ?? 'absent_1']))

const reads = [...routes].filter(([, { method }]) => method === 'GET')
const UNTRIED = ['attachments.initialize', 'attachments.upload', 'domains.check', 'domains.records', 'events.stream']
const OUTSIDE = 'The call reads outside of the organisation, and is not tried.'
const PUBLIC = ['invites.show', 'setup.status', 'sharedItems.view']

function askedOf(call: string, { params, query }: Route): Asked {
  const { required = [] } = (query ?? {}) as { required?: string[] }
  return { call, params: textsFor(Object.keys(params?.properties ?? {})), query: textsFor(required) }
}

describe('every read of the contract', () => {
  const traces = (agentId: string) =>
    state.query(
      `select action as what from audit_event where actor_id = $1 union all
       select route from request_event where principal = $1 union all
       select route from metric_minute where principal = $1`,
      [`agent:${agentId}`],
    )

  it('is simulated without a trace: no row changes, nothing is recorded as the agent’s, nothing hangs', async () => {
    const weak = await make({})
    const [before, known] = [await state.digest(), await traces(bot.agentId)]
    const untried: [string, string | undefined][] = []
    for (const [call, route] of reads) {
      const { outcome, checks } = await simulate(bot.agentId, askedOf(call, route))
      if (outcome === 'admitted') untried.push([call, checks.at(-1)?.reason])
      await simulate(weak.agentId, askedOf(call, route))
    }
    expect(changesBetween(before, await state.digest())).toEqual([])
    expect(await traces(bot.agentId)).toEqual(known)
    expect(await traces(weak.agentId)).toEqual([])
    expect(Object.fromEntries(untried)).toEqual({
      ...Object.fromEntries(UNTRIED.map((call) => [call, expect.stringMatching(/object storage|name server|goes on/)])),
      ...Object.fromEntries(PUBLIC.map((call) => [call, OUTSIDE])),
    })
  })

  it('is told as the call itself is answered, for an agent that may and for one that may not', async () => {
    const weak = await make({})
    const tried = reads.filter(([call]) => ![...UNTRIED, ...PUBLIC].includes(call))
    for (const [call, route] of tried) {
      const asked = askedOf(call, route)
      for (const { agentId, apiKey } of [bot, weak])
        expect([call, await told(agentId, asked)]).toEqual([call, await ask(apiKey, asked)])
    }
  })

  it('is told alike where the vault is closed, of nobody, or written wrongly, and where the query is', async () => {
    const cases: Asked[] = ['vaults.get', ENVIRONMENT, 'items.list', 'keys.wrapped'].flatMap((call) => [
      ...[closedVaultId, 'vlt_absent', 'no id!'].map((vaultId) => ({ call, params: { vaultId } })),
      { call, params: { vaultId }, query: { nothing: 'x' } },
    ])
    cases.push({ call: 'vaults.list', query: { limit: '101' } }, { call: 'vaults.list', query: { page: 'one' } })
    for (const asked of cases)
      expect([asked, await told(bot.agentId, asked)]).toEqual([asked, await ask(bot.apiKey, asked)])
  })
})

describe('tells nobody more than they could learn as the agent', () => {
  it('does not find an agent of another organisation, and none that is archived', async () => {
    expect(await codeOf(simulate(bot.agentId, { call: 'agents.me' }, foreign))).toBe('agent_not_found')
    const { agentId } = await make({})
    await manager.client.agents.archive({ params: { id: agentId } })
    expect(await codeOf(simulate(agentId, { call: 'agents.me' }))).toBe('agent_archived')
  })

  it('refuses whoever holds less than the agent, except the agent itself', async () => {
    const lesser = await h.agent(alice, ['machine.agent.all'], ROLE)
    await expect(simulate(bot.agentId, { call: 'nothing.list' }, lesser)).rejects.toMatchObject({
      code: 'cannot_grant',
      details: { permissions: ['machine.all'] },
    })
    expect(await simulate(lesser.agentId, { call: 'agents.me' }, lesser)).toMatchObject({ outcome: 'answered' })
    const narrow = await make({ networks: ['127.0.0.0/8'] })
    await manager.client.agents.update({ params: { id: narrow.agentId }, body: { permissions: ['machine.agent.all'] } })
    await manager.client.agents.replaceTenantRoles({
      params: { id: narrow.agentId },
      body: { tenantRoles: [{ tenantId: alice.tenantId, role: 'TENANT_AGENT_MANAGER' }] },
    })
    const client = createClient({ baseUrl: h.url, apiKey: narrow.apiKey })
    const free = await make({})
    await expect(simulate(free.agentId, { call: 'agents.me' }, { ...narrow, client })).rejects.toMatchObject({
      code: 'cannot_grant',
      details: { limits: ['networks'] },
    })
  })

  it('records that it was asked, by whom and about which call, and nothing of what was sent', async () => {
    await simulate(bot.agentId, { call: 'vaults.list', query: { nothing: 'canary-of-the-query' } })
    const [row] = await state.query(
      "select * from audit_event where action = 'agent.simulate' order by seq desc limit 1",
    )
    expect(row).toMatchObject({
      actor_id: `agent:${manager.agentId}`,
      outcome: 'success',
      targets: [{ type: 'agent', id: bot.agentId }],
      metadata: { call: 'vaults.list', outcome: 'refused', status: 400, code: 'validation_failed' },
    })
    expect(JSON.stringify(row)).not.toContain('canary')
  })
})

it('does not run on in a handler that reaches for another connection', async () => {
  const { agentId } = bot
  const principal = {
    id: `agent:${agentId}`,
    type: 'agent',
    orgId: alice.orgId,
    permissions: [],
  } as unknown as Principal
  const call = { name: 'sample.read', route: routeOf('agents.me'), params: {}, query: {}, from: undefined }
  const reaching: Mounted['handle'][] = [
    (ctx) => inOrg(ctx, alice.orgId, async () => 'read elsewhere'),
    (ctx) => ctx.database.pool.query('select 1'),
    (ctx) => ctx.database.findKey('sra_absent'),
    (ctx) => ctx.connection(),
  ]
  for (const handle of reaching) {
    const met = await inOrg(h.deps, alice.orgId, (db) => {
      const ctx = { ...h.deps, db, principal, request: {} } as unknown as TxCtx
      return rehearse(ctx, { ...call, handle, caller: () => principal })
    })
    expect(met).toMatchObject({ outcome: 'admitted', refusal: null })
    expect(met.checks.at(-1)).toEqual({ check: 'service', result: 'not_tried', reason: OUTSIDE })
  }
})

it('answers more simulations at once than there are connections', async () => {
  const many = h.deps.config.poolSize * 3
  const asked = [{ call: ENVIRONMENT, params: { vaultId } }, { call: 'sync.sync' }, { call: 'events.stream' }]
  const answers = await Promise.all(
    Array.from({ length: many }, (_, i) => simulate(bot.agentId, asked[i % asked.length] as Asked)),
  )
  const told = new Set(answers.map(({ call, outcome }) => `${call} ${outcome}`))
  expect([...told].sort()).toEqual(['events.stream admitted', 'sync.sync answered', `${ENVIRONMENT} answered`])
})
