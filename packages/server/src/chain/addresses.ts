import { ECDH } from 'node:crypto'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { HDKey } from '@scure/bip32'

// Addresses that are only watched: from an extended public key (BIP 32), whose private half this server never sees.

declare const watching: unique symbol
/** An extended public key that was looked at: it has no private half. */
export type WatchKey = HDKey & { readonly [watching]: true }

/** Undefined unless it is an extended public key. One with a private half is refused like anything else. */
export function readWatchKey(text: string): WatchKey | undefined {
  if (!/^xpub[1-9A-HJ-NP-Za-km-z]{100,112}$/.test(text)) return undefined
  try {
    const key = HDKey.fromExtendedKey(text)
    return key.privateKey === null && key.publicKey !== null ? (key as WatchKey) : undefined
  } catch {
    // Its checksum is wrong, or it is no point of the curve.
    return undefined
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** The last twenty bytes of the hash of the point, in lower case. */
export function addressOf(publicKey: Uint8Array): string {
  const point = ECDH.convertKey(publicKey, 'secp256k1', undefined, undefined, 'uncompressed') as Buffer
  return `0x${hex(keccak_256(point.subarray(1)).subarray(12))}`
}

/** The address with this number, in lower case. */
export function addressAt(key: WatchKey, index: number): string {
  const { publicKey } = key.deriveChild(index)
  // One index in 2^127 has no key.
  if (publicKey === null) throw new Error(`there is no key at ${index}`)
  return addressOf(publicKey)
}

/** As people are shown it (EIP-55): a wrong letter is noticed by whatever wallet it is typed into. */
export function checksummed(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const hash = hex(keccak_256(Buffer.from(digits, 'latin1')))
  const cased = [...digits].map((digit, at) =>
    Number.parseInt(hash.charAt(at), 16) >= 8 ? digit.toUpperCase() : digit,
  )
  return `0x${cased.join('')}`
}
