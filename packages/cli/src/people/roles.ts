import type { OrgRole, TenantRole } from '@strongroom/contract'
import type { SigningPerson } from '@strongroom/sdk'
import { CliError } from '../errors/cli-error.ts'
import { idOf, type Someone, type User } from './find.ts'

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

function tenantRole(
  known: readonly TenantRole[],
  text: string,
): { readonly tenantId: string; readonly role: TenantRole } {
  const at = text.lastIndexOf(':')
  if (at < 1)
    throw new CliError('usage', 'a role in a tenant is written TENANT:ROLE', { fix: 'such as ten_…:TENANT_MEMBER' })
  return { tenantId: text.slice(0, at), role: roleIn(known, text.slice(at + 1)) }
}

/** Changes what the flags name, and answers how the person stands then. */
export async function changeRoles({ client }: SigningPerson, person: Someone, flags: RoleFlags): Promise<User> {
  const params = { id: idOf(person) }
  const known = await knownRoles()
  const orgRoles = flags.org.map((text) => roleIn(known.org, text))
  const tenantRoles = flags.tenant.map((text) => tenantRole(known.tenant, text))
  if (flags.none && orgRoles.length > 0) throw new CliError('usage', '--none and --org contradict each other')
  if (orgRoles.length > 0 || flags.none) await client.users.setOrgRoles({ params, body: { orgRoles } })
  if (tenantRoles.length > 0) await client.users.setTenantRoles({ params, body: { tenantRoles } })
  return client.users.get({ params })
}
