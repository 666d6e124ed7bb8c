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
  const active = agents.filter(({ status }) => status === 'active')
  return [...people, ...active.map(({ agentId, name }) => ({ id: `agent:${agentId}`, name }))]
}

/** Names for ids, as far as they are known. */
export async function namesOf(cli: Cli): Promise<(id: string) => string> {
  const known = new Map((await listPrincipals(cli).catch(() => [])).map(({ id, name, email }) => [id, email ?? name]))
  return (id) => known.get(id) ?? id
}

/** Whose a key is, by name, with the end of its id: somebody may have several. */
export async function namesOfKeys(cli: Cli): Promise<(keyId: string) => string> {
  const nameOf = await namesOf(cli)
  return (keyId) => {
    const end = keyId.lastIndexOf(':')
    return `${nameOf(keyId.slice(0, end))} (${keyId.slice(end + 1)})`
  }
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
