import { isDeepStrictEqual } from 'node:util'
import { ApiError, type Client } from '@strongroom/sdk'
import type { Random } from '../random.ts'
import { clientOf, type World } from '../world.ts'
import { type Book, byId, failed, type Kind, lost, makeBook, type Problem } from './writer.ts'

// Agents: made, changed, given roles, given another key, archived. Of an agent's keys exactly the last acknowledged one works.

interface Keys {
  /** Unknown once an answer with a new key did not arrive: a key is shown once. */
  live: string | undefined
  readonly dead: string[]
}

/** What was acknowledged. */
interface Known {
  readonly agents: Book<unknown>
  readonly roles: Map<string, unknown>
  readonly keys: Map<string, Keys>
}

/** One agent in the hands of one client. */
interface Life {
  readonly client: Client
  readonly agentId: string
  readonly own: Keys
}

const MANAGERS = 4
/** Of the agents made last; the server slows down an address that fails more than 60 times in a minute. */
const TRIED = 20

async function make({ journal }: World, known: Known, client: Client, name: string): Promise<Life> {
  const { agent, apiKey } = await journal.submit({
    action: 'agent.create',
    send: (options) => client.agents.create({ body: { name, permissions: ['machine.feedback.write'] } }, options),
    target: (answer) => answer.agent.agentId,
  })
  const own: Keys = { live: apiKey ?? undefined, dead: [] }
  known.agents.keep(agent.agentId, agent)
  known.keys.set(agent.agentId, own)
  return { client, agentId: agent.agentId, own }
}

async function describe({ journal }: World, known: Known, life: Life, description: string): Promise<void> {
  const { client, agentId } = life
  const { agent } = await journal.submit({
    action: 'agent.update',
    send: (options) => client.agents.update({ params: { id: agentId }, body: { description } }, options),
    target: () => agentId,
  })
  if (agent.description !== description) throw new Error('an update was answered with something else')
  known.agents.keep(agentId, agent)
}

async function giveRole({ journal, founder }: World, known: Known, { client, agentId }: Life): Promise<void> {
  const tenantRoles = [{ tenantId: founder.tenantId, role: 'TENANT_MEMBER' as const }]
  const answer = await journal.submit({
    action: 'agent.replace-tenant-roles',
    send: (options) => client.agents.replaceTenantRoles({ params: { id: agentId }, body: { tenantRoles } }, options),
    target: () => agentId,
  })
  known.roles.set(agentId, answer)
}

async function changeKey({ journal }: World, known: Known, { client, agentId, own }: Life): Promise<void> {
  const { agent, apiKey } = await journal.submit({
    action: 'agent.regenerate-api-key',
    send: (options) => client.agents.regenerateApiKey({ params: { id: agentId } }, options),
    target: () => agentId,
  })
  if (own.live !== undefined) own.dead.push(own.live)
  own.live = apiKey ?? undefined
  known.agents.keep(agentId, agent)
}

async function archive({ journal }: World, known: Known, { client, agentId, own }: Life): Promise<void> {
  const { agent } = await journal.submit({
    action: 'agent.archive',
    send: (options) => client.agents.archive({ params: { id: agentId } }, options),
    target: () => agentId,
  })
  if (own.live !== undefined) own.dead.push(own.live)
  own.live = undefined
  known.agents.keep(agentId, agent)
}

async function live(world: World, known: Known, client: Client, random: Random, name: string): Promise<void> {
  const life = await make(world, known, client, name)
  for (let i = random.below(4); i >= 0; i--) await describe(world, known, life, `${name} ${i} ${random.below(1e9)}`)
  if (random.chance(0.5)) await giveRole(world, known, life)
  if (random.chance(0.6)) await changeKey(world, known, life)
  // An answer that did not arrive took the key with it: another one has to be made.
  while (life.own.live === undefined) await changeKey(world, known, life)
  if (random.chance(0.6)) await archive(world, known, life)
}

const tryKey = (url: string, apiKey: string): Promise<string> =>
  clientOf(url, apiKey)
    .agents.me()
    .then(
      ({ agent }) => agent.agentId,
      (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
    )

async function checkKeys({ url }: World, { keys }: Known): Promise<Problem[]> {
  const problems: Problem[] = []
  for (const [agentId, { live: key, dead }] of [...keys].slice(-TRIED)) {
    if (key !== undefined && (await tryKey(url, key)) !== agentId)
      problems.push(lost(`the last acknowledged key of ${agentId} does not work`))
    const last = dead.at(-1)
    if (last !== undefined && (await tryKey(url, last)) !== 'invalid_api_key')
      problems.push(lost(`a replaced key of ${agentId} works`))
  }
  return problems
}

async function checkRoles({ session }: World, { roles }: Known): Promise<Problem[]> {
  const problems: Problem[] = []
  for (const [agentId, expected] of [...roles].slice(-TRIED)) {
    const answer = await session()
      .agents.tenantRoles({ params: { id: agentId } })
      .catch((error: Error) => error)
    if (!isDeepStrictEqual(answer, expected)) problems.push(lost(`the roles of ${agentId} are others`))
  }
  return problems
}

const ODD_KEYS = `select a.agent_id, a.status, count(*) filter (where k.status = 'active')::int as active
  from strongroom.agent a left join strongroom.api_key k using (org_id, agent_id)
  group by a.agent_id, a.status having count(*) filter (where k.status = 'active') <> (a.status = 'active')::int`

export const agents: Kind = {
  name: 'agents',
  clients: 4,
  open: async (world) => {
    const managers = await Promise.all(Array.from({ length: MANAGERS }, (_, i) => world.manager(`manager ${i}`)))
    const known: Known = { agents: makeBook('agent'), roles: new Map(), keys: new Map() }
    let turn = 0
    return {
      round: (random, name) => live(world, known, managers[turn++ % managers.length] as Client, random, name),
      check: async () => {
        const listed = byId('agentId', (await world.session().agents.list()).agents)
        const odd = await world.asAuditor(async ({ pool }) => (await pool.query(ODD_KEYS)).rows)
        return [
          ...known.agents.compare(listed),
          ...odd.map((row) => failed(`not exactly one key for an active agent: ${JSON.stringify(row)}`)),
          ...(await checkRoles(world, known)),
          ...(await checkKeys(world, known)),
        ]
      },
    }
  },
}
