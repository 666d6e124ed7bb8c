import type { OrgRole, TenantRole } from '@strongroom/contract'
import type { RoleEntry } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { idOf, type Someone, type User } from './find.ts'
import { findTenant } from './tenants.ts'

interface RoleFlags {
  readonly org: readonly string[]
  readonly tenant: readonly string[]
  readonly none: boolean
}

async function knownRoles(): Promise<{ readonly org: readonly OrgRole[]; readonly tenant: readonly TenantRole[] }> {
  const { ORG_ROLES, TENANT_ROLES } = await import('@strongroom/contract')
  return { org: ORG_ROLES, tenant: TENANT_ROLES }
}

function roleIn<R extends string>(known: readonly R[], text: string): R {
  const role = known.find((one) => one === text.toUpperCase())
  if (role) return role
  throw new CliError('usage', 'this is no role', { fix: `there are: ${known.join(', ')}` })
}

/** Each written TENANT:ROLE, with the name or the id of the tenant. */
export async function tenantRolesIn(cli: Cli, texts: readonly string[]): Promise<RoleEntry[]> {
  const known = (await knownRoles()).tenant
  const found: RoleEntry[] = []
  for (const text of texts) {
    const at = text.lastIndexOf(':')
    if (at < 1)
      throw new CliError('usage', 'a role in a tenant is written TENANT:ROLE', { fix: 'such as main:TENANT_MEMBER' })
    const role = roleIn(known, text.slice(at + 1))
    found.push({ tenantId: await findTenant(cli, text.slice(0, at)), role })
  }
  return found
}

/** Changes what the flags name, and answers how the person stands then. */
export async function changeRoles(cli: Cli, person: Someone, flags: RoleFlags): Promise<User> {
  const { client } = await cli.person()
  const params = { id: idOf(person) }
  const known = (await knownRoles()).org
  const orgRoles = flags.org.map((text) => roleIn(known, text))
  const tenantRoles = await tenantRolesIn(cli, flags.tenant)
  if (flags.none && orgRoles.length > 0) throw new CliError('usage', '--none and --org contradict each other')
  if (orgRoles.length > 0 || flags.none) await client.users.setOrgRoles({ params, body: { orgRoles } })
  if (tenantRoles.length > 0) await client.users.setTenantRoles({ params, body: { tenantRoles } })
  return client.users.get({ params })
}
