import type { EventType } from '@strongroom/contract'
import { sql } from 'kysely'
import type { TxCtx } from '../../context.ts'
import { emit } from '../../outbox/outbox.ts'

/** Told to those who work in the tenant of the agent. */
export async function tellOfAgent(
  ctx: TxCtx,
  type: EventType & `agent.${string}`,
  agentId: string,
  status: 'active' | 'archived',
): Promise<void> {
  const { db, principal } = ctx
  const { orgId } = principal
  const { rows } = await sql<{ tenantId: string }>`
    select tenant_id as "tenantId" from agent where org_id = ${orgId} and agent_id = ${agentId}`.execute(db)
  await emit(ctx, db, orgId, {
    type,
    object: { type: 'agent', id: agentId, status, actor: principal.id },
    tenantId: rows[0]?.tenantId ?? null,
    principal: `agent:${agentId}`,
    self: `/api/v1/machine/agent/${agentId}`,
  })
}
