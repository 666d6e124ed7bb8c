import { BUILT_IN, type Catalogue, type LicenseOffer } from '../../src/licenses/catalogue.ts'
import type { LicenseProvider, Providers } from '../../src/licenses/provider.ts'
import { makeProviders } from '../../src/licenses/providers.ts'
import { parseNetwork } from '../../src/outside/addresses.ts'
import { type Harness, startHarness } from '../harness.ts'
import { PRICE, type ReferenceProvider, SECRET, startReferenceProvider } from './reference-provider.ts'

// A server that buys from the reference provider on this machine.

const offer = (slug: string, term: LicenseOffer['term'], more: Partial<LicenseOffer> = {}): LicenseOffer => ({
  slug,
  name: `Mail ${slug}`,
  description: '',
  provider: 'acme',
  sku: 'MP1',
  price: PRICE,
  term,
  fields: [
    { label: 'MAIL_KEY', isEnvironmentVariable: true },
    { label: 'Account', isEnvironmentVariable: false },
  ],
  tenants: undefined,
  isAvailable: true,
  ...more,
})

export interface ProviderScene {
  readonly h: Harness
  readonly provider: ReferenceProvider
  readonly providers: Providers
}

export async function startProviderScene(canary = 'canary-of-a-credential'): Promise<ProviderScene> {
  let now = (): Date => new Date()
  const provider = await startReferenceProvider({
    secret: SECRET,
    prices: { MP1: PRICE },
    labels: { MP1: ['MAIL_KEY', 'Account'] },
    canary,
    now: () => now(),
  })
  const offers = [
    offer('mail-pro', 'month'),
    offer('mail-once', 'once'),
    offer('mail-closed', 'month', { isAvailable: false }),
    offer('mail-others', 'month', { tenants: ['ten_of_others'] }),
    offer('own-key', 'month', { provider: BUILT_IN }),
  ]
  const catalogue: Catalogue = {
    isSandbox: false,
    offers: new Map(offers.map((one) => [one.slug, one])),
    providers: new Map([['acme', { url: provider.url, secret: SECRET }]]),
  }
  const loopback = parseNetwork('127.0.0.0/8')
  const egress = { allowed: loopback ? [loopback] : [], ownHosts: [], nameServers: [] }
  const h = await startHarness({ catalogue, egress })
  now = h.deps.now
  return { h, provider, providers: makeProviders(h.deps) }
}

/** The same providers, one of them with other manners. */
export const withManners = (
  providers: Providers,
  change: (provider: LicenseProvider) => Partial<LicenseProvider>,
): Providers => new Map([...providers].map(([id, one]) => [id, { ...one, ...change(one) }]))
