import { resolve } from 'node:path'
import { shellLine } from '@strongroom/contract'
import { confirm, ensureNotAgent } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { command, flag } from '../../model/command.ts'
import { ensureFolderFor } from '../../place/given-file.ts'
import { writePrivate } from '../../place/private-file.ts'
import { withProgress } from '../../prompt/progress.ts'
import { actingAs, findAgent, heldAgent, requireHeld } from './find.ts'
import { AGENT } from './look.ts'

const shapes = () => import('../../schemas/agent.ts')

export const bundle = command({
  summary: 'print the bundle of an agent, to move it elsewhere',
  about: 'The bundle is the whole credential in one string, for STRONGROOM_BUNDLE. Whoever has it is the agent.',
  args: { agent: AGENT },
  flags: { out: flag.text('write it to a file, readable by you alone', 'FILE', { completes: 'file' }) },
  examples: [
    { run: 'strongroom agent bundle checkout-bot --out checkout-bot.bundle', does: 'into a file with mode 0600' },
    {
      run: 'strongroom agent bundle checkout-bot | ssh host "umask 077; cat > bundle"',
      does: 'straight to another machine',
    },
  ],
  next: 'STRONGROOM_BUNDLE_FILE=FILE strongroom run -- COMMAND',
  output: async () => (await shapes()).agentBundleShape,
  run: async (cli, { args, flags }) => {
    ensureNotAgent(cli)
    ensureFolderFor(cli, flags.out)
    const held = await requireHeld(cli, args.agent)
    const { parseBundle } = await import('@strongroom/sdk')
    const { agentId } = parseBundle(held.bundle)
    const about = { agentId, profile: held.name }
    if (flags.out !== undefined) {
      const file = resolve(cli.io.cwd, flags.out)
      await writePrivate(file, `${held.bundle}\n`)
      cli.say(`the bundle of ${held.name} → ${file}`)
      return { data: { ...about, file } }
    }
    if (cli.io.stderr.isTTY) cli.say(`whoever has this string is ${held.name}`)
    if (cli.isJson) return { data: { ...about, bundle: held.bundle } }
    await cli.data(`${held.bundle}\n`)
    return undefined
  },
})

export const rotateKey = command({
  summary: 'a new API key; the old one is dead at once',
  about:
    'The API key says who asks; it decrypts nothing. Where the agent has its profile on this machine, the new key goes into it and is not shown.',
  args: { agent: AGENT },
  flags: {},
  examples: [{ run: 'strongroom agent rotate-key checkout-bot --yes', does: 'into its profile on this machine' }],
  next: 'strongroom agent test NAME',
  output: async () => (await shapes()).agentKeyShape,
  run: async (cli, { args }) => {
    const { agentId, name } = await findAgent(cli, args.agent)
    const held = await heldAgent(cli, args.agent, agentId)
    if (!held) ensureNotAgent(cli)
    await confirm(cli, `The API key of ${name} stops working everywhere. Go on?`)
    const strongroom = await cli.strongroom()
    const apiKey = await strongroom.agents.rotateApiKey(agentId, { signal: cli.signal })
    if (!held) {
      const data = { agentId, saved: false, apiKey: apiKey.reveal() }
      if (cli.isJson) return { data }
      cli.say(`the API key of ${name}, shown once:`)
      await cli.data(`${apiKey.reveal()}\n`)
      return undefined
    }
    const { formatBundle, parseBundle } = await import('@strongroom/sdk')
    const next = formatBundle({ ...parseBundle(held.bundle), apiKey: apiKey.reveal() })
    await (await cli.keyStore()).put(held.name, next)
    return {
      data: { agentId, saved: true, profile: held.name },
      text: `${cli.style.good('✓')} ${name} has a new API key, in profile "${held.name}"`,
      next: shellLine`strongroom agent bundle ${held.name}   for its other machines`,
    }
  },
})

export const rotateRuntimeKey = command({
  summary: 'new private keys, linked to the old ones in the log',
  about:
    'Both sets of keys are on this machine before the server hears of the new ones, so whatever happens in between, none is lost. Vault keys are wrapped for the new keys in the same step.',
  args: { agent: AGENT },
  flags: {},
  examples: [{ run: 'strongroom agent rotate-runtime-key checkout-bot', does: 'new keys in its profile here' }],
  next: 'strongroom agent test NAME',
  output: async () => (await shapes()).agentRuntimeKeyShape,
  run: async (cli, { args }) => {
    const held = await requireHeld(cli, args.agent)
    const { makeStrongroom } = await import('../../place/client.ts')
    const { parseBundle } = await import('@strongroom/sdk')
    const { agentId } = parseBundle(held.bundle)
    const store = await cli.keyStore()
    const waiting = `${held.name}.next`
    const strongroom = await makeStrongroom(actingAs(cli, held))
    let next: string | undefined
    const rotated = await withProgress(cli, 'making new keys', () =>
      strongroom.agents.rotateRuntimeKey(
        {
          save: async ({ bundle: made }) => {
            if (!made) throw new CliError('unexpected', 'the new keys came without a bundle')
            next = made.reveal()
            await store.put(waiting, next)
          },
        },
        { signal: cli.signal },
      ),
    )
    if (next !== undefined) await store.put(held.name, next)
    await store.remove(waiting)
    return {
      data: { agentId, profile: held.name, ...rotated },
      text: [
        `${cli.style.good('✓')} ${held.name} has new keys   ${rotated.keyId}`,
        `  ${rotated.rewrapped} vault ${rotated.rewrapped === 1 ? 'key' : 'keys'} wrapped for them`,
      ].join('\n'),
      next: shellLine`strongroom agent bundle ${held.name}   for its other machines`,
    }
  },
})
