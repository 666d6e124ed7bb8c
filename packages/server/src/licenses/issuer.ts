import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { Deps } from '../context.ts'
import { provideServerSecret } from '../secrets/server-secrets.ts'
import { BUILT_IN } from './catalogue.ts'
import { monthAfter } from './proration.ts'
import type { CancelRequest, LicenseOrder, LicenseProvider, OrderOutcome } from './provider.ts'
import type { Seal, SecretField } from './sealer.ts'

// The built-in issuer: licence keys that anybody can verify without asking us, `key/<payload>.<signature>` with Ed25519. What a key says
// follows from its order, so that an order that is asked for twice gives one licence.

const NAME = 'license-issuer-key/'

type Keeper = Pick<Deps, 'database' | 'rootKey' | 'now'>

interface IssuerKey {
  readonly kid: string
  readonly key: KeyObject
  readonly x: string
}

function keyOf(pkcs8: Buffer): IssuerKey {
  const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  return { key, x, kid: createHash('sha256').update(x).digest('base64url').slice(0, 16) }
}

const makeKey = (): Buffer => generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' })

async function numbers({ database }: Keeper): Promise<number[]> {
  const rows = await database.kysely
    .selectFrom('server_secret')
    .select('name')
    .where('name', 'like', `${NAME}%`)
    .execute()
  return rows.map(({ name }) => Number(name.slice(NAME.length))).sort((a, b) => a - b)
}

/** Oldest first; the last one signs, and all are published for as long as their licences run. */
export async function issuerKeys(keeper: Keeper): Promise<readonly [IssuerKey, ...IssuerKey[]]> {
  const [first = 1, ...rest] = await numbers(keeper)
  const open = async (n: number): Promise<IssuerKey> => keyOf(await provideServerSecret(keeper, `${NAME}${n}`, makeKey))
  return [await open(first), ...(await Promise.all(rest.map(open)))]
}

/** The next key of the ring; licences that were signed before stay valid. */
export async function rotateIssuerKey(keeper: Keeper): Promise<string> {
  const known = await numbers(keeper)
  const next = (known.at(-1) ?? 0) + 1
  return keyOf(await provideServerSecret(keeper, `${NAME}${next}`, makeKey)).kid
}

export const issuerJwks = async (keeper: Keeper) =>
  (await issuerKeys(keeper)).map(({ kid, x }) => ({ kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' }))

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

export function builtInIssuer(keeper: Keeper, seal: Seal, iss: string): LicenseProvider {
  const order = async (order: LicenseOrder): Promise<OrderOutcome> => {
    const ring = await issuerKeys(keeper)
    const sealed = await seal(order, 'at_source', fieldsOf(order, iss, ring.at(-1) ?? ring[0]))
    return { kind: 'active', instanceRef: order.instanceId, sealed, amount: order.amount, periodEnd: endOf(order) }
  }
  return {
    id: BUILT_IN,
    capabilities: {
      idempotentOrder: true,
      lookupByExternalId: false,
      credentialReplay: 'sealed_at_source',
      cancel: 'immediate',
      charges: 'computed',
    },
    order,
    getOrder: order,
    cancel: async ({ effective, periodEnd, at }: CancelRequest) =>
      effective === 'period_end' && periodEnd !== null && periodEnd > at
        ? { kind: 'scheduled', effectiveAt: periodEnd }
        : { kind: 'cancelled', effectiveAt: at, refundable: null },
  }
}
