import type { LicenseInstance, Purchase, Strongroom } from '@strongroom/sdk'
import { Type } from 'typebox'
import type { Cli } from '../../cli.ts'
import { destinationOf } from '../../commands/license-buy.ts'
import { inNumbers } from '../../commands/license-refusals.ts'
import { CliError } from '../../errors/cli-error.ts'
import { readMoney, shownMoney } from '../../output/money.ts'
import { closed, LOOKS, tool } from '../tool.ts'

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const nullable = Type.Union([Type.String(), Type.Null()])

export const searchLicenses = tool({
  name: 'search_licenses',
  title: 'Search licences',
  description: 'Licences that you could buy under words like these, best first, with prices. Nothing is held.',
  input: closed({ text: text(256) }),
  output: closed({
    licenses: Type.Array(
      closed({
        license: Type.String({ description: 'for buy_license' }),
        name: Type.String(),
        description: Type.String(),
        provider: Type.String(),
        price: Type.String(),
        term: Type.String(),
        variables: Type.Array(Type.String()),
      }),
    ),
  }),
  annotations: LOOKS,
  run: async (cli, { text: words }) => {
    const offers = await (await cli.strongroom()).licenses.search(words, { signal: cli.signal })
    return {
      licenses: offers.map(({ licenseId, name, description, provider, price, term, schema }) => ({
        license: licenseId,
        name,
        description,
        provider,
        price: shownMoney(price),
        term,
        variables: schema.map(({ label }) => label),
      })),
    }
  },
})

const WAIT_SECONDS = 20

interface Wanted {
  readonly purchaseId?: string
  readonly license?: string
  readonly vault?: string
  readonly maxPrice?: string
  readonly quantity?: number
  readonly idempotencyKey?: string
}

/** One that goes on, as it is; one that has stopped and can go on is told to. */
async function again(cli: Cli, { licenses }: Strongroom, purchaseId: string): Promise<Purchase> {
  const { signal } = cli
  const purchase = await licenses.purchase(purchaseId, { signal })
  return purchase.failure?.resumable ? inNumbers(cli, async () => purchase.resume({ signal })) : purchase
}

async function begun(cli: Cli, strongroom: Strongroom, wanted: Wanted): Promise<Purchase> {
  const { purchaseId, license, vault, maxPrice, quantity, idempotencyKey } = wanted
  if (purchaseId !== undefined) return again(cli, strongroom, purchaseId)
  if (license === undefined || vault === undefined || maxPrice === undefined)
    throw new CliError('usage', 'a purchase needs license, vault and maxPrice', {
      fix: 'give all three; or purchaseId alone, to ask for one that was begun before',
    })
  const order = {
    license,
    vault: destinationOf(vault),
    maxPrice: readMoney(maxPrice, 'maxPrice'),
    ...(quantity !== undefined && { quantity }),
  }
  const options = { signal: cli.signal, ...(idempotencyKey !== undefined && { idempotencyKey }) }
  return inNumbers(cli, async () => strongroom.licenses.buy(order, options))
}

/** Until it is in its vault, or for so long; it goes on without us. */
async function waited({ signal }: Cli, purchase: Purchase, seconds: number): Promise<LicenseInstance | undefined> {
  const enough = AbortSignal.timeout(seconds * 1000)
  try {
    return await purchase.wait({ signal: AbortSignal.any([signal, enough]) })
  } catch (error) {
    if (enough.aborted && !signal.aborted) return undefined
    throw error
  }
}

export const buyLicense = tool({
  name: 'buy_license',
  title: 'Buy a licence',
  description:
    'Buys a licence within the budgets that apply to you, and puts its credential into a vault, encrypted on this machine; it is not returned. Takes license, vault and maxPrice. One that takes longer comes back with done: false; call again with purchaseId alone. Give an idempotencyKey of your own to be able to repeat a call without buying twice.',
  input: closed({
    license: Type.Optional(text(256)),
    vault: Type.Optional(Type.String({ description: 'a vault, or new:NAME', minLength: 1, maxLength: 256 })),
    maxPrice: Type.Optional(Type.String({ description: 'at most so many USD, like 12.50', pattern: '^[0-9.]{1,20}$' })),
    quantity: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
    idempotencyKey: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{8,64}$' })),
    purchaseId: Type.Optional(Type.String({ description: 'of one that was begun before', pattern: '^pur_\\w{1,64}$' })),
    waitSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 60, default: WAIT_SECONDS })),
  }),
  output: closed({
    purchaseId: Type.String(),
    state: Type.String(),
    done: Type.Boolean({ description: 'the credential is in its vault' }),
    license: Type.String(),
    price: Type.String(),
    licenseInstanceId: Type.String(),
    vaultId: nullable,
    itemId: nullable,
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  run: async (cli, { waitSeconds = WAIT_SECONDS, ...wanted }) => {
    const strongroom = await cli.strongroom()
    const purchase = await begun(cli, strongroom, wanted)
    const bought = await waited(cli, purchase, waitSeconds)
    const { state, license, price, licenseInstanceId, vault, itemId } = await purchase.refresh({ signal: cli.signal })
    return {
      purchaseId: purchase.id,
      state,
      done: bought !== undefined,
      license,
      price: shownMoney(price),
      licenseInstanceId,
      vaultId: bought?.vaultId ?? vault.vaultId,
      itemId: bought?.itemId ?? itemId,
    }
  },
})
