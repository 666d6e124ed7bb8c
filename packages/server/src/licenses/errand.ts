import { checkKey, type KeyBundle } from '@strongroom/protocol'
import { parseNetwork } from '../outside/addresses.ts'
import { type EgressPolicy, sendOut } from '../outside/egress.ts'
import type { HttpProviderSettings } from './catalogue.ts'
import { httpProvider } from './http-provider.ts'
import { builtInIssuer, issuerKeyOf } from './issuer.ts'
import type { CancelOutcome, CancelRequest, LicenseOrder, OrderOutcome, Seller } from './provider.ts'
import { makeSealer, openProvisioner, type Seal } from './seal.ts'

// What the process that sees secrets in the clear is asked, with everything it needs for it, and what it answers: only what is sealed.

type Asked =
  | {
      readonly method: 'order' | 'getOrder'
      readonly order: Omit<LicenseOrder, 'recipient'> & {
        readonly recipient: { readonly kid: string; readonly bundle: KeyBundle }
      }
    }
  | { readonly method: 'cancel'; readonly request: CancelRequest }

export type Errand = Asked & {
  readonly seller: HttpProviderSettings | { readonly iss: string; readonly issuerKey: Uint8Array }
  /** The key that signs what is sealed, as PEM. */
  readonly provisioner: string
  readonly egress: Omit<EgressPolicy, 'allowed'> & { readonly allowed: readonly string[] }
  /** The time of who asks. */
  readonly at: Date
}

export type Answer = OrderOutcome | CancelOutcome | { readonly kind: 'not_found' }

function sellerOf({ seller, egress }: Errand, seal: Seal, now: () => Date): Seller {
  if ('iss' in seller) return builtInIssuer(issuerKeyOf(seller.issuerKey), seal, seller.iss)
  const allowed = egress.allowed.map(parseNetwork).filter((network) => network !== undefined)
  return httpProvider({ outbound: (outgoing) => sendOut(outgoing, { ...egress, allowed }), seal, now }, seller)
}

export async function carryOut(errand: Errand): Promise<Answer> {
  const aheadMs = errand.at.getTime() - Date.now()
  const now = (): Date => new Date(Date.now() + aheadMs)
  const seal = makeSealer(await openProvisioner(errand.provisioner), now)
  const seller = sellerOf(errand, seal, now)
  if (errand.method === 'cancel') return seller.cancel(errand.request)
  const { kid, bundle } = errand.order.recipient
  return seller[errand.method]({ ...errand.order, recipient: checkKey(kid, bundle) })
}
