import { platform } from '#platform'
import { fromBase64url, toBase64url } from '../encoding/base64.ts'
import { type Bytes, concat } from '../encoding/bytes.ts'
import { canonical, parseStrict } from '../encoding/canonical.ts'
import { lp } from '../encoding/lp.ts'
import { bytesText, record } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import { type Identity, openKeys, type PrivateKeyMaterial } from '../identity/private-keys.ts'
import { deriveKey } from '../values/dek.ts'
import { codeBytes, type DeviceSecret } from './codes.ts'
import type { CheckedPhc } from './kdf-floor.ts'

// Section 8: a user's private keys, sealed under a key that only the user can derive. The server keeps the text.

const PREFIX = 'vub3.'
const HEADER_BYTES = 2
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** RSA-4096, Ed25519 and ML-KEM, encoded twice, stay below half of it. */
const MAX_TEXT_LENGTH = 16_384
const MAX_PKCS8_BYTES = 4096
const ML_KEM_SEED_BYTES = 64

/** Which bundle of whom: every change of passphrase or recovery code makes a new version, and so a new key. */
export interface BundleVersion {
  readonly org: string
  readonly orgUserId: string
  readonly bundleVersion: number
}

/** What a copy of the bundle is opened with: passphrase and device secret, or the recovery code. */
export type BundleKeyPurpose = 'unlock' | 'recovery'

declare const bundleKeyBrand: unique symbol
/** A key that opens one version of one user's bundle; no byte array can stand in for it. */
export interface BundleKey<P extends BundleKeyPurpose> extends BundleVersion {
  readonly [bundleKeyBrand]: true
  readonly purpose: P
}
export type UnlockKey = BundleKey<'unlock'>

// The bytes live outside the object: a key that is logged or serialised shows only public members.
const secrets = new WeakMap<object, Bytes>()
export const BUNDLE_KEY_BYTES = 32

/** Package-internal: a derived or recovered key begins here. */
export function brandBundleKey<P extends BundleKeyPurpose>(purpose: P, of: BundleVersion, bytes: Bytes): BundleKey<P> {
  const { org, orgUserId, bundleVersion } = of
  const key = Object.freeze({ purpose, org, orgUserId, bundleVersion }) as BundleKey<P>
  secrets.set(key, bytes)
  return key
}

/** Package-internal: the bytes, for sealing them to a recovery key only. */
export function bundleKeyBytes(key: BundleKey<BundleKeyPurpose>): Bytes {
  const bytes = secrets.get(key)
  ensure(bytes, 'unwrapped_key_missing', 'this bundle key was not derived or recovered by this package')
  return bytes
}

export interface UnlockSecrets {
  /** OPAQUE's export key (RFC 9807): 64 bytes with SHA-512, 32 with SHA-256. */
  readonly exportKey: Uint8Array
  readonly deviceSecret: DeviceSecret
}

/** unlock = HKDF-SHA-256(exportKey ‖ deviceSecret, "vault.v3", LP("vault.v3/unlock", org, orgUserId, bundleVersion), 32). */
export function deriveUnlockKey({ exportKey, deviceSecret }: UnlockSecrets, of: BundleVersion): UnlockKey {
  ensure(exportKey.length === 32 || exportKey.length === 64, 'malformed', 'an export key has 32 or 64 bytes')
  // The device secret always has 16 bytes, so the two parts cannot be cut elsewhere.
  const ikm = concat(exportKey, codeBytes(deviceSecret))
  const info = lp('vault.v3/unlock', of.org, of.orgUserId, of.bundleVersion)
  return brandBundleKey('unlock', of, deriveKey(ikm, info, BUNDLE_KEY_BYTES))
}

interface PhcParams {
  readonly unlock: CheckedPhc
  /** A recovery code is not stretched. */
  readonly recovery: ''
}

/** Where a sealed copy belongs. All of it is authenticated; the stretching parameters too, so that no other ones fit. */
export interface BundlePlace<P extends BundleKeyPurpose = 'unlock'> extends BundleVersion {
  readonly kid: string
  readonly phcParams: PhcParams[P]
}

type AnyPlace = BundlePlace<BundleKeyPurpose>

const associatedData = ({ org, orgUserId, kid, bundleVersion, phcParams }: AnyPlace): Bytes =>
  lp('vault.v3/user-bundle', org, orgUserId, kid, bundleVersion, phcParams)

const isKeyFor = (key: BundleVersion, place: BundleVersion): boolean =>
  key.org === place.org && key.orgUserId === place.orgUserId && key.bundleVersion === place.bundleVersion

/** Seals private keys for the server to keep. Refuses what could never be opened again: another kid, another version. */
export async function sealPrivateBundle<P extends BundleKeyPurpose>(
  key: BundleKey<P>,
  place: BundlePlace<P>,
  material: PrivateKeyMaterial,
): Promise<string> {
  ensure(isKeyFor(key, place), 'wrap_context', 'a bundle was to be sealed under the key of another user or version')
  await openAs(place, material)
  const { enc, kem, sig } = material
  const members = {
    enc: toBase64url(enc),
    ...(kem && { kem: toBase64url(kem) }),
    ...(sig && { sig: toBase64url(sig) }),
  }
  const nonce = platform.randomBytes(NONCE_BYTES)
  const sealed = await platform.aesGcmSeal(bundleKeyBytes(key), nonce, canonical(members), associatedData(place))
  return PREFIX + toBase64url(concat(Uint8Array.of(3, 1), nonce, sealed))
}

const materialShape = record(
  { enc: bytesText(1, MAX_PKCS8_BYTES) },
  { kem: bytesText(ML_KEM_SEED_BYTES, ML_KEM_SEED_BYTES), sig: bytesText(1, MAX_PKCS8_BYTES) },
)

async function openMaterial(
  key: BundleKey<BundleKeyPurpose>,
  place: AnyPlace,
  text: string,
): Promise<PrivateKeyMaterial> {
  ensure(text.startsWith(PREFIX), 'alg_downgrade', 'a private bundle has an unknown version')
  ensure(text.length <= MAX_TEXT_LENGTH, 'limit_exceeded', 'a private bundle is too large')
  const bytes = fromBase64url(text.slice(PREFIX.length))
  ensure(bytes.length > HEADER_BYTES + NONCE_BYTES + TAG_BYTES, 'malformed', 'a private bundle is too short')
  ensure(bytes[0] === 3 && bytes[1] === 1, 'alg_downgrade', 'a private bundle has an unknown version or suite')
  const nonce = bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES)
  const sealed = bytes.subarray(HEADER_BYTES + NONCE_BYTES)
  const opened = await platform.aesGcmOpen(bundleKeyBytes(key), nonce, sealed, associatedData(place))
  // One refusal for a wrong passphrase, a wrong place and an altered blob: whoever altered it learns nothing (row 20).
  ensure(opened, 'aead', 'the private keys do not open: a wrong passphrase or code, or the server altered them')
  const { enc, kem, sig } = materialShape(parseStrict(opened), 'bundle')
  const decode = (member: string | undefined): Bytes | null => (member === undefined ? null : fromBase64url(member))
  return { enc: fromBase64url(enc), kem: decode(kem), sig: decode(sig) }
}

/** The public bundle is computed from the private keys and must hash to the kid: nobody can put other keys in their place. */
async function openAs(place: AnyPlace, material: PrivateKeyMaterial): Promise<Identity> {
  const identity = await openKeys(`user:${place.orgUserId}`, material)
  ensure(identity.kid === place.kid, 'key_substitution', 'the private keys are not those of the key id', {
    kid: place.kid,
  })
  return identity
}

/** Private keys, usable and known to belong to `place.kid`; `aead` if key, place or text are not the ones it was sealed with. */
export async function openPrivateBundle<P extends BundleKeyPurpose>(
  key: BundleKey<P>,
  place: BundlePlace<P>,
  text: string,
): Promise<Identity> {
  return openAs(place, await openMaterial(key, place, text))
}

/** With the private bytes beside them, for a device that keeps them in a keychain of its own. */
export async function exportPrivateBundle<P extends BundleKeyPurpose>(
  key: BundleKey<P>,
  place: BundlePlace<P>,
  text: string,
): Promise<{ readonly identity: Identity; readonly material: PrivateKeyMaterial }> {
  const material = await openMaterial(key, place, text)
  return { identity: await openAs(place, material), material }
}

export interface SealedBundle<P extends BundleKeyPurpose> {
  readonly key: BundleKey<P>
  readonly place: BundlePlace<P>
  readonly text: string
}

/** A new passphrase, or a further copy for the recovery code: the keys and their kid stay, the version never goes back. */
export async function resealPrivateBundle<P extends BundleKeyPurpose, Q extends BundleKeyPurpose>(
  from: SealedBundle<P>,
  to: Omit<SealedBundle<Q>, 'text'>,
): Promise<string> {
  const before: BundleKeyPurpose = from.key.purpose
  const least = from.place.bundleVersion + (before === to.key.purpose ? 1 : 0)
  ensure(to.place.bundleVersion >= least, 'wrap_context', 'a bundle sealed anew needs a newer version')
  return sealPrivateBundle(to.key, to.place, await openMaterial(from.key, from.place, from.text))
}
