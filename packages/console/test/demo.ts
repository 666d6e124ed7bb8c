import { acceptInvite, makeUserInvite, memoryTrust, Strongroom } from '@strongroom/sdk'
import { keysOf, type TestServer } from '../../sdk/test/engine/server.ts'
import { type DemoMoney, fillMoney } from './demo-money.ts'

// An organisation that has something to show: vaults with secrets, agents that have read them, a project, people, money.

export interface Demo extends DemoMoney {
  readonly strongroom: Strongroom
  readonly prodId: string
  readonly stagingId: string
  /** In prod, with fields of both kinds and a file. */
  readonly itemId: string
  readonly agentId: string
  readonly otherAgentId: string
  readonly projectId: string
}

const env = (label: string, value: string) => ({ label, value, isEnvironmentVariable: true })

async function fillVaults(strongroom: Strongroom): Promise<Pick<Demo, 'prodId' | 'stagingId' | 'itemId'>> {
  const prod = await strongroom.vaults.create({ name: 'prod', classification: 'restricted' })
  const staging = await strongroom.vaults.create({ name: 'staging', classification: 'internal' })
  await strongroom.vaults.create({ name: 'marketing site', classification: 'public' })
  await strongroom.items.create(prod.vaultId, {
    name: 'database',
    website: 'https://db.northwind.example',
    fields: [env('DATABASE_URL', 'postgres://shop:s3cret@db/shop'), env('DATABASE_POOL', '20')],
  })
  const { itemId } = await strongroom.items.create(prod.vaultId, {
    name: 'stripe',
    website: 'https://dashboard.stripe.com',
    fields: [env('STRIPE_KEY', 'sk_test_demo'), { label: 'note', value: 'rotated every quarter' }],
  })
  await strongroom.items.create(staging.vaultId, {
    name: 'database',
    fields: [env('DATABASE_URL', 'postgres://shop:other@db/staging'), env('DEBUG', 'true')],
  })
  await strongroom.attachments.upload(prod.vaultId, itemId, new TextEncoder().encode('a certificate'), {
    name: 'webhook-signing.pem',
  })
  return { prodId: prod.vaultId, stagingId: staging.vaultId, itemId }
}

/** Somebody who waits for a signature, somebody who has not answered yet, and a group. */
async function fillPeople({ url, founder }: TestServer): Promise<void> {
  const { tenantId } = founder
  const bob = await makeUserInvite(founder, { email: 'bob@northwind.example', name: 'Bob Ray', tenantId })
  await acceptInvite({ baseUrl: url, link: bob.link, passphrase: 'a passphrase of bob', keys: keysOf('bob') })
  await makeUserInvite(founder, { email: 'carol@northwind.example', name: 'Carol Lind', tenantId })
  const group = await founder.client.groups.create({ body: { tenantId, name: 'on call' } })
  await founder.client.groups.setTenantRoles({
    params: { id: group.groupId },
    body: { tenantRoles: [{ tenantId, role: 'TENANT_AGENT_MANAGER' }] },
  })
}

/** What Alice works with. */
export const clientOf = ({ url, founder }: TestServer): Strongroom =>
  new Strongroom({
    server: url,
    accessToken: founder.accessToken,
    privateKey: founder.exportPem().reveal(),
    trustAnchor: founder.trustAnchor,
    // Servers of tests are copies with logs of their own: what one was seen to say is not kept for another.
    trustStore: memoryTrust(),
    cache: false,
  })

export async function seedDemo(server: TestServer): Promise<Demo> {
  const strongroom = clientOf(server)
  const { prodId, stagingId, itemId } = await fillVaults(strongroom)
  const created = await strongroom.agents.create({
    name: 'checkout-bot',
    description: 'Takes payments in the shop',
    keys: { material: keysOf('deploy') },
    vaults: [{ vault: prodId, role: 'read' }],
  })
  const ci = await strongroom.agents.create({
    name: 'ci',
    keys: { material: keysOf('worker') },
    vaults: [{ vault: stagingId, role: 'write' }],
  })
  const bot = new Strongroom({ bundle: created.bundle.reveal(), trustStore: memoryTrust(), cache: false })
  await bot.secrets.env({ vault: prodId })
  // What it may not do is in the audit as well.
  await bot.budgets.list().catch(() => undefined)
  await strongroom.budgets.create({
    subjectType: 'agent',
    subjectId: created.agent.agentId,
    name: 'Payments tools',
    windows: [{ kind: 'monthly', limit: { amount: '25000000', currency: 'USD', scale: 6 } }],
  })
  await fillPeople(server)
  const project = await strongroom.projects.create({ name: 'shop', vaults: [prodId, stagingId] })
  const spent = await fillMoney(server, strongroom)
  const agents = { agentId: created.agent.agentId, otherAgentId: ci.agent.agentId }
  return { strongroom, prodId, stagingId, itemId, ...agents, projectId: project.id, ...spent }
}
