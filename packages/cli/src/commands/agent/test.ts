import { shellLine } from '@strongroom/contract'
import type { Strongroom } from '@strongroom/sdk'
import type { Cli } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/codes.ts'
import { command } from '../../model/command.ts'
import { table } from '../../output/table.ts'
import { actingAs, type HeldAgent, requireHeld } from './find.ts'
import { AGENT } from './look.ts'

interface Tried {
  readonly vault: string
  readonly ok: boolean
  readonly variables?: readonly string[]
  readonly signer?: string
  readonly treeSize?: number
  readonly code?: string
}

async function tryVault(cli: Cli, strongroom: Strongroom, vault: string): Promise<Tried> {
  try {
    const env = await strongroom.secrets.env({ vault }, { signal: cli.signal, offline: false })
    const { signerKeyId, checkpoint } = env.receipt ?? {}
    return {
      vault,
      ok: true,
      variables: Object.keys(env.toObject()),
      ...(signerKeyId !== undefined && { signer: signerKeyId }),
      ...(checkpoint && { treeSize: checkpoint.treeSize }),
    }
  } catch (error) {
    return { vault, ok: false, code: (error as { code?: string }).code ?? 'unexpected' }
  }
}

async function tryAll(cli: Cli, held: HeldAgent): Promise<readonly Tried[]> {
  const { makeStrongroom } = await import('../../place/client.ts')
  const strongroom = await makeStrongroom(actingAs(cli, held))
  const vaults = await strongroom.vaults.list({ signal: cli.signal })
  const tried: Tried[] = []
  for (const { name, status } of vaults) if (status === 'active') tried.push(await tryVault(cli, strongroom, name))
  return tried
}

/** Keys of a rotation that was cut off: if they are the ones that work, they take their place. */
async function tryWaiting(cli: Cli, held: HeldAgent): Promise<readonly Tried[] | undefined> {
  const store = await cli.keyStore()
  const bundle = await store.get(`${held.name}.next`)
  if (bundle === undefined) return undefined
  const tried = await tryAll(cli, { ...held, bundle })
  if (!tried.some(({ ok }) => ok)) return undefined
  await store.put(held.name, bundle)
  await store.remove(`${held.name}.next`)
  cli.say('the keys of a rotation that was cut off are the ones that work; the profile has them now')
  return tried
}

export const test = command({
  summary: 'read as that agent, once, with every proof',
  about:
    'Reads the environment of each vault the agent sees, exactly as a process with its bundle would. Values are not shown.',
  args: { agent: AGENT },
  flags: {},
  examples: [{ run: 'strongroom agent test checkout-bot', does: 'which vaults it can decrypt, and who signed them' }],
  next: 'strongroom run --profile NAME -- COMMAND',
  output: async () => (await import('../../schemas/agent.ts')).agentTestShape,
  run: async (cli, { args }) => {
    const held = await requireHeld(cli, args.agent)
    const { parseBundle } = await import('@strongroom/sdk')
    const { agentId } = parseBundle(held.bundle)
    const first = await tryAll(cli, held)
    const tried = first.every(({ ok }) => ok) ? first : ((await tryWaiting(cli, held)) ?? first)
    if (tried.length === 0)
      throw new CliError('no_wrapped_key', `${held.name} sees no vault yet`, {
        fix: shellLine`strongroom vault share VAULT --with ${held.name}`,
      })
    const failed = tried.filter(({ ok }) => !ok).length
    const text = table(
      tried,
      [
        { title: '', of: ({ ok }) => (ok ? '✓' : '✗') },
        { title: 'VAULT', of: ({ vault }) => vault },
        { title: 'VARIABLES', of: ({ variables }) => variables?.join(', ') },
        { title: 'LOG', of: ({ treeSize }) => treeSize },
        { title: 'PROBLEM', of: ({ code }) => code },
      ],
      cli.style,
    )
    return {
      data: { agentId, vaults: tried },
      text,
      next: shellLine`strongroom run --profile ${held.name} -- printenv`,
      exitCode: failed === 0 ? EXIT.ok : failed === tried.length ? EXIT.denied : EXIT.partly,
    }
  },
})
