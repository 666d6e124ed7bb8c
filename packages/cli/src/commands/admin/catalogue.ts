import type { CatalogueOffer, Input, catalogue as routes } from '@strongroom/contract'
import { type Cli, confirm } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { arg, command, type Result } from '../../model/command.ts'
import { shownMoney } from '../../output/money.ts'
import { table } from '../../output/table.ts'
import { parseGiven, readGiven } from '../../place/given-file.ts'
import { operatorOf } from '../../place/operator.ts'

type Offer = CatalogueOffer
type Body = Input<typeof routes.put>['body']

const offersOf = async (cli: Cli): Promise<readonly Offer[]> =>
  (await (await operatorOf(cli)).catalogue.list({}, { signal: cli.signal })).data

const offersText = (cli: Cli, offers: readonly Offer[]): string =>
  table(
    offers,
    [
      { title: 'LICENCE', of: ({ licenseId }) => licenseId },
      { title: 'NAME', of: ({ name }) => name },
      { title: 'PROVIDER', of: ({ provider }) => provider },
      { title: 'PRICE', of: ({ price, term }) => `${shownMoney(price)} ${term}`, right: true },
      { title: 'STATUS', of: ({ status }) => status },
      { title: 'FROM', of: ({ source }) => source },
    ],
    cli.style,
  )

async function list(cli: Cli): Promise<Result> {
  const data = await offersOf(cli)
  return { data, meta: { total: data.length }, text: offersText(cli, data) }
}

type Written = Readonly<Record<string, unknown>> & { readonly licenseId: string }

const isWritten = (one: unknown): one is Written =>
  typeof one === 'object' && one !== null && typeof (one as { licenseId?: unknown }).licenseId === 'string'

/** A list of offers as `list --json` prints them under `data`; those that the file of the server names are left to it. */
async function readOffers(cli: Cli, path: string): Promise<readonly Written[]> {
  const given = parseGiven(await readGiven(cli, path), path)
  const offers: unknown = Array.isArray(given) ? given : (given as { data?: unknown } | null)?.data
  if (!Array.isArray(offers) || !offers.every(isWritten))
    throw new CliError('usage', `${path} is no list of offers with a licenseId each`, {
      fix: 'strongroom admin catalogue list --json   prints one',
    })
  return offers.filter(({ source }) => source !== 'file')
}

/** One after the other: what the server refuses ends it, and says which offer that was. */
async function apply(cli: Cli, path: string | undefined): Promise<Result> {
  if (path === undefined)
    throw new CliError('usage', 'say which file', { fix: 'strongroom admin catalogue apply FILE' })
  const offers = await readOffers(cli, path)
  await confirm(cli, `Put ${offers.length} offers of ${path} on sale, or change them?`)
  const operator = (await operatorOf(cli)).catalogue
  for (const { licenseId, source: _, ...body } of offers) {
    // What is in the file is for the server to judge.
    const call = { params: { licenseId }, body: body as unknown as Body }
    await operator.put(call, { signal: cli.signal }).catch((error: unknown) => {
      cli.say(`${licenseId} was not taken; what is above it in ${path} was`)
      throw error
    })
    cli.say(`${licenseId} is as it is in ${path}`)
  }
  const data = await offersOf(cli)
  return { data, meta: { applied: offers.length, total: data.length }, text: offersText(cli, data) }
}

async function remove(cli: Cli, licenseId: string | undefined): Promise<Result> {
  if (licenseId === undefined) throw new CliError('usage', 'say which licence: its id is in the list')
  await confirm(cli, `Take ${licenseId} off sale for good? Those that were bought run on.`)
  await (await operatorOf(cli)).catalogue.remove({ params: { licenseId } }, { signal: cli.signal })
  const data = await offersOf(cli)
  return { data, meta: { total: data.length }, text: `${cli.style.good('✓')} ${licenseId} is off sale` }
}

const NAMES = ['list', 'apply', 'remove'] as const

export const catalogue = command({
  summary: 'what can be bought on this server: list, apply, remove',
  about:
    'Asks the running server, with a global-admin key in STRONGROOM_API_KEY or STRONGROOM_API_KEY_FILE and its address in STRONGROOM_SERVER. What the file of the server (STRONGROOM_CATALOGUE) names is changed there. apply takes the list that list --json prints, with your changes: what is not in it stays as it is. What was bought before stays as it was bought.',
  args: {
    action: arg.one(NAMES.join(', '), { choices: NAMES }),
    subject: arg.maybe('with apply: the file; with remove: the id of the licence', { completes: 'file' }),
  },
  flags: {},
  examples: [
    { run: 'strongroom admin catalogue list --json', does: 'every offer, and where it is written down' },
    { run: 'strongroom admin catalogue apply offers.json --yes', does: 'puts them on sale' },
  ],
  next: 'strongroom admin global-admin-key revoke   when you are done',
  output: async () => (await import('../../schemas/catalogue.ts')).catalogueShape,
  run: async (cli, { args }) => {
    if (args.action === 'list') return list(cli)
    if (args.action === 'apply') return apply(cli, args.subject)
    if (args.action === 'remove') return remove(cli, args.subject)
    throw new CliError('usage', `say what to do: ${NAMES.join(', ')}`)
  },
})
