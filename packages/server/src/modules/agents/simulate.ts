import { API_PREFIX, type agents, type Route } from '@strongroom/contract'
import { record } from '../../audit/record.ts'
import { transact } from '../../context.ts'
import { ApiError, found } from '../../errors.ts'
import { spell } from '../../http/client-address.ts'
import type { Handler } from '../../http/mount.ts'
import { rehearse } from '../../http/rehearse.ts'
import { callerOf } from '../api-keys/service.ts'
import { ensureCanActAs } from './open.ts'
import * as store from './store.ts'

// What a call of an agent would be answered. Whoever may ask could also make a key of the agent and call: they learn nothing here that
// they could not learn so, and the agent keeps the key it has.

function refuse(path: string, problem: string): never {
  throw new ApiError('validation_failed', { details: { in: 'body', problems: [{ path, problem }] } })
}

function readFrom(text: string | undefined): string | undefined {
  return text === undefined ? undefined : spell(text) || refuse('/from', 'not an address')
}

/** A path has all of its parts and no other. */
function ensureParts({ params }: Route, given: Readonly<Record<string, string>>): void {
  const names = Object.keys(params?.properties ?? {})
  for (const name of names) if (!(name in given)) refuse(`/params/${name}`, 'missing: the path has it')
  for (const name of Object.keys(given)) if (!names.includes(name)) refuse(`/params/${name}`, 'not in the path')
}

/** At one moment, and without a lock: nobody who changes the agent or calls as it waits for this. */
export const simulate: Handler<typeof agents.simulate> = (ctx, { params: { id }, body }) =>
  transact(
    ctx,
    async (ctx) => {
      const { call: name, params = {}, query = {} } = body
      const agent = found(await store.agent(ctx.db, ctx.principal, id), 'agent_not_found')
      if (agent.status !== 'active') throw new ApiError('agent_archived')
      const { agentId, permissions, expiresAt, networks, accessKey } = agent
      await ensureCanActAs(ctx, { agentId, permissions, expiresAt, networks })
      const mounted = found(ctx.mounted(name), 'route_not_found')
      const { route } = mounted
      ensureParts(route, params)
      const from = readFrom(body.from)

      const caller = await callerOf(ctx, accessKey)
      const met = await rehearse(ctx, { ...mounted, name, params, query, from, caller })
      const { outcome, status, refusal } = met
      await record(ctx, {
        action: 'agent.simulate',
        targets: [{ type: 'agent', id: agentId }],
        metadata: { call: name, outcome, status, code: refusal?.code ?? null },
      })
      return { call: name, method: route.method, path: API_PREFIX[route.api] + route.path, ...met }
    },
    { atOneMoment: true },
  )
