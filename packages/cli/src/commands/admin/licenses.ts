import { HOST, ORG } from '../../admin/host-flags.ts'
import { type Cli, confirm } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { arg, command, flag, type Result } from '../../model/command.ts'
import { readMoney, shownMoney } from '../../output/money.ts'
import { table } from '../../output/table.ts'
import { shortTime } from '../../output/time.ts'

interface Org {
  readonly orgId: string
  readonly name: string
}
interface InReview {
  readonly kind: 'purchase' | 'renewal' | 'termination'
  readonly purchaseId: string
  readonly name: string
  readonly provider: string
  readonly amount: string
  readonly reason: string | null
  readonly since: string
}
interface Flags {
  readonly org: string | undefined
  readonly data: string | undefined
  readonly refund?: string | undefined
}

const shapes = () => import('../../schemas/admin.ts')
const ordering = async () => (await import('../../admin/operator.ts')).operate
const inOrg = (act: string, { org }: Flags) => ({ act, ...(org !== undefined && { org }) })

const GIVE_UP = 'strongroom admin license-review give-up PURCHASE'
const SETTLE = 'strongroom admin license-review settle TERMINATION --refund USD'

async function list(cli: Cli, flags: Flags): Promise<Result> {
  const operate = await ordering()
  const data = await operate<{ org: Org; purchases: InReview[] }>(cli, flags, inOrg('list-review', flags), 'looking')
  if (data.purchases.length === 0) cli.say(`nothing of ${data.org.name} waits for a decision`)
  const text = table(
    data.purchases,
    [
      { title: 'ID', of: ({ purchaseId }) => purchaseId },
      { title: 'KIND', of: ({ kind }) => kind },
      { title: 'LICENCE', of: ({ name }) => name },
      { title: 'PROVIDER', of: ({ provider }) => provider },
      { title: 'AMOUNT', of: ({ amount }) => shownMoney({ amount, currency: 'USD' }) },
      { title: 'WHY', of: ({ reason }) => reason ?? '' },
      { title: 'SINCE', of: ({ since }) => shortTime(since) },
    ],
    cli.style,
  )
  const [first] = data.purchases
  return { data, ...(first && { text, next: first.kind === 'termination' ? SETTLE : GIVE_UP }) }
}

async function giveUp(cli: Cli, flags: Flags, purchaseId: string | undefined): Promise<Result> {
  if (purchaseId === undefined) throw new CliError('usage', 'say which purchase: its id is in the list')
  const operate = await ordering()
  await confirm(cli, `Has the provider delivered nothing for ${purchaseId}, and is nothing to come of it?`)
  const order = { ...inOrg('give-up-purchase', flags), purchaseId }
  const data = await operate<{ org: Org; purchaseId: string }>(cli, flags, order, 'giving up')
  return {
    data,
    text: `${cli.style.good('✓')} ${purchaseId} is given up, and its money is free as soon as nothing of it is left to cancel`,
  }
}

async function settle(cli: Cli, flags: Flags, terminationId: string | undefined): Promise<Result> {
  if (terminationId === undefined) throw new CliError('usage', 'say which termination: its id is in the list')
  if (flags.refund === undefined)
    throw new CliError('usage', 'say with --refund what the provider gives back', {
      fix: '--refund 0 if it is nothing',
    })
  const { amount: refund } = readMoney(flags.refund, '--refund')
  const shown = shownMoney({ amount: refund, currency: 'USD' })
  const operate = await ordering()
  await confirm(cli, `Has the provider ended the licence of ${terminationId}, and does ${shown} come back?`)
  const order = { ...inOrg('settle-termination', flags), terminationId, refund }
  const data = await operate<{ org: Org; terminationId: string; refund: string }>(cli, flags, order, 'deciding')
  return {
    data,
    text: `${cli.style.good('✓')} ${terminationId} is decided: the server settles it, and ${shown} comes back`,
  }
}

const NAMES = ['list', 'give-up', 'settle'] as const

export const licenseReview = command({
  summary: 'purchases and terminations that wait for a human: list, give-up, settle',
  about:
    'When a provider does not say what became of an order, the money stays held and the server goes on asking. Ask the provider yourself. If it has delivered, do nothing: the server finds out. If nothing is to come of it, give it up: the server cancels the order there, and frees the money when that is certain. What could not be cancelled for some hours is listed again; given up once more, its money is free at once. A termination that nobody knows of is settled with what the provider gives back, which may be nothing; one that was asked for the end of the period, and for which nothing comes back, ends then. Recorded in the audit trail of the organisation. An embedded database is worked on while its server is stopped.',
  args: {
    action: arg.one(NAMES.join(', '), { choices: NAMES }),
    id: arg.maybe('with give-up, of the purchase or renewal; with settle, of the termination'),
  },
  flags: { refund: flag.text('with settle: what comes back, 0 if nothing does', 'USD'), ...ORG, ...HOST },
  examples: [
    { run: 'strongroom admin license-review list', does: 'with what is held, and why' },
    { run: 'strongroom admin license-review give-up pur_0k3w --yes', does: 'asks nothing' },
    { run: 'strongroom admin license-review settle ter_8m2c --refund 4.50', does: 'asks first' },
  ],
  next: 'strongroom up',
  output: async () => (await shapes()).licenseReviewShape,
  run: async (cli, { args, flags }) => {
    if (args.action === 'list') return list(cli, flags)
    if (args.action === 'give-up') return giveUp(cli, flags, args.id)
    if (args.action === 'settle') return settle(cli, flags, args.id)
    throw new CliError('usage', `say what to do: ${NAMES.join(', ')}`)
  },
})

export const rotateIssuerKey = command({
  summary: 'another key for licence keys that this server issues itself',
  about:
    'Licences from now on are signed with it. Those that were signed before stay valid: every key stays published at /.well-known/license-issuer-keys.json. Whoever keeps a copy of that file for verifying offline gets it anew first.',
  args: {},
  flags: HOST,
  examples: [{ run: 'strongroom admin rotate-issuer-key --data /var/lib/strongroom', does: 'asks first' }],
  next: 'strongroom up',
  output: async () => (await shapes()).issuerKeyShape,
  run: async (cli, { flags }) => {
    const operate = await ordering()
    await confirm(cli, 'Whoever verifies licences with a copy of the published keys needs the new one. Go on?')
    const data = await operate<{ kid: string }>(cli, flags, { act: 'rotate-issuer-key' }, 'making a key')
    return { data, text: `${cli.style.good('✓')} Licences are signed with the key ${data.kid} from now on` }
  },
})
