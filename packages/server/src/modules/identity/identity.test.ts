import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, startHarness } from '../../../test/harness.ts'

// Catches: a principal of one organisation seen from another, a tenant that is not the agent's own.

let h: Harness
beforeAll(async () => {
  h = await startHarness()
})
afterAll(() => h.close())

it('tells an agent who it is, how it authenticated, and what it holds', async () => {
  const org = await h.org('acme')
  const agent = await h.agent(org, ['machine.vault.read'], ['TENANT_MEMBER'])
  expect(await agent.client.identity.me()).toEqual({
    principal: { type: 'agent', id: `agent:${agent.agentId}`, name: expect.stringContaining('agent ') },
    authMethod: 'api_key',
    org: { orgId: org.orgId },
    tenant: { domainTenantId: org.tenantId },
    agent: { agentId: agent.agentId, name: expect.stringContaining('agent '), domainTenantId: org.tenantId },
    permissions: ['machine.vault.read'],
    orgRoles: [],
    tenantRoles: [{ tenantId: org.tenantId, role: 'TENANT_MEMBER' }],
    globalAdmin: false,
    warnings: [],
  })
})

it('names the tenant of the caller and no other', async () => {
  const acme = await h.org('acme two')
  await h.org('globex')
  const { client } = await h.agent(acme, [])
  expect(await client.identity.tenantContext()).toEqual({
    orgId: acme.orgId,
    domainTenantId: acme.tenantId,
    tenant: { domainTenantId: acme.tenantId, name: 'acme two main', parentId: null },
  })
})
