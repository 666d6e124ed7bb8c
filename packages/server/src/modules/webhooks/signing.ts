import { createHmac, createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import type { Deps } from '../../context.ts'
import type { Database, Db } from '../../db/database.ts'
import { openRootKey, type RootKey } from '../../secrets/root-key.ts'
import { provideServerSecret } from '../../secrets/server-secrets.ts'
import * as store from './store.ts'

// Standard Webhooks: what is signed is `id.timestamp.body`, byte for byte as it is sent. `v1` is an HMAC with the secret of the endpoint,
// `v1a` an Ed25519 signature with the key of the organisation, for those who want to hold no secret.

const SECRET_BYTES = 32
const SEALING = 'webhook-sealing'

type Keeping = Pick<Deps, 'database' | 'rootKey' | 'now'>

const sealers = new WeakMap<Database, Promise<RootKey>>()

/** Secrets of endpoints are sealed under a key of their own, which hangs on the root key: rotating that one leaves them as they are. */
export function sealerOf(deps: Keeping): Promise<RootKey> {
  const known = sealers.get(deps.database)
  if (known) return known
  const made = provideServerSecret(deps, SEALING, () => randomBytes(32)).then(openRootKey)
  sealers.set(deps.database, made)
  // What failed once may work the next time.
  made.catch(() => sealers.delete(deps.database))
  return made
}

const secretName = (endpointId: string): string => `webhook ${endpointId}`
const keyName = (orgId: string): string => `webhook key ${orgId}`

export const makeSecret = (): Buffer => randomBytes(SECRET_BYTES)
export const showSecret = (secret: Uint8Array): string => `whsec_${Buffer.from(secret).toString('base64')}`
export const showPublicKey = (key: Uint8Array): string => `whpk_${Buffer.from(key).toString('base64')}`

export const sealSecret = (sealer: RootKey, endpointId: string, secret: Uint8Array): Buffer =>
  sealer.seal(secretName(endpointId), secret)

function opened(secret: Buffer | undefined): Buffer {
  if (!secret) throw new Error('a secret of a webhook endpoint does not open')
  return secret
}

const RAW_KEY_BYTES = 32

/** The public key of the organisation, made by the first endpoint that is signed with it. */
export async function provideSigningKey(
  sealer: RootKey,
  { now }: Pick<Deps, 'now'>,
  db: Db,
  orgId: string,
): Promise<void> {
  if (await store.signingKey(db, orgId)) return
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-RAW_KEY_BYTES)
  const sealed = sealer.seal(keyName(orgId), privateKey.export({ format: 'der', type: 'pkcs8' }))
  await store.insertSigningKey(db, orgId, { publicKey: raw, sealed }, now())
}

/** What makes the signatures of one endpoint, as it is stored. */
export interface Signer {
  readonly endpointId: string
  readonly secret: Buffer | null
  /** Those before it, with the end of each; null where there was none. */
  readonly oldSecrets: readonly (Buffer | null)[]
  readonly oldSecretsUntil: readonly (Date | null)[]
  readonly orgKey: Buffer | null
}

/** What one attempt was signed with: kept, since a secret that is rotated cannot make it again. */
export interface Signed {
  readonly at: Date
  readonly signature: string
}

const secondsOf = (at: Date): number => Math.floor(at.getTime() / 1000)

/** What the signatures are of. */
export const baseString = (eventId: string, at: Date, body: string): string => `${eventId}.${secondsOf(at)}.${body}`

export const signedHeaders = (eventId: string, { at, signature }: Signed) => ({
  'webhook-id': eventId,
  'webhook-timestamp': String(secondsOf(at)),
  'webhook-signature': signature,
})

export function signMessage(
  sealer: RootKey,
  orgId: string,
  signer: Signer,
  message: { readonly eventId: string; readonly body: string; readonly at: Date },
): Signed {
  const { eventId, body, at } = message
  const content = Buffer.from(baseString(eventId, at, body))
  return { at, signature: signaturesOf(sealer, orgId, signer, content, at).join(' ') }
}

function signaturesOf(sealer: RootKey, orgId: string, signer: Signer, content: Buffer, at: Date): string[] {
  const { endpointId, secret, oldSecrets, oldSecretsUntil, orgKey } = signer
  if (secret === null) {
    const der = opened(orgKey === null ? undefined : sealer.open(keyName(orgId), orgKey))
    const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    return [`v1a,${sign(null, content, key).toString('base64')}`]
  }
  const stillGood = oldSecrets.flatMap((old, i) => {
    const until = oldSecretsUntil[i]
    return old && until && until > at ? [old] : []
  })
  return [secret, ...stillGood].map((sealed) => {
    const key = opened(sealer.open(secretName(endpointId), sealed))
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
  })
}
