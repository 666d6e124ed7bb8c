import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { money } from '@strongroom/contract'
import type { Strongroom } from '@strongroom/sdk'
import type { TestServer } from '../../sdk/test/engine/server.ts'

// What costs money and who is told: test credit, a licence that was bought, budgets, endpoints with deliveries, a domain.

export interface DemoMoney {
  /** Of a licence that runs. */
  readonly purchaseId: string
  /** It has taken one delivery and refused another. */
  readonly webhookId: string
  /** The one that it has taken. */
  readonly deliveryId: string
}

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Receiver {
  readonly url: string
  /** What came, as it came. */
  readonly received: Received[]
  close(): Promise<void>
}

/** Takes what is sent to it, or answers as it is told. It does not keep the process alive. */
export function startReceiver(answer: (received: Received) => number = () => 204): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const one = { headers: request.headers, body: Buffer.concat(parts).toString() }
    received.push(one)
    response.writeHead(answer(one)).end()
  })
  return new Promise((resolve) => {
    server.unref().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      const close = async (): Promise<void> => {
        server.closeAllConnections()
        await new Promise((done) => server.close(done))
      }
      resolve({ url: `http://127.0.0.1:${port}/strongroom`, received, close })
    })
  })
}

async function fillWebhooks(strongroom: Strongroom): Promise<Pick<DemoMoney, 'webhookId' | 'deliveryId'>> {
  const [chat, audit] = [
    await startReceiver(({ body }) => (body.includes('"type":"budget.') ? 503 : 204)),
    await startReceiver(),
  ]
  const { endpoint } = await strongroom.webhooks.create({
    url: chat.url,
    description: 'Chat of the on-call team',
    eventTypes: ['license.*', 'budget.*', 'domain.*'],
  })
  const { webhookId } = endpoint
  const { deliveryId } = await strongroom.webhooks.test(webhookId)
  await strongroom.webhooks.create({ url: `${audit.url}/audit`, eventTypes: ['*'], signing: 'ed25519' })
  return { webhookId, deliveryId }
}

async function fillDomains({ founder: { client } }: TestServer): Promise<void> {
  const domain = 'northwind.example'
  await client.domains.add({ body: { domain, managed: true } })
  await client.domains.add({ body: { domain: 'nordwind.example', managed: false } })
  const records = [
    { name: domain, type: 'A' as const, content: '192.0.2.10' },
    { name: domain, type: 'MX' as const, content: `mail.${domain}`, priority: 10 },
    { name: `hooks.${domain}`, type: 'CNAME' as const, content: `edge.${domain}`, ttl: 300 },
    { name: domain, type: 'TXT' as const, content: 'v=spf1 mx -all', comment: 'who may send mail' },
  ]
  await client.domains.setRecords({ params: { domain }, body: { records } })
}

export async function fillMoney(server: TestServer, strongroom: Strongroom): Promise<DemoMoney> {
  const webhooks = await fillWebhooks(strongroom)
  await fillDomains(server)
  await strongroom.licenses.testCredit()
  const { orgId } = server.founder
  await strongroom.budgets.create({
    subjectType: 'org',
    subjectId: orgId,
    name: 'Everything',
    windows: [{ kind: 'monthly', limit: money('40000000') }],
  })
  const purchase = await strongroom.licenses.buy({ license: 'sandbox-monthly', vault: { create: 'mailer' } })
  await purchase.wait()
  return { ...webhooks, purchaseId: purchase.id }
}
