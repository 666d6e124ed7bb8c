import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../test/harness.ts'
import { readConfig } from '../config.ts'
import { inOrg } from '../context.ts'
import { FAILURES_PER_ADDRESS } from './rate-limit.ts'

// Who a request comes from, with and without proxies of the operator. Catches: a header that anybody can write taken for an address, the
// left-most address taken instead of the last one that is no proxy, a limit of failures that all clients of a proxy share, metrics that
// open up because a proxy is trusted. Seen red: every peer trusted, the left-most address, rate limits by the connection, the address
// of the audit row by the connection, what is no address taken as one.

const PROXY = '127.0.0.1'
const STRANGER = '127.0.0.2'
const CLIENT = '203.0.113.9'

const proxies = (text: string) => readConfig({ STRONGROOM_TRUSTED_PROXIES: text }, []).trustedProxies

let behind: Harness
let alone: Harness
beforeAll(async () => {
  behind = await startHarness({ trustedProxies: proxies(`${PROXY}, 10.9.0.0/16`) })
  alone = await startHarness()
})
afterAll(async () => {
  await behind.close()
  await alone.close()
})

interface Asked {
  readonly peer?: string
  readonly forwardedFor?: string
  readonly apiKey?: string
  readonly path?: string
}

/** Over a connection from the named loopback address. */
const ask = (h: Harness, { peer = PROXY, forwardedFor, apiKey, path = '/api/v1/machine/me' }: Asked) =>
  new Promise<{ status: number; address: string | undefined }>((resolve, reject) => {
    const headers = {
      ...(apiKey !== undefined && { 'x-api-key': apiKey }),
      ...(forwardedFor !== undefined && { 'x-forwarded-for': forwardedFor }),
    }
    const call = request(`${h.url}${path}`, { localAddress: peer, headers, agent: false }, async (answer) => {
      const chunks: Buffer[] = []
      for await (const chunk of answer) chunks.push(chunk as Buffer)
      const text = Buffer.concat(chunks).toString()
      const { error } = (text.startsWith('{') ? JSON.parse(text) : {}) as { error?: { details?: { address?: string } } }
      resolve({ status: answer.statusCode ?? 0, address: error?.details?.address })
    })
    call.once('error', reject)
    call.end()
  })

/** The address that the server names when it refuses it; time passes so that none is slowed down. */
async function seenBy(h: Harness, asked: Asked): Promise<string | undefined> {
  const { apiKey } = await limited(h)
  h.advance(6000)
  return (await ask(h, { ...asked, apiKey })).address
}

async function limited(h: Harness) {
  const org = await h.org('acme')
  const agent = await h.agent(org, [])
  await inOrg(h.deps, org.orgId, (db) =>
    db
      .updateTable('agent')
      .set({ networks: ['192.0.2.1'] })
      .execute(),
  )
  return { ...agent, org }
}

describe('behind proxies of the operator', () => {
  it.each([
    ['the address the proxy names', { forwardedFor: CLIENT }, CLIENT],
    ['the last one that is no proxy', { forwardedFor: `192.0.2.1, ${CLIENT}, 10.9.8.7` }, CLIENT],
    ['the last one, whatever a client has put before it', { forwardedFor: `192.0.2.1, 10.9.8.7, ${CLIENT}` }, CLIENT],
    ['one of IPv6, in one spelling', { forwardedFor: '2001:0DB8:0::7' }, '2001:db8::7'],
    ['IPv4 for what is IPv4 inside IPv6', { forwardedFor: '::ffff:203.0.113.9' }, CLIENT],
    ['the proxy itself where it names nobody', {}, PROXY],
    ['the proxy itself where it names what is no address', { forwardedFor: 'unknown' }, PROXY],
    ['the proxy itself where it names a network', { forwardedFor: '192.0.2.1/32' }, PROXY],
    ['a peer that is no proxy, whatever it says', { peer: STRANGER, forwardedFor: '192.0.2.1' }, STRANGER],
  ])('is %s', async (_, asked, address) => {
    expect(await seenBy(behind, asked)).toBe(address)
  })

  it('is what a list of networks is held against', async () => {
    const { apiKey } = await limited(behind)
    expect((await ask(behind, { apiKey, forwardedFor: '192.0.2.1' })).status).toBe(200)
    expect((await ask(behind, { apiKey, forwardedFor: '192.0.2.1', peer: STRANGER })).status).toBe(403)
    expect((await ask(behind, { apiKey, forwardedFor: `192.0.2.1, ${CLIENT}` })).status).toBe(403)
  })

  it('is what failures are counted for, and what is recorded', async () => {
    const fail = (client: string) => ask(behind, { forwardedFor: client })
    for (let i = 0; i < FAILURES_PER_ADDRESS.burst; i++) expect((await fail('198.51.100.1')).status).toBe(401)
    expect((await fail('198.51.100.1')).status).toBe(429)
    expect((await fail('198.51.100.2')).status).toBe(401)
    const { apiKey, org } = await limited(behind)
    await ask(behind, { apiKey, forwardedFor: CLIENT })
    const rows = await inOrg(behind.deps, org.orgId, (db) => db.selectFrom('audit_event').select('ip').execute())
    expect(rows).toEqual([{ ip: CLIENT }])
  })

  it('opens the metrics to nobody', async () => {
    expect((await ask(behind, { path: '/metrics' })).status).toBe(200)
    for (const forwardedFor of [CLIENT, '127.0.0.1', '::1', '10.9.8.7'])
      expect((await ask(behind, { path: '/metrics', forwardedFor })).status).toBe(404)
  })
})

it('is the peer where no proxy is trusted, whatever it says', async () => {
  expect(await seenBy(alone, { forwardedFor: '192.0.2.1' })).toBe(PROXY)
  expect(await seenBy(alone, { forwardedFor: '192.0.2.1', peer: STRANGER })).toBe(STRANGER)
})

it.each(['0.0.0.0/0', '::/0', '10.1.2.3/8', 'proxy.internal', 'true', '1'])(
  'does not start with %j as a proxy',
  (text) => {
    expect(() => proxies(text)).toThrow(/^STRONGROOM_TRUSTED_PROXIES: /)
  },
)
