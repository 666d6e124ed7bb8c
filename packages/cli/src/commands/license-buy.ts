import { shellLine } from '@strongroom/contract'
import type { LicenseDestination, LicenseInstance, LicenseOrder, Offer, Strongroom } from '@strongroom/sdk'
import { type Cli, confirm } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { arg, command, flag, type Result } from '../model/command.ts'
import { readMoney, shownMoney } from '../output/money.ts'
import { facts } from '../output/table.ts'
import { findPurchase, isTermination, ownLicenses, waitsForHandOff } from './license-find.ts'
import { watchPurchase, watchTermination } from './license-progress.ts'
import { inNumbers, repeatable } from './license-refusals.ts'

// Buying, and whatever comes of it later.

const shapes = () => import('../schemas/license.ts')
const TERMS = { month: 'a month', once: 'once' } as const
export const priceText = ({ price, term }: Pick<Offer, 'price' | 'term'>): string =>
  `${shownMoney(price)} ${TERMS[term]}`

/** `new:NAME`, or a vault that is there by name or id. */
export function destinationOf(given: string | undefined): LicenseDestination {
  if (given === undefined || given === '' || given === 'new:')
    throw new CliError('usage', '--vault is missing: where the credential goes', {
      fix: '--vault new:NAME makes a vault for it; or name one that is there',
    })
  return given.startsWith('new:') ? { create: given.slice('new:'.length) } : { existing: given }
}

const placeText = (vault: LicenseDestination): string =>
  'create' in vault ? `new vault ${vault.create}` : `vault ${vault.existing}`

export async function boughtText(cli: Cli, strongroom: Strongroom, instance: LicenseInstance): Promise<string> {
  const { vaultId, itemId, licenseInstanceId, purchaseId } = instance
  const vault = vaultId === null ? undefined : await strongroom.vaults.get(vaultId, { signal: cli.signal })
  return facts(
    [
      ['licence', licenseInstanceId],
      ['purchase', purchaseId],
      ['vault', vault?.name],
      ['item', itemId ?? undefined],
    ],
    cli.style,
  )
}

/** A price that was said with --max needs no second answer. */
async function agree(cli: Cli, offer: Offer, vault: LicenseDestination, max: string | undefined): Promise<void> {
  const price = priceText(offer)
  cli.say(
    facts(
      [
        [offer.licenseId, price],
        ['pays', 'the credit of the organisation, within the budgets that apply to you'],
        ['lands in', `${placeText(vault)}, encrypted on this machine`],
        ['brings', offer.schema.map(({ label }) => label).join(', ')],
      ],
      cli.errorStyle,
    ),
  )
  if (max === undefined) await confirm(cli, `Buy ${offer.licenseId} for ${price} into ${placeText(vault)}?`)
}

/** The same order to the last member: another one under the key is refused. */
function repeating({ license, vault, quantity, maxPrice }: LicenseOrder & { maxPrice: Offer['price'] }, key: string) {
  const place = 'create' in vault ? `new:${vault.create}` : vault.existing
  const seats = quantity === undefined ? '' : ` --quantity ${quantity}`
  const [max = ''] = shownMoney(maxPrice).split(' ')
  return `${shellLine`strongroom license buy ${license} --vault ${place} --max ${max}`}${seats}${shellLine` --idempotency-key ${key}`}`
}

export const buy = command({
  summary: 'buy a licence, and put its credential into a vault',
  about:
    'Says the price and asks; --yes or --max answer where nobody can be asked. The price is held in the credit and in every budget that applies, then the provider is asked, and the credential comes sealed to your key: this machine opens it, encrypts it into the vault and signs. Ctrl-C stops watching and nothing else; go on with license resume.',
  args: { license: arg.one('its name in the catalogue') },
  flags: {
    vault: flag.text('where the credential goes: a vault, or new:NAME', 'NAME', { completes: 'vault' }),
    max: flag.text('at most so much; agrees to any price up to it', 'USD'),
    quantity: flag.count('how many seats'),
    'idempotency-key': flag.text('of a purchase whose answer was lost: it is made once', 'KEY'),
  },
  examples: [
    { run: 'strongroom license buy sandbox-monthly --vault new:mailer', does: 'asks, with the price' },
    { run: 'strongroom license buy sandbox-monthly --vault prod --max 15 --json', does: 'for agents and scripts' },
  ],
  next: 'strongroom run --license NAME -- COMMAND',
  output: async () => (await shapes()).boughtShape,
  run: async (cli, { args, flags }) => {
    const { signal } = cli
    const vault = destinationOf(flags.vault)
    const max = flags.max === undefined ? undefined : readMoney(flags.max, '--max')
    const strongroom = await cli.strongroom()
    const amount = flags.quantity === undefined ? {} : { quantity: flags.quantity }
    const offer = await strongroom.licenses.quote(args.license, amount, { signal })
    await agree(cli, offer, vault, flags.max)
    const order = { license: args.license, vault, ...amount, maxPrice: max ?? offer.price }
    const given = flags['idempotency-key']
    const options = { signal, ...(given !== undefined && { idempotencyKey: given }) }
    const purchase = await repeatable(
      () => inNumbers(cli, async () => strongroom.licenses.buy(order, options)),
      (key) => repeating(order, key),
    )
    const data = await watchPurchase(cli, purchase)
    return {
      data,
      text: await boughtText(cli, strongroom, data),
      next: shellLine`strongroom run --license ${data.licenseInstanceId} -- COMMAND`,
    }
  },
})

export const handoff = command({
  summary: 'put what was bought into its vault',
  about: 'Only for who bought it, with the key it was sealed to. `license buy` does so by itself.',
  args: { purchase: arg.one('id of a purchase, or a licence') },
  flags: {},
  examples: [{ run: 'strongroom license handoff PURCHASE', does: 'opens, encrypts into the vault, signs' }],
  next: 'strongroom license list',
  output: async () => (await shapes()).boughtShape,
  run: async (cli, { args }) => {
    const strongroom = await cli.strongroom()
    const purchase = await findPurchase(cli, strongroom, args.purchase)
    const data = await purchase.handOff({ signal: cli.signal })
    return {
      data,
      text: await boughtText(cli, strongroom, data),
      next: shellLine`strongroom run --license ${data.licenseInstanceId} -- COMMAND`,
    }
  },
})

const endingText = ({ style }: Cli, ending: { effectiveAt: Date | null; refund: Offer['price'] | null }): string =>
  facts(
    [
      ['ends', ending.effectiveAt?.toISOString()],
      ['given back', ending.refund === null ? undefined : shownMoney(ending.refund)],
    ],
    style,
  )

/** Dates as JSON has them. */
const plainEnding = ({ effectiveAt, ...rest }: Awaited<ReturnType<typeof watchTermination>>) => ({
  ...rest,
  effectiveAt: effectiveAt?.toISOString() ?? null,
})

async function resumePurchases(cli: Cli, strongroom: Strongroom, ids: readonly string[]): Promise<Result> {
  const { signal } = cli
  const purchases: LicenseInstance[] = []
  for (const id of ids) {
    const purchase = await findPurchase(cli, strongroom, id)
    const isStopped = purchase.failure?.resumable === true
    const going = isStopped ? await inNumbers(cli, async () => purchase.resume({ signal })) : purchase
    purchases.push(await watchPurchase(cli, going))
  }
  const texts = await Promise.all(purchases.map((one) => boughtText(cli, strongroom, one)))
  return {
    data: { purchases, terminations: [] },
    text: texts.length === 0 ? 'nothing waits to be handed over' : texts.join('\n\n'),
    next: 'strongroom license list',
  }
}

export const resume = command({
  summary: 'go on with a purchase or a termination: one that failed, or one nobody watched',
  about: 'Without an id, whatever you have bought that waits to be put into its vault.',
  args: { id: arg.maybe('of a purchase or a termination; or a licence') },
  flags: {},
  examples: [
    { run: 'strongroom license resume', does: 'takes over what waits, after Ctrl-C for instance' },
    { run: 'strongroom license resume PURCHASE', does: 'tries a failed one again, from what the provider says' },
  ],
  next: 'strongroom license list',
  output: async () => (await shapes()).resumedShape,
  run: async (cli, { args: { id } }) => {
    const { signal } = cli
    const strongroom = await cli.strongroom()
    if (id !== undefined && isTermination(id)) {
      const termination = await strongroom.licenses.termination(id, { signal })
      const going = termination.failure?.resumable ? await termination.resume({ signal }) : termination
      const ending = await watchTermination(cli, going)
      return { data: { purchases: [], terminations: [plainEnding(ending)] }, text: endingText(cli, ending) }
    }
    if (id !== undefined) return resumePurchases(cli, strongroom, [id])
    const waiting = (await ownLicenses(cli, strongroom)).filter(waitsForHandOff)
    const { id: me } = await strongroom.me({ signal })
    const own = waiting.filter(({ buyer }) => buyer === me)
    return resumePurchases(
      cli,
      strongroom,
      own.map(({ purchaseId }) => purchaseId),
    )
  },
})

export const status = command({
  summary: 'how far a purchase or a termination is, and what to do next',
  args: { id: arg.one('of a purchase or a termination; or a licence') },
  flags: {},
  examples: [{ run: 'strongroom license status PURCHASE', does: 'each step with its time' }],
  next: 'strongroom license resume ID',
  output: async () => (await shapes()).statusShape,
  run: async (cli, { args: { id } }) => {
    const strongroom = await cli.strongroom()
    const now = isTermination(id)
      ? await strongroom.licenses.termination(id, { signal: cli.signal })
      : await findPurchase(cli, strongroom, id)
    const steps = now.history.map(({ state, at, note }) => [at.toISOString(), `${state} (${note})`] as const)
    const [fact, data] = 'price' in now ? purchaseFacts(now) : terminationFacts(now)
    const action = now.nextAction.type
    const text = facts(
      [['state', now.state], ...fact, ['stopped', now.failure?.message], ['next', action], ...steps],
      cli.style,
    )
    const history = now.history.map(({ at, ...rest }) => ({ ...rest, at: at.toISOString() }))
    const { licenseInstanceId, state, failure = null } = now
    const common = { id: now.id, state, licenseInstanceId, nextAction: action, failure, history }
    const isOpen = action === 'resume' || action === 'complete_vault_item'
    return {
      data: { ...common, ...data },
      text,
      ...(isOpen && { next: shellLine`strongroom license resume ${now.id}` }),
    }
  },
})

type Facts = readonly (readonly [string, string | undefined])[]

const purchaseFacts = (now: Awaited<ReturnType<typeof findPurchase>>): readonly [Facts, object] => [
  [
    ['licence', now.license],
    ['price', priceText(now)],
    ['vault', now.vault.name ?? now.vault.vaultId ?? undefined],
    ['item', now.itemId ?? undefined],
  ],
  { kind: 'purchase', license: now.license, price: now.price, vault: now.vault, itemId: now.itemId },
]

const terminationFacts = (
  now: Awaited<ReturnType<Strongroom['licenses']['termination']>>,
): readonly [Facts, object] => {
  const effectiveAt = now.effectiveAt?.toISOString() ?? null
  return [
    [
      ['ends', effectiveAt ?? undefined],
      ['given back', now.refund === null ? undefined : shownMoney(now.refund)],
    ],
    { kind: 'termination', effectiveAt, refund: now.refund },
  ]
}

export const terminate = command({
  summary: 'end a licence; what is left of its period is given back',
  about:
    'The provider is asked first, then the money is settled. The item stays in its vault, and its credential opens nothing any more.',
  args: { license: arg.one('id of a licence, or its name if you have one of it') },
  flags: {
    'at-period-end': flag.on('let it run until its period ends'),
    reason: flag.text('why, for the record', 'TEXT'),
  },
  examples: [{ run: 'strongroom license terminate sandbox-monthly --yes', does: 'now, with a refund' }],
  next: 'strongroom billing transactions',
  output: async () => (await shapes()).endingShape,
  run: async (cli, { args, flags }) => {
    const isLater = flags['at-period-end']
    const when = isLater ? 'when its period ends' : 'now'
    await confirm(cli, `End ${args.license} ${when}? Whatever uses its credential stops working.`)
    const { reason } = flags
    const params = { ...(isLater && { effective: 'period_end' as const }), ...(reason !== undefined && { reason }) }
    const strongroom = await cli.strongroom()
    const termination = await strongroom.licenses.terminate(args.license, params, { signal: cli.signal })
    const ending = await watchTermination(cli, termination)
    return { data: plainEnding(ending), text: endingText(cli, ending), next: 'strongroom billing transactions' }
  },
})
