import type {
  Input,
  License,
  licenses,
  Output,
  Purchase as PurchaseAnswer,
  Termination as TerminationAnswer,
} from '@strongroom/contract'
import type { IssuerKey } from '../provisioner.ts'
import type { ApiPromise, RequestOptions } from './call.ts'
import type { Core } from './core.ts'
import type { EnvBundle } from './env-bundle.ts'
import { type ListParams, numberedPages, type PagePromise } from './pages.ts'
import type { EnvOptions } from './secrets.ts'

// Licences: bought within budgets, handed over sealed to the own key, used from a vault, and ended. What takes longer than a request is an
// object that can be waited for; it goes on by itself on the server, and can be asked for again by its id.

export type Offer = Output<typeof licenses.quote>
export type PurchaseState = PurchaseAnswer['status']
export type TerminationState = TerminationAnswer['status']
type Amount = Offer['price']

/** An existing vault by id or name, or one that is made with the hand-off. */
export type LicenseDestination = { readonly existing: string } | { readonly create: string }

export interface LicenseOrder {
  /** The slug in the catalogue. */
  readonly license: string
  readonly vault: LicenseDestination
  readonly quantity?: number
  /** Refused with `quote_expired` where it costs more. */
  readonly maxPrice?: Amount
}

/** What was bought; without a vault and an item until it was handed over. */
export interface LicenseInstance {
  readonly licenseInstanceId: string
  readonly license: string
  readonly purchaseId: string
  readonly vaultId: string | null
  readonly itemId: string | null
}

export interface LongRunning<S extends string, R, Self> {
  readonly id: string
  /** As it was when it was last asked for. */
  readonly state: S
  readonly history: readonly { readonly state: S; readonly at: Date; readonly note: string }[]
  /** Where it has stopped. */
  readonly failure?: { readonly code: string; readonly message: string; readonly resumable: boolean }
  readonly nextAction: PurchaseAnswer['nextAction']
  /** Asks for it again. */
  refresh(options?: RequestOptions): ApiPromise<Self>
  /** Goes on with it where it has failed. */
  resume(options?: RequestOptions): ApiPromise<Self>
  /** Until it is done; refuses with `purchase_failed`, `purchase_in_review` and the like where nothing more comes of waiting. */
  wait(options?: WaitOptions<Self>): Promise<R>
}

export interface WaitOptions<Self> extends RequestOptions {
  /** At first, and with each new state. */
  readonly onProgress?: (now: Self) => void
  /** The first pause between two questions, in milliseconds; later ones are longer. */
  readonly pollMs?: number
}

export interface Purchase extends LongRunning<PurchaseState, LicenseInstance, Purchase> {
  readonly licenseInstanceId: string
  readonly license: string
  readonly name: string
  readonly price: Amount
  readonly term: Offer['term']
  readonly quantity: number
  readonly vault: PurchaseAnswer['vault']
  readonly itemId: string | null
  readonly resumableUntil: Date | null
  /** With `handOff: false` it is waited for only until it could be handed over. */
  wait(options?: WaitOptions<Purchase> & { readonly handOff?: boolean }): Promise<LicenseInstance>
  /** Takes what waits into its vault; `wait` does so by itself. */
  handOff(options?: RequestOptions): ApiPromise<LicenseInstance>
}

/** A termination that has ended, or one that is certain to end on a day. */
export interface Ending {
  readonly terminationId: string
  readonly licenseInstanceId: string
  readonly effectiveAt: Date | null
  /** What was given back; null while that is not known. */
  readonly refund: Amount | null
}

export interface Termination extends LongRunning<TerminationState, Ending, Termination>, Ending {}

export type TerminateOptions = Omit<Input<typeof licenses.terminate>['body'], 'licenseInstanceId'>

export interface Licenses {
  /** What can be bought under words like these, best first, with prices. */
  search(text: string, options?: RequestOptions): ApiPromise<readonly Offer[]>
  /** What a licence costs now, and what it brings. Nothing is held. */
  quote(license: string, params?: { readonly quantity?: number }, options?: RequestOptions): ApiPromise<Offer>
  /** Starts a purchase: the price is held. `wait` takes it to the item in the vault. */
  buy(order: LicenseOrder, options?: RequestOptions): ApiPromise<Purchase>
  /** One that was begun before, here or elsewhere. */
  purchase(purchaseId: string, options?: RequestOptions): ApiPromise<Purchase>
  list(params?: ListParams, options?: RequestOptions): PagePromise<License>
  /** The variables of a licence, by its id, or by the slug or name of the only one that the caller has. Verified. */
  env(license: string, options?: EnvOptions): ApiPromise<EnvBundle>
  /** Ends a licence, by id, slug or name; what is left of its period is given back. */
  terminate(license: string, params?: TerminateOptions, options?: RequestOptions): ApiPromise<Termination>
  termination(terminationId: string, options?: RequestOptions): ApiPromise<Termination>
  /** Names the provisioning key of this server in the policy of the organisation: for directory administrators, once. */
  enable(options?: RequestOptions): ApiPromise<{ readonly provisioner: string; readonly isNew: boolean }>
  /** Test credit for the licences of the sandbox: once for each organisation. */
  testCredit(options?: RequestOptions): ApiPromise<Output<typeof licenses.sandboxCredit>>
  /** What `verifyLicense` takes. */
  issuerKeys(options?: RequestOptions): ApiPromise<readonly IssuerKey[]>
}

const work = () => import('./license-work.ts')

export const licensesOf = (core: Core): Licenses => ({
  search: (text, options) => core.call(options, async (scope) => (await work()).search(scope, text)),
  quote: (licenseId, { quantity } = {}, options) =>
    core.call(options, ({ client, options: call }) =>
      client.licenses.quote({ body: { licenseId, ...(quantity !== undefined && { quantity }) } }, call),
    ),
  buy: (order, options) => core.keyed(options, async (place) => (await work()).buy(core, place, order)),
  purchase: (id, options) => core.call(options, async (scope) => (await work()).purchase(core, scope, id)),
  list: (params = {}, options) =>
    numberedPages(core, (query, client, call) => client.licenses.list({ query }, call), params, options),
  env: (license, options) =>
    core.keyed(options, async (place) => (await import('./license-env.ts')).licenseEnv(core, place, license, options)),
  terminate: (license, params = {}, options) =>
    core.call(options, async (scope) => (await work()).terminate(core, scope, license, params)),
  termination: (id, options) => core.call(options, async (scope) => (await work()).termination(core, scope, id)),
  enable: (options) => core.keyed(options, async (place) => (await work()).enable(place)),
  testCredit: (options) => core.call(options, ({ client, options: call }) => client.licenses.sandboxCredit({}, call)),
  issuerKeys: (options) => core.call(options, async (scope) => (await work()).issuerKeys(scope)),
})
