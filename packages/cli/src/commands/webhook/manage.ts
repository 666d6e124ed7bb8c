import { resolve } from 'node:path'
import { shellLine } from '@strongroom/contract'
import type { CreatedWebhook } from '@strongroom/sdk'
import { type Cli, confirm, ensureNotAgent } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { arg, command, flag, type Result } from '../../model/command.ts'
import { ensureFolderFor } from '../../place/given-file.ts'
import { writePrivate } from '../../place/private-file.ts'
import { findWebhook, readTypes, WEBHOOK, webhookFacts } from './look.ts'

const shapes = () => import('../../schemas/webhook.ts')
const OUT = flag.text('write the secret to a file, readable by you alone', 'FILE', { completes: 'file' })
const EVENTS = flag.many('types of events, such as budget.*; everything if not given', 'TYPES')

/** The endpoint and its secret, which is not to be had again. */
async function shownOnce(
  cli: Cli,
  { endpoint, signingSecret }: CreatedWebhook,
  out: string | undefined,
): Promise<Result> {
  const next = shellLine`strongroom webhook test ${endpoint.webhookId}`
  if (out === undefined || !signingSecret) {
    const secret = signingSecret?.reveal()
    const data = { endpoint, secret: secret ?? null }
    if (secret !== undefined) cli.say('the secret is shown once')
    return { data, text: webhookFacts(cli, endpoint, secret), next }
  }
  const file = resolve(cli.io.cwd, out)
  await writePrivate(file, `${signingSecret.reveal()}\n`)
  cli.say(`the secret → ${file}`)
  return { data: { endpoint, secret: null, file }, text: webhookFacts(cli, endpoint), next }
}

export const create = command({
  summary: 'be told what happens, at an address of yours',
  about:
    'The endpoint belongs to the key that makes it and hears exactly what that key can read. Deliveries are signed as Standard Webhooks say it. Without a public address: strongroom webhook listen.',
  args: { url: arg.one('https address that takes POST requests') },
  flags: {
    events: EVENTS,
    description: flag.text('what it is for', 'TEXT'),
    ed25519: flag.on('sign with the key of the organisation: there is no secret to keep'),
    out: OUT,
  },
  examples: [
    {
      run: "strongroom webhook create https://hooks.acme.dev/sr --events 'budget.*'",
      does: 'prints the signing secret, once',
    },
    { run: 'strongroom webhook create https://hooks.acme.dev/sr --out hook.secret', does: 'into a file of mode 0600' },
  ],
  next: 'strongroom webhook test WEBHOOK',
  output: async () => (await shapes()).madeWebhookShape,
  run: async (cli, { args, flags }) => {
    if (flags.out === undefined && !flags.ed25519) ensureNotAgent(cli)
    ensureFolderFor(cli, flags.out)
    const { description } = flags
    const eventTypes = flags.events.length > 0 ? readTypes(flags.events) : ['*']
    const made = await (await cli.strongroom()).webhooks.create(
      {
        url: args.url,
        eventTypes,
        signing: flags.ed25519 ? 'ed25519' : 'hmac',
        ...(description !== undefined && { description }),
      },
      { signal: cli.signal },
    )
    return shownOnce(cli, made, flags.out)
  },
})

export const rotate = command({
  summary: 'a new signing secret; both are good for 24 hours',
  args: { webhook: WEBHOOK },
  flags: { out: OUT },
  examples: [{ run: 'strongroom webhook rotate https://hooks.acme.dev/strongroom', does: 'prints the new one, once' }],
  next: 'strongroom webhook test WEBHOOK',
  output: async () => (await shapes()).madeWebhookShape,
  run: async (cli, { args, flags }) => {
    if (flags.out === undefined) ensureNotAgent(cli)
    ensureFolderFor(cli, flags.out)
    const { webhookId } = await findWebhook(cli, args.webhook)
    const made = await (await cli.strongroom()).webhooks.rotateSecret(webhookId, { signal: cli.signal })
    return shownOnce(cli, made, flags.out)
  },
})

export const update = command({
  summary: 'another address, other events; disable or enable it',
  args: { webhook: WEBHOOK },
  flags: {
    url: flag.text('the new address', 'URL'),
    events: flag.many('types of events, in place of those it has', 'TYPES'),
    description: flag.text('what it is for', 'TEXT'),
    disable: flag.on('nothing is sent to it'),
    enable: flag.on('send again, from now on, as the key you use'),
  },
  examples: [
    { run: 'strongroom webhook update WEBHOOK --enable', does: 'after it was disabled, by you or by its failures' },
    { run: "strongroom webhook update WEBHOOK --events 'vault.*'", does: 'only what happens to vaults' },
  ],
  next: 'strongroom webhook test WEBHOOK',
  output: async () => (await shapes()).webhookShape,
  run: async (cli, { args, flags }) => {
    const { url, description, disable, enable } = flags
    if (disable && enable) throw new CliError('usage', '--disable and --enable contradict each other')
    const change = {
      ...(url !== undefined && { url }),
      ...(flags.events.length > 0 && { eventTypes: readTypes(flags.events) }),
      ...(description !== undefined && { description }),
      ...(disable && { status: 'disabled' as const }),
      ...(enable && { status: 'active' as const }),
    }
    if (Object.keys(change).length === 0)
      throw new CliError('usage', 'nothing to change', {
        fix: 'give --url, --events, --description, --disable or --enable',
      })
    const { webhookId } = await findWebhook(cli, args.webhook)
    const data = await (await cli.strongroom()).webhooks.update(webhookId, change, { signal: cli.signal })
    return { data, text: webhookFacts(cli, data), next: shellLine`strongroom webhook test ${webhookId}` }
  },
})

export const rm = command({
  summary: 'delete an endpoint with its history',
  args: { webhook: WEBHOOK },
  flags: {},
  examples: [{ run: 'strongroom webhook rm WEBHOOK --yes', does: 'nothing more is sent to it' }],
  next: 'strongroom webhook list',
  output: async () => (await shapes()).removedWebhookShape,
  run: async (cli, { args }) => {
    const { webhookId, url } = await findWebhook(cli, args.webhook)
    await confirm(cli, `Delete the endpoint ${url} with its history?`)
    await (await cli.strongroom()).webhooks.delete(webhookId, { signal: cli.signal })
    const text = `${cli.style.good('✓')} nothing more is sent to ${url}`
    return { data: { webhookId }, text, next: 'strongroom webhook list' }
  },
})
