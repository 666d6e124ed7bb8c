import type { Identity } from '@strongroom/protocol'
import { identityOf, type KeyName } from './actors.ts'
import type { Harness, TestAgent } from './harness.ts'
import { endorse, type Writer } from './vault-writer.ts'

/** An agent with every permission whose key is in the log: what it may touch is left to access lists. */
export async function agentWriter(
  h: Harness,
  founder: Writer & { readonly tenantId: string },
  key: KeyName,
  permissions: readonly string[] = ['machine.all'],
): Promise<TestAgent & Writer> {
  const { orgId, trustAnchor } = founder
  const agent = await h.agent(founder, permissions)
  const identity: Identity = await identityOf(key, `agent:${agent.agentId}`)
  await founder.client.keys.register({ body: { event: await endorse(founder, identity) } })
  return { ...agent, orgId, identity, trustAnchor }
}
