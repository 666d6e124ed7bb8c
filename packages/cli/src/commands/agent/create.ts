import { shellLine } from '@strongroom/contract'
import type { CreatedAgent, NewAgent } from '@strongroom/sdk'
import type { Cli } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { arg, command, flag, type Result, rare } from '../../model/command.ts'
import { safeText } from '../../output/safe-text.ts'
import { readConfigFile } from '../../place/config-file.ts'
import { keepProfile } from '../../place/sign-in.ts'
import { withProgress } from '../../prompt/progress.ts'
import { slugOf } from '../../sign-in/recovery-kit.ts'
import { secretFromFile } from '../../sign-in/secret-input.ts'
import { LIMIT_FLAGS, limitLines } from './limits.ts'
import { dataOf } from './look.ts'
import { askPlan, type Plan, planOf, previewOf } from './plan.ts'

/** A profile of this machine under the agent's own name, or the nearest one that is free. */
async function freeProfile({ paths }: Cli, name: string): Promise<string> {
  const { profiles } = await readConfigFile(paths.config)
  const base = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) ? name : slugOf(name)
  let n = 1
  while (Object.hasOwn(profiles, n === 1 ? base : `${base}-${n}`)) n += 1
  return n === 1 ? base : `${base}-${n}`
}

/** That its keys can be kept is tried before they are made. */
async function keepingKeys<T>(cli: Cli, profile: string, work: () => Promise<T>): Promise<T> {
  const store = await cli.keyStore()
  await store.put(profile, 'pending')
  try {
    return await work()
  } catch (error) {
    await store.remove(profile)
    throw error
  }
}

async function make(cli: Cli, plan: Plan, keyFile: string | undefined): Promise<CreatedAgent> {
  const { decodePem } = await import('@strongroom/protocol')
  const keys: NewAgent['keys'] =
    keyFile === undefined ? {} : { material: decodePem(await secretFromFile(cli, keyFile, '--key-file')) }
  const strongroom = await cli.strongroom()
  const { name, description, vaults, permissions, limits } = plan
  return withProgress(cli, 'making its keys on this machine', () =>
    strongroom.agents.create({ name, description, vaults, permissions, ...limits, keys }, { signal: cli.signal }),
  )
}

async function keep(cli: Cli, profile: string, { vaults }: Plan, { agent, bundle }: CreatedAgent): Promise<void> {
  const { parseBundle } = await import('@strongroom/sdk')
  const { server, org, trustAnchor } = parseBundle(bundle.reveal())
  await (await cli.keyStore()).put(profile, bundle.reveal())
  await keepProfile(cli, profile, {
    kind: 'agent',
    server,
    org,
    trust_anchor: trustAnchor,
    bundle: 'keys',
    agent: agent.agentId,
    // What `run` takes where nothing else is said; named here, it need not be looked up.
    ...(vaults.length === 1 && vaults[0] && { vault: vaults[0].vault }),
  })
}

interface Made {
  readonly plan: Plan
  readonly profile: string
  readonly made: CreatedAgent
  readonly variable: string | undefined
}

/** Without a vault there is nothing to run with, and of several one has to be named. */
export function nextFor({ name, vaults }: Pick<Plan, 'name' | 'vaults'>, profile: string, variable: string): string {
  const [first, ...others] = vaults
  if (first === undefined) return shellLine`strongroom vault share VAULT --with ${name}`
  const source = others.length === 0 ? '' : shellLine` --vault ${first.vault}`
  return `${shellLine`strongroom run --profile ${profile}`}${source} -- printenv ${variable}`.trimEnd()
}

async function created(cli: Cli, { plan, profile, made, variable = '' }: Made): Promise<Result> {
  const { decodePem } = await import('@strongroom/protocol')
  const { generateRuntimeKey, keyWords } = await import('@strongroom/sdk')
  const { agent, privateKeyPem } = made
  const key = await generateRuntimeKey({
    principal: `agent:${agent.agentId}`,
    material: decodePem(privateKeyPem.reveal()),
  })
  const { kid } = key.provider
  const store = await cli.keyStore()
  const tick = cli.style.good('✓')
  const wrapped = plan.vaults.length
  return {
    data: {
      agent: dataOf(agent, profile),
      keyId: kid,
      fingerprint: key.fingerprint,
      vaults: plan.vaults,
      profile,
      keyStore: { kind: store.kind, where: store.where(profile) },
    },
    text: [
      `${tick} Agent           ${safeText(agent.name)}   agent:${agent.agentId}`,
      `${tick} Fingerprint     ${keyWords(kid)}   ${key.fingerprint}`,
      `${tick} Vault keys      ${wrapped} wrapped for it, signed by you`,
      ...limitLines(agent).map(([word, text]) => `${tick} ${word.padEnd(16)}${text}`),
      `${tick} Profile saved   "${profile}"`,
      '',
      'To run it on another machine, move one string:',
      shellLine`   strongroom agent bundle ${profile} --out ${profile}.bundle`,
    ].join('\n'),
    next: nextFor(plan, profile, variable),
  }
}

export const create = command({
  summary: 'make an agent, with keys made on this machine',
  about:
    'An agent is what a process acts as. Its keys are made here, you sign for them, and it gets the keys of the vaults you name: it can decrypt those and nothing else. Everything it needs is one string, its bundle, kept in a profile of this machine.',
  args: { name: arg.maybe('name of the agent') },
  flags: {
    vault: flag.many('a vault it gets: prod, prod:read, prod:write or prod:admin', 'NAME:ROLE', {
      completes: 'vault',
    }),
    ...rare({
      permission: flag.many('a machine permission; by default what its vaults need', 'NAME'),
      kind: flag.choice('what it is for, written into its description', ['server', 'ci', 'assistant', 'custom']),
      description: flag.text('what it is for, in words', 'TEXT'),
      'key-file': flag.text('private keys made elsewhere, as PEM; - for standard input', 'FILE', { completes: 'file' }),
      ...LIMIT_FLAGS,
    }),
  },
  examples: [
    { run: 'strongroom agent create', does: 'asks, and shows what it will be able to do' },
    { run: 'strongroom agent create checkout-bot --vault prod', does: 'it can read prod, and nothing is asked' },
    { run: 'strongroom agent create deploy --vault prod:read --vault ci:write --kind ci', does: 'two vaults' },
    {
      run: 'strongroom agent create ci --vault ci --expires 90d --network 10.1.0.0/16',
      does: 'limits of all its keys',
    },
  ],
  next: 'strongroom run --profile NAME -- COMMAND',
  output: async () => (await import('../../schemas/agent.ts')).agentCreatedShape,
  run: async (cli, { args, flags }) => {
    const isAsked = args.name === undefined
    const plan = isAsked ? await askPlan(cli, flags) : await planOf(cli, args.name, flags)
    const preview = await previewOf(cli, plan)
    if (isAsked) {
      cli.say(preview.text)
      if (!(await cli.ask.yes('Create it?'))) throw new CliError('cancelled', 'nothing was made')
    }
    const profile = await freeProfile(cli, plan.name)
    const made = await keepingKeys(cli, profile, () => make(cli, plan, flags['key-file']))
    await keep(cli, profile, plan, made)
    return created(cli, { plan, profile, made, variable: preview.variable })
  },
})
