import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'

const ID = /^ten_[a-z0-9]+$/

/** Names for ids, as far as this caller can list tenants. */
export async function tenantNames(cli: Cli): Promise<(id: string) => string> {
  const { profile } = await cli.credential()
  if (profile?.kind !== 'person') return (id) => id
  const { client } = await cli.person()
  const { data } = await client.tenants.list().catch(() => ({ data: [] }))
  const names = new Map(data.map(({ tenantId, name }) => [tenantId, name]))
  return (id) => names.get(id) ?? id
}

/** By name or id. An id is not looked up: agents give roles too, and only people can list tenants. */
export async function findTenant(cli: Cli, asked: string): Promise<string> {
  if (ID.test(asked)) return asked
  const { client } = await cli.person()
  const { data } = await client.tenants.list()
  const found = data.filter(({ name }) => name === asked)
  const [only] = found
  if (only && found.length === 1) return only.tenantId
  throw new CliError(found.length > 1 ? 'ambiguous_name' : 'tenant_not_found', `there is no one tenant ${asked}`, {
    fix: `there are: ${data.map(({ name, tenantId }) => `${name} (${tenantId})`).join(', ')}`,
  })
}
