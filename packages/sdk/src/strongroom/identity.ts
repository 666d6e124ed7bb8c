import type { Output, identity as routes } from '@strongroom/contract'
import { parseTrustAnchor } from '@strongroom/protocol'
import type { Config } from './options.ts'
import { SignerUntrustedError } from './public-errors.ts'

export interface PrincipalInfo {
  readonly kind: 'agent' | 'user' | 'operator'
  /** `agent:…`, `user:…` or `operator:…` */
  readonly id: string
  readonly name: string
  readonly org: string
  readonly tenant?: string
  readonly authMethod: string
  readonly permissions: readonly string[]
  readonly orgRoles: readonly string[]
  readonly tenantRoles: readonly { readonly tenantId: string; readonly role: string }[]
  readonly warnings: readonly string[]
}

export interface TenantContext {
  readonly org: string
  readonly domainTenantId: string | null
  readonly name: string | null
}

/** Refuses an answer that says this client is somebody else, or of another organisation, than its keys and its anchor say. */
function ensureSelf({ principal, privateKey, trustAnchor }: Config, said: { id?: string; org: string }): void {
  const own = principal ?? (typeof privateKey === 'object' ? privateKey.key.principal : undefined)
  const org = trustAnchor === undefined ? undefined : parseTrustAnchor(trustAnchor).org
  const isOther = (mine: string | undefined, theirs: string | undefined): boolean =>
    mine !== undefined && theirs !== undefined && mine !== theirs
  if (!isOther(own, said.id) && !isOther(org, said.org)) return
  throw new SignerUntrustedError('the server says that this client is somebody else than its keys say', {
    code: 'principal_changed',
    stage: 'signer',
    evidence: '',
    details: { ...(own !== undefined && { own }), ...(org !== undefined && { org }), said },
    hint: 'Check that the address is that of your own server, and that the API key belongs to these keys.',
  })
}

export function ensuredInfo(config: Config, me: Output<typeof routes.me>): PrincipalInfo {
  const info = {
    kind: me.principal.type,
    id: me.principal.id,
    name: me.principal.name,
    org: me.org.orgId,
    ...(me.tenant && { tenant: me.tenant.domainTenantId }),
    authMethod: me.authMethod,
    permissions: me.permissions,
    orgRoles: me.orgRoles,
    tenantRoles: me.tenantRoles,
    warnings: me.warnings.map(({ message }) => message),
  }
  ensureSelf(config, info)
  return info
}

export function ensuredContext(
  config: Config,
  { orgId, domainTenantId, tenant }: Output<typeof routes.tenantContext>,
): TenantContext {
  const context = { org: orgId, domainTenantId, name: tenant?.name ?? null }
  ensureSelf(config, context)
  return context
}
