import type { agents } from '@strongroom/contract'
import { record } from '../../audit/record.ts'
import { type TxCtx, transact } from '../../context.ts'
import { found } from '../../errors.ts'
import type { Handler } from '../../http/mount.ts'
import { ensureCanGive } from './grants.ts'
import { ensureTenants, openAgent } from './open.ts'
import * as roleStore from './role-store.ts'
import * as store from './store.ts'

async function rolesOf({ db, principal }: TxCtx, agentId: string) {
  const { orgId } = principal
  return {
    direct: await roleStore.directRoles(db, orgId, agentId),
    inherited: await roleStore.inheritedRoles(db, orgId, agentId),
  }
}

export const tenantRoles: Handler<typeof agents.tenantRoles> = (ctx, { params }) =>
  transact(ctx, async (ctx) => {
    const { agentId } = found(await store.agent(ctx.db, ctx.principal, params.id), 'agent_not_found')
    return rolesOf(ctx, agentId)
  })

export const replaceTenantRoles: Handler<typeof agents.replaceTenantRoles> = (ctx, { params, body }) =>
  transact(ctx, async (ctx) => {
    const { orgId } = ctx.principal
    const { agentId } = await openAgent(ctx, params.id)
    const direct = await roleStore.directRoles(ctx.db, orgId, agentId)
    const added = body.tenantRoles.filter(
      ({ tenantId, role }) => !direct.some((held) => held.tenantId === tenantId && held.role === role),
    )
    ensureCanGive(ctx.principal, { tenantRoles: added })
    await ensureTenants(ctx, added)
    await roleStore.replaceDirectRoles(ctx.db, orgId, agentId, body.tenantRoles)

    await record(ctx, {
      action: 'agent.replace-tenant-roles',
      targets: [{ type: 'agent', id: agentId }],
      metadata: { tenantRoles: body.tenantRoles },
    })
    return rolesOf(ctx, agentId)
  })
