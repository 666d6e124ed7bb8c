import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { INSIDE_ADDRESSES, REFUSED_URLS } from '../../../test/egress-cases.ts'
import { type Harness, startHarness, type TestAgent } from '../../../test/harness.ts'
import { type NameServer, startNameServer } from '../../../test/name-server.ts'
import { inOrg } from '../../context.ts'
import { emit } from '../../outbox/outbox.ts'
import { deliverAll } from './background.ts'

// Every address that nobody may be sent to, at the three moments somebody could be: when an endpoint is made, tested and told. Judged by the
// connections that a listener on this machine sees, and by what the answers say. Catches: a moment that does without the guard.

const POLICY = { allowed: [], ownHosts: ['vault.acme.dev'] }

let h: Harness
let names: NameServer
let inside: Server
let port: number
let seen = 0
let org: { readonly orgId: string; readonly tenantId: string }
let agent: TestAgent
beforeAll(async () => {
  names = await startNameServer()
  h = await startHarness({ egress: { ...POLICY, nameServers: [names.address] } })
  inside = createServer((socket) => {
    seen += 1
    socket.destroy()
  })
  inside.listen(0, '::')
  await once(inside, 'listening')
  port = (inside.address() as { port: number }).port
  org = await h.org('acme')
  agent = await h.agent(org, ['machine.webhook.all', 'machine.budget.read'])
})
afterAll(async () => {
  await h.close()
  names.close()
  inside.close()
})

const create = async (url: string): Promise<{ readonly status: number; readonly code: string }> => {
  const answer = await fetch(`${h.url}/api/v1/machine/webhook`, {
    method: 'POST',
    headers: { 'x-api-key': agent.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ url, eventTypes: ['budget.*'] }),
  })
  const { error } = (await answer.json()) as { error?: { code: string } }
  return { status: answer.status, code: error?.code ?? '' }
}

/** As if it had been let in once: at the other two moments it is looked at again. */
async function errorsAt(urls: readonly string[]): Promise<readonly (string | null | undefined)[]> {
  const { webhookId } = await agent.client.webhooks.create({
    body: { url: 'https://93.184.216.34/hook', eventTypes: ['budget.*'] },
  })
  const params = { id: webhookId }
  const errors: (string | null | undefined)[] = []
  for (const url of urls) {
    await inOrg(h.deps, org.orgId, async (db) => {
      await db.updateTable('webhook_endpoint').set({ url }).where('endpoint_id', '=', webhookId).execute()
      await emit(h.deps, db, org.orgId, { type: 'budget.created', object: { type: 'budget', id: 'bud_1' } })
    })
    await deliverAll(h.deps, h.worker)
    const tested = await agent.client.webhooks.test({ params, body: {} })
    const { data } = await agent.client.webhooks.deliveries({ params, query: { state: 'retrying', page: 1, limit: 1 } })
    errors.push(tested.attempts[0]?.error, data[0]?.attempts[0]?.error)
    // More tests than anybody may make in a minute; and no retry in between.
    await h.worker.pool.query('delete from webhook_delivery')
  }
  await agent.client.webhooks.remove({ params })
  return errors
}

it('goes to none of them, written out or behind a name, whenever it is asked', async () => {
  const cases = INSIDE_ADDRESSES.flatMap((address, i) => {
    names.tell(`n${i}.acme.dev`, [address])
    names.tell(`m${i}.acme.dev`, ['93.184.216.34', address])
    const literal = address.includes(':') ? `[${address}]` : address
    return [literal, `n${i}.acme.dev`, `m${i}.acme.dev`].map((host) => `https://${host}:${port}/hook`)
  })
  for (const url of cases)
    expect([url, await create(url)]).toEqual([url, { status: 422, code: 'webhook_url_forbidden' }])
  const errors = await errorsAt(cases)
  expect(errors).toHaveLength(2 * cases.length)
  expect(new Set(errors)).toEqual(new Set(['address_forbidden']))
  expect(seen).toBe(0)
})

it('takes no address that is written to look like another, whenever it is asked', async () => {
  for (const [url, reason] of REFUSED_URLS) {
    // An empty one has not even the shape of one.
    const code = reason === 'url' ? 'webhook_url_invalid' : 'webhook_url_forbidden'
    expect([url, await create(url)]).toEqual([
      url,
      url === '' ? { status: 400, code: 'validation_failed' } : { status: 422, code },
    ])
  }
  const errors = await errorsAt(REFUSED_URLS.map(([url]) => url))
  expect(new Set(errors)).toEqual(new Set(['address_forbidden']))
  expect(seen).toBe(0)
})
