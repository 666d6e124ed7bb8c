import { platform } from '#platform'
import { fromBase64, toBase64, toBase64url } from '../encoding/base64.ts'
import { type Bytes, concat } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'
import { ML_KEM_PKCS8_PREFIX } from '../platform/ml-kem-der.ts'
import type { Awaitable } from '../platform/platform.ts'
import { isPlainPkcs8, privateKeyType } from './der.ts'
import type { Kid, Principal } from './identifiers.ts'
import { type CheckedKey, checkOwnKey, deriveKeyId, type KeyBundle } from './key-bundle.ts'

/** The private bytes of a key bundle: PKCS#8 for RSA and Ed25519, the 64-byte seed for ML-KEM. Never leaves its owner. */
export interface PrivateKeyMaterial {
  readonly enc: Bytes
  /** Absent for an RSA-only key, which signs with `enc`. */
  readonly sig: Bytes | null
  readonly kem: Bytes | null
}

export interface Signer {
  readonly kid: Kid
  readonly key: CheckedKey
  sign(message: Uint8Array): Awaitable<Bytes>
}

/** Payloads of wrapped keys that were opened before, by the hash of the wrap. They are checked like those that are opened now. */
export interface WrapMemory {
  recall(wrap: string): Bytes | undefined
  /** Nothing to do for what is kept already. */
  keep(wrap: string, payload: Bytes): Promise<void>
}

/** What a wrapped key is opened with; an HSM or a KMS can implement it. */
export interface Recipient {
  readonly kid: Kid
  readonly key: CheckedKey
  rsaDecrypt(ciphertext: Uint8Array): Awaitable<Bytes | undefined>
  /** Present iff the bundle is hybrid. */
  decapsulate?(ciphertext: Uint8Array): Awaitable<Bytes>
  readonly memory?: WrapMemory
}

export type Identity = Signer & Recipient

export interface MakeKeysOptions {
  readonly rsaBits?: 2048 | 3072 | 4096
  readonly hybrid?: boolean
  readonly rsaOnly?: boolean
}

/** New private keys: RSA to unwrap and a separate Ed25519 key to sign (3.5), with ML-KEM where `hybrid` (3.4). */
export async function makeKeys({
  rsaBits = 3072,
  hybrid = false,
  rsaOnly = false,
}: MakeKeysOptions = {}): Promise<PrivateKeyMaterial> {
  return {
    enc: await platform.makeRsa(rsaBits),
    sig: rsaOnly ? null : await platform.makeEd25519(),
    kem: hybrid ? (await platform.makeMlKem()).seed : null,
  }
}

/** Private bytes → usable keys of one principal. The public bundle is computed from them, so the two can never disagree. */
export async function openKeys(principal: Principal, material: PrivateKeyMaterial): Promise<Identity> {
  const isPlain = isPlainPkcs8(material.enc, 'rsa') && (!material.sig || isPlainPkcs8(material.sig, 'ed25519'))
  ensure(isPlain, 'malformed', 'a private key is not in its plain PKCS#8 form')
  const rsa = await importing(() => platform.importRsa(material.enc))
  const ed = material.sig ? await importing(() => platform.importEd25519(material.sig as Bytes)) : null
  const kem = material.kem ? await importing(() => platform.importMlKem(material.kem as Bytes)) : null
  const bundle: KeyBundle = {
    enc: toBase64url(rsa.spki),
    encAlg: 'RSA-OAEP-256',
    sig: toBase64url(ed ? ed.spki : rsa.spki),
    sigAlg: ed ? 'EdDSA' : 'PS256',
    ...(kem && { kem: toBase64url(kem.publicKey), kemAlg: 'ML-KEM-768' }),
  }
  const kid: Kid = `${principal}:${deriveKeyId(bundle)}`
  return {
    kid,
    key: checkOwnKey(kid, bundle),
    sign: (message) => (ed ? platform.ed25519Sign(ed.key, message) : platform.rsaPssSign(rsa.signKey, message)),
    rsaDecrypt: (ciphertext) => platform.rsaOaepDecrypt(rsa.decryptKey, ciphertext),
    ...(kem && { decapsulate: (ciphertext: Uint8Array) => platform.mlKemDecapsulate(kem.key, ciphertext) }),
  }
}

async function importing<T>(run: () => Awaitable<T>): Promise<T> {
  try {
    return await run()
  } catch {
    // The cause may quote key material, so it is dropped on purpose.
    ensure(false, 'malformed', 'a private key cannot be read')
  }
}

const BEGIN = '-----BEGIN PRIVATE KEY-----'
const END = '-----END PRIVATE KEY-----'

const block = (pkcs8: Uint8Array): string =>
  `${BEGIN}\n${(toBase64(pkcs8).match(/.{1,64}/g) ?? []).join('\n')}\n${END}\n`

/** One PEM file: RSA first, so that parsers that know only RSA still work, then Ed25519, then ML-KEM (3.5). */
export const encodePem = ({ enc, sig, kem }: PrivateKeyMaterial): string =>
  block(enc) + (sig ? block(sig) : '') + (kem ? block(concat(ML_KEM_PKCS8_PREFIX, kem)) : '')

/** Text around blocks is allowed (RFC 7468), but what begins must end: a damaged block must not make an RSA-only key. */
function blocksOf(pem: string): Bytes[] {
  const [, ...parts] = pem.split(BEGIN)
  return parts.map((part) => {
    const end = part.indexOf(END)
    ensure(end >= 0, 'malformed', 'a PEM file holds a block without an end')
    return fromBase64(part.slice(0, end).replace(/\s+/g, ''))
  })
}

export function decodePem(pem: string): PrivateKeyMaterial {
  ensure(pem.length <= 32_768, 'limit_exceeded', 'a PEM file is too large')
  const found: { rsa?: Bytes; ed25519?: Bytes; 'ml-kem-768'?: Bytes } = {}
  for (const pkcs8 of blocksOf(pem)) {
    const type = privateKeyType(pkcs8)
    ensure(!found[type], 'malformed', `a PEM file holds two ${type} keys`)
    found[type] = pkcs8
  }
  ensure(found.rsa, 'malformed', 'a PEM file holds no RSA private key in PKCS#8 form')
  return {
    enc: found.rsa,
    sig: found.ed25519 ?? null,
    kem: found['ml-kem-768']?.slice(ML_KEM_PKCS8_PREFIX.length) ?? null,
  }
}
