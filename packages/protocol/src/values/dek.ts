import { platform } from '#platform'
import { toBase64url } from '../encoding/base64.ts'
import { type Bytes, utf8 } from '../encoding/bytes.ts'
import { lp } from '../encoding/lp.ts'
import { ensure } from '../errors.ts'

// Sections 2.5 and 3.1: the data-encryption key of one vault and version. It is never an AEAD key itself.

export const DEK_BYTES = 32
const SALT = utf8('vault.v3')

declare const dekBrand: unique symbol
/** A vault key that is known to be the one everybody got: made here anew, or unwrapped from a `VerifiedWrappedKey`. */
export interface Dek {
  readonly [dekBrand]: true
  readonly org: string
  readonly vaultId: string
  readonly dekVersion: number
  readonly dekCommit: string
}

// The bytes live outside the object: a DEK that is logged, compared or serialised shows only public members.
const secrets = new WeakMap<Dek, Bytes>()
const itemKeys = new WeakMap<Dek, Map<string, ItemKey>>()

// What node:crypto takes; names in their exact form stay far below it, and no platform must answer where another refuses.
const MAX_INFO_BYTES = 1024

/** HKDF-SHA-256 with the protocol's salt: the only way key material is derived from a vault key. */
export function deriveKey(ikm: Uint8Array, info: Uint8Array, length: number): Bytes {
  ensure(info.length <= MAX_INFO_BYTES, 'limit_exceeded', 'the context of a key is longer than names can be')
  return platform.hkdfSha256(ikm, SALT, info, length)
}

export interface DekPlace {
  readonly org: string
  readonly vaultId: string
  readonly dekVersion: number
}

/** Section 2.5: commits to the DEK once, so that every envelope under it has exactly one possible key. */
export const deriveDekCommit = (dek: Uint8Array, { org, vaultId, dekVersion }: DekPlace): string =>
  toBase64url(deriveKey(dek, lp('vault.v3/dek-commit', org, vaultId, dekVersion), 32))

function brand(bytes: Bytes, place: DekPlace, dekCommit: string): Dek {
  const dek = { org: place.org, vaultId: place.vaultId, dekVersion: place.dekVersion, dekCommit } as Dek
  secrets.set(dek, bytes)
  return dek
}

/** A new vault key from the platform's random generator. */
export function makeDek(place: DekPlace): Dek {
  const bytes = platform.randomBytes(DEK_BYTES)
  return brand(bytes, place, deriveDekCommit(bytes, place))
}

/** Package-internal: unwrapping ends here. Refuses a key that is not the committed one. */
export function openDek(bytes: Bytes, place: DekPlace, dekCommit: string): Dek {
  const matches = deriveDekCommit(bytes, place) === dekCommit
  ensure(matches, 'dek_commitment', 'an unwrapped vault key is not the committed one', {
    vaultId: place.vaultId,
    dekVersion: place.dekVersion,
  })
  return brand(bytes, place, dekCommit)
}

/** Package-internal: the bytes, for wrapping only. */
export function dekBytes(dek: Dek): Bytes {
  const bytes = secrets.get(dek)
  ensure(bytes, 'unwrapped_key_missing', 'this vault key was not made or unwrapped by this package')
  return bytes
}

/** Package-internal: a key for one purpose. */
export const deriveFromDek = (dek: Dek, info: Uint8Array, length: number): Bytes =>
  deriveKey(dekBytes(dek), info, length)

export interface ItemKey {
  readonly encryption: Bytes
  readonly nonce: Bytes
}

/** Section 2.4: Kenc and Knonce of one item, derived once per vault key. */
export function itemKey(dek: Dek, itemId: string): ItemKey {
  const known = itemKeys.get(dek) ?? new Map<string, ItemKey>()
  itemKeys.set(dek, known)
  const cached = known.get(itemId)
  if (cached) return cached
  const derived = deriveFromDek(dek, lp('vault.v3/item-key', dek.org, dek.vaultId, itemId, dek.dekVersion), 64)
  const key = { encryption: derived.slice(0, 32), nonce: derived.slice(32) }
  known.set(itemId, key)
  return key
}
