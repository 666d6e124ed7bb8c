import type { Deps } from '../context.ts'
import { sendOut } from '../outside/egress.ts'
import { apart } from './apart.ts'
import { BUILT_IN, type HttpProviderSettings } from './catalogue.ts'
import type { Answer, Errand } from './errand.ts'
import { HTTP_CAPABILITIES } from './http-provider.ts'
import { httpRenewal } from './http-terms.ts'
import { httpUsage } from './http-usage.ts'
import { ISSUER_CAPABILITIES } from './issuer.ts'
import { signingIssuerKey } from './issuer-ring.ts'
import {
  type CancelOutcome,
  type Capabilities,
  type LicenseOrder,
  type LicenseProvider,
  type OrderOutcome,
  type Providers,
  registerProviders,
} from './provider.ts'
import { provisioningPem } from './sealer.ts'
import type { Outbound } from './signed-http.ts'

type Needs = Pick<Deps, 'config' | 'database' | 'rootKey' | 'now'>

/** Guarded: an address that a catalogue names is looked at like any other that somebody has written. */
const egressOf = ({ config: { egress } }: Needs): Errand['egress'] => ({
  ...egress,
  allowed: egress.allowed.map(([address, bits]) => `${address.toString()}/${bits}`),
})

const wireOf = ({ recipient: { kid, bundle }, ...order }: LicenseOrder) => ({ ...order, recipient: { kid, bundle } })

/** Asked from here, carried out where secrets may be seen. */
function remote(
  deps: Needs,
  id: string,
  capabilities: Capabilities,
  sellerOf: () => Promise<Errand['seller']>,
): LicenseProvider {
  const about = async () => ({
    seller: await sellerOf(),
    provisioner: await provisioningPem(deps),
    egress: egressOf(deps),
    at: deps.now(),
  })
  const ask = async (method: 'order' | 'getOrder', order: LicenseOrder): Promise<Answer> =>
    apart({ ...(await about()), method, order: wireOf(order) })
  return {
    id,
    capabilities,
    order: async (order) => (await ask('order', order)) as OrderOutcome,
    getOrder: async (order) => (await ask('getOrder', order)) as OrderOutcome | { readonly kind: 'not_found' },
    cancel: async (request) => (await apart({ ...(await about()), method: 'cancel', request })) as CancelOutcome,
  }
}

/** Everybody the catalogue buys from, and the issuer of this server itself. */
export function makeProviders(deps: Needs): Providers {
  const { catalogue, hosts, host } = deps.config
  const iss = hosts[0] ?? host
  const outbound: Outbound = (outgoing) => sendOut(outgoing, deps.config.egress)
  const issuer = remote(deps, BUILT_IN, ISSUER_CAPABILITIES, async () => ({
    iss,
    issuerKey: await signingIssuerKey(deps),
  }))
  const shop = ([id, settings]: [string, HttpProviderSettings]): LicenseProvider => ({
    ...remote(deps, id, HTTP_CAPABILITIES, async () => settings),
    renew: httpRenewal({ outbound, now: deps.now }, settings),
    usage: httpUsage({ outbound, now: deps.now }, settings),
  })
  return registerProviders([issuer, ...[...catalogue.providers].map(shop)])
}
