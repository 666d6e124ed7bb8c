import type { Agent } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { nearest } from '../model/nearest.ts'

// People and agents by name. Which id a name has, only the server says; whoever gives access sees the id it went to.

export interface Principal {
  /** `user:…` or `agent:…` */
  readonly id: string
  readonly name: string
}

const IDS = /^(?:user|agent):[A-Za-z0-9_-]+$/

async function agentsOf(cli: Cli): Promise<readonly Agent[]> {
  const strongroom = await cli.strongroom()
  return strongroom.agents.list({}, { signal: cli.signal }).all()
}

/** People are known to people only: the machine API does not list them. */
async function peopleOf(cli: Cli): Promise<readonly (Principal & { readonly email: string })[]> {
  const { profile } = await cli.credential()
  if (profile?.kind !== 'person') return []
  const { client } = await cli.person()
  const { users } = await client.users.list()
  return users.map(({ userId, name, email }) => ({ id: `user:${userId}`, name, email }))
}

/** Everybody this caller can name. */
export async function listPrincipals(cli: Cli): Promise<readonly (Principal & { readonly email?: string })[]> {
  const [agents, people] = [await agentsOf(cli), await peopleOf(cli)]
  return [...people, ...agents.filter(({ status }) => status === 'active').map(agentPrincipal)]
}

const agentPrincipal = ({ agentId, name }: Agent): Principal => ({ id: `agent:${agentId}`, name })

const LISTS_PEOPLE = ['ORG_OWNER', 'ORG_ADMIN', 'TENANT_ADMIN']
const LISTS_AGENTS = [...LISTS_PEOPLE, 'TENANT_AGENT_MANAGER']

/**
 * Whoever can be shown by name, those first whom a name means when it is typed. Who may not list others does not ask: that would be
 * entered in the audit trail as something that was tried.
 */
async function nameable(cli: Cli): Promise<readonly Principal[]> {
  const me = await (await cli.strongroom()).me({ signal: cli.signal })
  const roles = [...me.orgRoles, ...me.tenantRoles.map(({ role }) => role)]
  const may = (lists: readonly string[]): boolean => roles.some((role) => lists.includes(role))
  const people = may(LISTS_PEOPLE) ? await peopleOf(cli) : []
  const agents = may(LISTS_AGENTS) ? await agentsOf(cli) : []
  const isActive = ({ status }: Agent): boolean => status === 'active'
  return [
    ...people.map(({ id, email }) => ({ id, name: email })),
    ...[...agents.filter(isActive), ...agents.filter((agent) => !isActive(agent))].map(agentPrincipal),
    { id: me.id, name: me.name },
  ]
}

/** Names for ids, as far as they are known. No two are shown alike: whose name was met before, has its id beside it. */
export async function namesOf(cli: Cli): Promise<(id: string) => string> {
  const shown = new Map<string, string>()
  const taken = new Set<string>()
  for (const { id, name } of await nameable(cli).catch(() => [])) {
    if (!shown.has(id)) shown.set(id, taken.has(name) ? `${name} (${id})` : name)
    taken.add(name)
  }
  return (id) => shown.get(id) ?? id
}

/** Whose a key is, by name, with the end of its id: somebody may have several. */
export async function namesOfKeys(cli: Cli): Promise<(keyId: string) => string> {
  const nameOf = await namesOf(cli)
  return (keyId) => `${nameOf(principalOf(keyId))} (${keyId.slice(keyId.lastIndexOf(':') + 1)})`
}

export const principalOf = (keyId: string): string => keyId.slice(0, keyId.lastIndexOf(':'))

/** Who signed, for people; nobody is asked for names that a program would not be told. */
export async function shownSigner(cli: Cli, signerKeyId: string): Promise<string> {
  return cli.isJson ? signerKeyId : `${(await namesOfKeys(cli))(signerKeyId)} ✓`
}

/** By id, name or email. A name that several have is refused with all of them. */
export async function findPrincipal(cli: Cli, asked: string): Promise<Principal> {
  if (IDS.test(asked)) return { id: asked, name: asked }
  const known = await listPrincipals(cli)
  const found = known.filter(({ id, name, email }) => name === asked || email === asked || id.endsWith(`:${asked}`))
  const [first] = found
  if (first && found.length === 1) return first
  if (found.length > 1)
    throw new CliError('ambiguous_name', `${found.length} have the name ${asked}`, {
      fix: `use an id: ${found.map(({ id }) => id).join(', ')}`,
      details: { candidates: found.map(({ id }) => id) },
    })
  const near = nearest(
    asked,
    known.flatMap(({ name, email }) => [name, ...(email === undefined ? [] : [email])]),
  )
  throw new CliError('principal_not_found', `there is nobody called ${asked}`, {
    fix: near ? `did you mean ${near}?` : asked.includes('@') ? 'strongroom user list' : 'strongroom agent list',
  })
}
