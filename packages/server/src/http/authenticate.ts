import { type OrgRole, permissionsOfUser, type TenantRole } from '@strongroom/contract'
import { limitsOf } from '../access/limits.ts'
import type { Deps, Principal } from '../context.ts'
import { ApiError } from '../errors.ts'
import { hashToken, isAccessToken, parseApiKey, secretMatches } from '../secrets/credentials.ts'
import { hashWithPepper } from '../secrets/server-secrets.ts'

// Who asks. One round trip per request and no cache of positive answers: a revocation holds from the next request on, in
// every process.

export interface CredentialHeaders {
  readonly apiKey: string | undefined
  readonly authorization: string | undefined
  readonly deviceInstallationId: string | undefined
}

/** A key as it was sent: its secret only as what is compared. */
export interface OfferedKey {
  readonly accessKey: string
  readonly secretHmac: Buffer
}

/** What is known of an API key, of whom it stands for, and of their roles. */
export interface KeyRow {
  readonly orgId: string
  readonly keyId: string
  readonly secretHmac: string
  readonly globalAdmin: boolean
  readonly keyStatus: string
  readonly agent: AgentOfKey | null
  readonly user: UserRow | null
  readonly permissions: string[]
  readonly roles: { tenantId: string; role: TenantRole }[]
}

interface AgentOfKey {
  readonly agentId: string
  readonly tenantId: string
  readonly name: string
  readonly status: string
  readonly permissions: string[]
  readonly limits: { readonly expiresAt: string | null; readonly networks: readonly string[] } | null
}

interface UserRow {
  readonly userId: string
  readonly tenantId: string
  readonly name: string
  readonly status: string
  readonly orgRoles: OrgRole[]
}

interface SessionRow {
  readonly orgId: string
  readonly sessionId: string
  readonly deviceInstallationId: string | null
  readonly live: boolean
  readonly user: UserRow
  readonly roles: { tenantId: string; role: TenantRole }[]
}

export async function authenticate(deps: Deps, headers: CredentialHeaders): Promise<Principal> {
  const { apiKey, authorization } = headers
  if (apiKey !== undefined && authorization !== undefined) throw new ApiError('unauthorized')
  if (apiKey !== undefined) return authenticateKey(deps, apiKey)
  if (authorization !== undefined) return authenticateToken(deps, authorization, headers.deviceInstallationId)
  throw new ApiError('missing_machine_auth')
}

const NOBODY = { agentId: null, userId: null, keyId: null, sessionId: null, accessKey: null } as const

async function authenticateKey(deps: Deps, text: string): Promise<Principal> {
  const key = parseApiKey(text)
  if (!key) throw new ApiError('invalid_api_key')
  const row = await available(deps, () => deps.database.findKey<KeyRow>(key.accessKey))
  return principalOfKey({ accessKey: key.accessKey, secretHmac: hashWithPepper(deps.pepper, key.secret) }, row)
}

/** One body for all that is wrong with a key: malformed, unknown, wrong, rotated, or of somebody who is gone. */
export function principalOfKey({ accessKey, secretHmac }: OfferedKey, row: KeyRow | null): Principal {
  const genuine = secretMatches(secretHmac, row?.secretHmac)
  if (!genuine) throw new ApiError('invalid_api_key')
  return principalBehind(accessKey, row)
}

/** Whom a key stands for, whoever asks: only for somebody who may act as them anyway. */
export function principalBehind(accessKey: string, row: KeyRow | null): Principal {
  if (row?.keyStatus !== 'active') throw new ApiError('invalid_api_key')
  const common = commonOf(row, accessKey)
  if (row.agent) return agentPrincipal(common, row.agent)
  if (row.user) return keyUserPrincipal(common, row.user, row.permissions)
  return operatorPrincipal(common)
}

type Common = Pick<
  Principal,
  'orgId' | 'keyId' | 'accessKey' | 'authMethod' | 'tenantRoles' | 'globalAdmin' | keyof typeof NOBODY
>

const commonOf = ({ orgId, keyId, roles, globalAdmin }: KeyRow, accessKey: string): Common => ({
  ...NOBODY,
  orgId,
  keyId,
  accessKey,
  authMethod: 'api_key',
  tenantRoles: roles,
  globalAdmin,
})

function agentPrincipal(common: Common, agent: AgentOfKey): Principal {
  const { agentId, tenantId, name, permissions, status, limits } = agent
  if (status !== 'active') throw new ApiError('invalid_api_key')
  const principal = { ...common, type: 'agent', id: `agent:${agentId}`, name, tenantId, agentId, permissions } as const
  return limits ? { ...principal, orgRoles: [], limits: limitsOf(limits) } : { ...principal, orgRoles: [] }
}

function keyUserPrincipal(common: Common, user: UserRow, permissions: readonly string[]): Principal {
  const { userId, tenantId, name, orgRoles, status } = user
  if (status !== 'active') throw new ApiError('invalid_api_key')
  return { ...common, type: 'user', id: `user:${userId}`, name, tenantId, userId, permissions, orgRoles }
}

const operatorPrincipal = (common: Common): Principal => ({
  ...common,
  type: 'operator',
  id: `operator:${common.keyId}`,
  name: 'operator',
  tenantId: null,
  permissions: ['machine.all'],
  orgRoles: [],
})

async function authenticateToken(deps: Deps, authorization: string, device: string | undefined): Promise<Principal> {
  const [scheme, token, ...rest] = authorization.split(' ')
  if (scheme !== 'Bearer' || token === undefined || rest.length > 0 || !isAccessToken(token))
    throw new ApiError('unauthorized')
  const row = await ask<SessionRow>(deps, 'authenticate_session', 'select authenticate_session($1, $2) as row', [
    hashToken(token),
    deps.now(),
  ])
  if (!row?.live || row.user.status !== 'active') throw new ApiError('unauthorized')
  if (row.deviceInstallationId !== null && row.deviceInstallationId !== device) throw new ApiError('unauthorized')
  const { orgId, sessionId, user, roles } = row
  const permissions = permissionsOfUser(
    user.orgRoles,
    roles.map(({ role }) => role),
  )
  return {
    ...NOBODY,
    type: 'user',
    id: `user:${user.userId}`,
    name: user.name,
    orgId,
    sessionId,
    userId: user.userId,
    tenantId: user.tenantId,
    authMethod: 'access_token',
    permissions,
    orgRoles: user.orgRoles,
    tenantRoles: roles,
    globalAdmin: false,
  }
}

/** A named statement: PostgreSQL parses it once per connection, and this one runs on every request. */
const ask = <T>(deps: Deps, name: string, text: string, values: unknown[]): Promise<T | null> =>
  available(deps, async () => {
    const { rows } = await deps.database.pool.query<{ row: T | null }>({ name, text, values })
    return rows[0]?.row ?? null
  })

async function available<T>(deps: Deps, look: () => Promise<T | null>): Promise<T | null> {
  try {
    return await look()
  } catch (cause) {
    deps.log.error({ event: 'authentication_unavailable', code: (cause as { code?: string }).code })
    throw new ApiError('not_ready', { headers: { 'retry-after': '2' } })
  }
}
