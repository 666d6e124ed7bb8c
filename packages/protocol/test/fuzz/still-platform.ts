import * as crypto from 'node:crypto'
import { platform } from '#platform'
import { type Bytes, concat, u32be } from '../../src/encoding/bytes.ts'
import { makeRandom } from './random.ts'

// The platform without its own randomness, so that the inputs of a fuzz run follow from nothing but its seed. For fixtures
// only: RSA padding is done here and the bare RSA operation by OpenSSL.

const sha256 = (data: Uint8Array): Uint8Array => crypto.createHash('sha256').update(data).digest()
const xor = (a: Uint8Array, b: Uint8Array): Bytes => Uint8Array.from(a, (byte, i) => byte ^ (b[i] as number))

function mask(seed: Uint8Array, length: number): Bytes {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, i) => sha256(concat(seed, u32be(i))))
  return concat(...blocks).slice(0, length)
}

/** RFC 8017 section 7.1.1 with an empty label. */
function oaepPad(message: Uint8Array, size: number, seed: Uint8Array): Bytes {
  const block = concat(sha256(new Uint8Array(0)), new Uint8Array(size - message.length - 66), Uint8Array.of(1), message)
  const maskedBlock = xor(block, mask(seed, block.length))
  return concat(Uint8Array.of(0), xor(seed, mask(maskedBlock, 32)), maskedBlock)
}

/** RFC 8017 section 9.1.1 for moduli of whole bytes. */
function pssPad(message: Uint8Array, size: number, salt: Uint8Array): Bytes {
  const hash = sha256(concat(new Uint8Array(8), sha256(message), salt))
  const block = concat(new Uint8Array(size - 66), Uint8Array.of(1), salt)
  const masked = xor(block, mask(hash, block.length))
  masked[0] = (masked[0] as number) & 0x7f
  return concat(masked, hash, Uint8Array.of(0xbc))
}

const sizeOf = (key: crypto.KeyObject): number => (key.asymmetricKeyDetails?.modulusLength ?? 0) / 8

/** Runs `make` with a platform whose randomness repeats, and gives the platform its own back. */
export async function withStillPlatform<T>(make: () => Promise<T>): Promise<T> {
  const random = makeRandom(0, 'fixtures')
  random.start(0)
  const { ml_kem768 } = await import('@noble/post-quantum/ml-kem.js')
  const own = { ...platform }
  Object.assign(platform, {
    randomBytes: (length: number) => random.bytes(length),
    rsaOaepEncrypt: (spki: Uint8Array, message: Uint8Array) => {
      const key = crypto.createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' })
      const padded = oaepPad(message, sizeOf(key), random.bytes(32))
      return new Uint8Array(crypto.publicEncrypt({ key, padding: crypto.constants.RSA_NO_PADDING }, padded))
    },
    rsaPssSign: (key: crypto.KeyObject, message: Uint8Array) => {
      const padded = pssPad(message, sizeOf(key), random.bytes(32))
      return new Uint8Array(crypto.privateEncrypt({ key, padding: crypto.constants.RSA_NO_PADDING }, padded))
    },
    mlKemEncapsulate: (publicKey: Uint8Array) => {
      const { cipherText, sharedSecret } = ml_kem768.encapsulate(new Uint8Array(publicKey), random.bytes(32))
      return { ciphertext: new Uint8Array(cipherText), sharedSecret: new Uint8Array(sharedSecret) }
    },
  })
  try {
    return await make()
  } finally {
    Object.assign(platform, own)
  }
}
