import { shellLine } from '@strongroom/contract'
import type { Agent, Simulation } from '@strongroom/sdk'
import type { Cli } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/codes.ts'
import { exitOfStatus } from '../../errors/shown.ts'
import { arg, command, flag } from '../../model/command.ts'
import { nearest } from '../../model/nearest.ts'
import { safeText } from '../../output/safe-text.ts'
import { table } from '../../output/table.ts'
import { findAgent } from './find.ts'
import { AGENT } from './look.ts'

const VALUE = /^([A-Za-z]+)=([\s\S]*)$/

function textsOf(flagName: string, given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const [, name, value] = VALUE.exec(text) ?? []
      if (name === undefined || value === undefined)
        throw new CliError('usage', `--${flagName} is written NAME=TEXT`, { fix: `such as --${flagName} vaultId=prod` })
      return [name, value]
    }),
  )
}

/** Refuses what the contract does not have, and names the parts of the path that are missing. */
async function requireCall(call: string, params: Readonly<Record<string, string>>): Promise<void> {
  const { api, callsOf } = await import('@strongroom/contract')
  const calls = callsOf(api)
  const route = calls.get(call)
  if (!route) {
    const near = nearest(call, [...calls.keys()])
    throw new CliError('usage', `there is no call ${call}`, {
      fix: near ? `did you mean ${near}?` : 'the reference at /docs/api names every call, such as vaults.list',
    })
  }
  const missing = Object.keys(route.params?.properties ?? {}).filter((name) => params[name] === undefined)
  if (missing.length > 0)
    throw new CliError('usage', `${call} needs ${missing.join(' and ')}`, {
      fix: `give ${missing.map((name) => `--param ${name}=…`).join(' ')}`,
    })
}

/** A vault may be named; one that the caller does not see stays as it is written. */
async function withVaultId(cli: Cli, params: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const { vaultId } = params
  if (vaultId === undefined) return { ...params }
  const named = (await (await cli.strongroom()).vaults.list({ signal: cli.signal })).filter(
    ({ name, status }) => name === vaultId && status === 'active',
  )
  if (named.length > 1)
    throw new CliError('ambiguous_name', `${named.length} vaults are called ${vaultId}`, {
      fix: `use an id: ${named.map((vault) => vault.vaultId).join(', ')}`,
    })
  return { ...params, vaultId: named[0]?.vaultId ?? vaultId }
}

const MARKS = { passed: '✓', refused: '✗', not_tried: '·' } as const

function verdictOf({ outcome, status, refusal }: Simulation): string {
  if (refusal) {
    const { code, message, hint, details } = refusal
    const more = details === undefined ? '' : `\n${safeText(JSON.stringify(details))}`
    return `refused: ${refusal.status} ${code}\n${safeText(message)} ${safeText(hint)}${more}`
  }
  return outcome === 'answered'
    ? `answered: ${status}`
    : 'admitted: nothing that was tried refuses it; what was not tried may'
}

/** What would help whoever manages the agent; the hint of the API is for whoever calls. */
function fixOf(
  { refusal }: Simulation,
  { name, permissions, networks }: Agent,
  params: Readonly<Record<string, string>>,
) {
  const update = shellLine`strongroom agent update ${name}`
  const { permission, address } = (refusal?.details ?? {}) as { permission?: string; address?: string }
  switch (refusal?.code) {
    case 'machine_permission_denied':
      return `${update} ${[...permissions, permission].map((one) => shellLine`--permission ${one ?? ''}`).join(' ')}`
    case 'agent_expired':
      return `${update} --expires 30d`
    case 'network_not_allowed':
      return `${update} ${[...networks, address].map((one) => shellLine`--network ${one ?? ''}`).join(' ')}`
    case 'invalid_api_key':
      return shellLine`strongroom agent rotate-key ${name}`
    case 'vault_not_found':
      return shellLine`strongroom vault share ${params.vaultId ?? 'VAULT'} --with ${name}`
    default:
      return undefined
  }
}

export const simulate = command({
  summary: 'what a call of that agent would be answered now, and why',
  about:
    'The server makes the checks that the call would meet, in their order. Reads are tried and taken back; of writes only what comes before the service is judged. Nothing is recorded as the agent’s, no key of it is needed, and nothing that it would read is shown.',
  args: {
    agent: AGENT,
    call: arg.one('a call of the API by its name, such as vaults.environmentFields', { completes: 'call' }),
  },
  flags: {
    param: flag.many('a part of its path; a vault by name or id', 'NAME=TEXT'),
    query: flag.many('a parameter', 'NAME=TEXT'),
    from: flag.text('the address it would come from', 'ADDRESS'),
  },
  examples: [
    {
      run: 'strongroom agent simulate ci-bot vaults.environmentFields --param vaultId=prod',
      does: 'whether it may read what `run` reads',
    },
    {
      run: 'strongroom agent simulate ci-bot agents.me --from 203.0.113.9',
      does: 'whether it may come from there',
    },
  ],
  next: 'strongroom agent test NAME',
  output: async () => (await import('../../schemas/agent.ts')).agentSimulationShape,
  run: async (cli, { args, flags }) => {
    const asked = textsOf('param', flags.param)
    await requireCall(args.call, asked)
    const agent = await findAgent(cli, args.agent)
    const params = await withVaultId(cli, asked)
    const strongroom = await cli.strongroom()
    const data = await strongroom.agents.simulate(
      agent.agentId,
      { call: args.call, params, query: textsOf('query', flags.query), ...(flags.from && { from: flags.from }) },
      { signal: cli.signal },
    )
    const checks = table(
      data.checks,
      [
        { title: '', of: ({ result }) => MARKS[result] },
        { title: 'CHECK', of: ({ check }) => check },
        { title: 'RESULT', of: ({ result }) => result.replace('_', ' ') },
        { title: 'WHY', of: ({ reason }) => reason ?? '' },
      ],
      cli.style,
    )
    const fix = fixOf(data, agent, asked)
    return {
      data,
      text: `${checks}\n\n${verdictOf(data)}${fix === undefined ? '' : `\nTry ${safeText(fix)}`}`,
      exitCode: data.refusal ? exitOfStatus(data.refusal.status) : EXIT.ok,
    }
  },
})
