import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { monthAfter } from './proration.ts'
import type { CancelRequest, Capabilities, LicenseOrder, OrderOutcome, Seller } from './provider.ts'
import type { Seal, SecretField } from './seal.ts'

// The built-in issuer: licence keys that anybody can verify without asking us, `key/<payload>.<signature>` with Ed25519. What a key says
// follows from its order, so that an order that is asked for twice gives one licence.

export interface IssuerKey {
  readonly kid: string
  readonly key: KeyObject
  readonly x: string
}

export function issuerKeyOf(pkcs8: Uint8Array): IssuerKey {
  const key = createPrivateKey({ key: Buffer.from(pkcs8), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  return { key, x, kid: createHash('sha256').update(x).digest('base64url').slice(0, 16) }
}

const ALPHABET = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')

/** Into bytes and not into a text: a text stays in memory until it pleases the collector. */
function base64url(bytes: Uint8Array): Buffer {
  const out = Buffer.alloc(Math.ceil((bytes.length * 4) / 3))
  for (let i = 0; i < out.length; i++) {
    const bit = i * 6
    const pair = ((bytes[bit >> 3] ?? 0) << 8) | (bytes[(bit >> 3) + 1] ?? 0)
    out[i] = ALPHABET[(pair >> (10 - (bit & 7))) & 63] ?? 0
  }
  return out
}

const seconds = (at: Date): number => Math.floor(at.getTime() / 1000)
const endOf = ({ term, orderedAt }: LicenseOrder): Date | null => (term === 'month' ? monthAfter(orderedAt) : null)

function payloadOf(order: LicenseOrder, iss: string, kid: string): object {
  const { instanceId, orgId, sku, quantity, orderedAt } = order
  const [iat, end] = [seconds(orderedAt), endOf(order)]
  const exp = end && { exp: seconds(end) }
  return { v: 1, iss, kid, lic: instanceId, sku, sub: orgId, ent: [], seats: quantity, iat, nbf: iat, ...exp }
}

function licenseKey(order: LicenseOrder, iss: string, { key, kid }: IssuerKey): Uint8Array<ArrayBuffer> {
  const payload = base64url(Buffer.from(JSON.stringify(payloadOf(order, iss, kid))))
  const signed = Buffer.concat([Buffer.from('key/'), payload])
  const signature = base64url(sign(null, signed, key))
  const whole = new Uint8Array(signed.length + 1 + signature.length)
  whole.set(signed)
  whole[signed.length] = 0x2e
  whole.set(signature, signed.length + 1)
  signature.fill(0)
  return whole
}

/** Variables of the environment get the key, other fields the number of the licence. */
function fieldsOf(order: LicenseOrder, iss: string, key: IssuerKey): SecretField[] {
  return order.fields.map(({ label, env }) => ({
    label,
    env,
    bytes: env ? licenseKey(order, iss, key) : new Uint8Array(Buffer.from(order.instanceId)),
  }))
}

export const ISSUER_CAPABILITIES: Capabilities = {
  idempotentOrder: true,
  lookupByExternalId: false,
  credentialReplay: 'sealed_at_source',
  cancel: 'immediate',
  charges: 'computed',
}

export function builtInIssuer(key: IssuerKey, seal: Seal, iss: string): Seller {
  const order = async (order: LicenseOrder): Promise<OrderOutcome> => {
    const sealed = await seal(order, 'at_source', fieldsOf(order, iss, key))
    const { instanceId: instanceRef, amount, orderedAt: periodStart } = order
    return { kind: 'active', instanceRef, sealed, amount, periodStart, periodEnd: endOf(order) }
  }
  return {
    order,
    getOrder: order,
    cancel: async ({ effective, periodEnd, at }: CancelRequest) =>
      effective === 'period_end' && periodEnd !== null && periodEnd > at
        ? { kind: 'scheduled', effectiveAt: periodEnd }
        : { kind: 'cancelled', effectiveAt: at, refundable: null },
  }
}
