import type { agents as agentRoutes, Output, Permission } from '@strongroom/contract'
import type { Agent, Agents } from './agents.ts'
import { ConfigError } from './public-errors.ts'
import { Secret } from './secret.ts'

// Agents as the API has them and as callers do. Apart from the surface: whoever only reads secrets does not load it.

export const agentOf = (row: Output<typeof agentRoutes.get>['agent']): Agent => ({
  agentId: row.agentId,
  domainTenantId: row.domainTenantId,
  name: row.name,
  description: row.description,
  status: row.status,
  permissions: row.permissions,
  securityGroups: row.securityGroups,
  expiresAt: row.expiresAt ? new Date(row.expiresAt) : null,
  networks: row.networks,
  createdAt: new Date(row.createdAt),
})

export const changeOf = ({
  permissions,
  securityGroups,
  expiresAt,
  networks,
  ...change
}: Parameters<Agents['update']>[1]) => ({
  ...change,
  ...(permissions && { permissions: [...permissions] as Permission[] }),
  ...(securityGroups && { securityGroups: [...securityGroups] }),
  ...(expiresAt !== undefined && { expiresAt: expiresAt?.toISOString() ?? null }),
  ...(networks && { networks: [...networks] }),
})

/** The API key of an answer; refuses an answer that was given before. */
export function shownOnce(apiKey: string | null, agentId: string): Secret {
  if (apiKey !== null) return new Secret(apiKey, { ref: `API key of agent:${agentId}`, name: 'API key' })
  throw new ConfigError('this call was made before: its API key was shown then, and is not shown twice', {
    code: 'secret_already_shown',
    hint: 'Make a new key with agents.rotateApiKey.',
  })
}
