import { shellLine } from '@strongroom/contract'
import type { Agent } from '@strongroom/sdk'
import type { Cli } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { nearest } from '../../model/nearest.ts'
import { type Profile, readConfigFile } from '../../place/config-file.ts'

// Agents by name or id, and what this machine holds of them.

export async function findAgent(cli: Cli, asked: string): Promise<Agent> {
  const strongroom = await cli.strongroom()
  const all = await strongroom.agents.list({}, { signal: cli.signal }).all()
  const bare = asked.replace(/^agent:/, '')
  const byId = all.find(({ agentId }) => agentId === bare)
  if (byId) return byId
  const named = all.filter(({ name }) => name === asked)
  const live = named.filter(({ status }) => status === 'active')
  const [only] = live.length > 0 ? live : named
  if (only && Math.max(1, live.length) === 1) return only
  if (only)
    throw new CliError('ambiguous_name', `${live.length} agents are called ${asked}`, {
      fix: `use an id: ${live.map(({ agentId }) => agentId).join(', ')}`,
      details: { candidates: live.map(({ agentId }) => agentId) },
    })
  const near = nearest(
    asked,
    all.map(({ name }) => name),
  )
  throw new CliError('agent_not_found', `there is no agent ${asked}`, {
    fix: near ? `did you mean ${near}?` : 'strongroom agent list',
  })
}

export interface HeldAgent {
  readonly name: string
  readonly profile: Profile
  readonly bundle: string
}

/** Profiles of agents whose keys are in the key store of this machine, by name. */
export async function agentProfiles({ paths }: Cli): Promise<readonly (readonly [string, Profile])[]> {
  const { profiles } = await readConfigFile(paths.config)
  return Object.entries(profiles).filter(([, { kind }]) => kind === 'agent')
}

/** The profile of this agent on this machine, opened. `asked` is the name of a profile, or of the agent it is of. */
export async function heldAgent(cli: Cli, asked: string, agentId?: string): Promise<HeldAgent | undefined> {
  const { parseBundle } = await import('@strongroom/sdk')
  const found = await agentProfiles(cli)
  const store = found.length > 0 ? await cli.keyStore() : undefined
  for (const [name, profile] of found) {
    if (profile.agent !== undefined && agentId !== undefined && profile.agent !== agentId) continue
    const bundle = await store?.get(name)
    if (bundle === undefined) continue
    const isMeant = agentId === undefined ? name === asked : parseBundle(bundle).agentId === agentId
    if (isMeant) return { name, profile, bundle }
  }
  return undefined
}

/** Refuses where the keys of the agent are on another machine. */
export async function requireHeld(cli: Cli, asked: string): Promise<HeldAgent> {
  const byProfile = await heldAgent(cli, asked)
  if (byProfile) return byProfile
  const { agentId, name } = await findAgent(cli, asked)
  const held = await heldAgent(cli, asked, agentId)
  if (held) return held
  throw new CliError('bundle_not_here', `the keys of ${name} are not on this machine`, {
    fix: shellLine`run this where the agent was made, or save its bundle here: strongroom login --profile ${name} --bundle FILE`,
  })
}

/** The command line as that agent, whoever drives it. */
export const actingAs = (cli: Cli, { name, profile, bundle }: HeldAgent): Cli => ({
  ...cli,
  credential: async () => ({ source: 'profile', profileName: name, profile, options: { bundle } }),
})
