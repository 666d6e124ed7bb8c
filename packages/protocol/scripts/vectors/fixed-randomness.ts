import * as crypto from 'node:crypto'
import { ml_kem768 } from '@noble/post-quantum/ml-kem.js'
import { platform } from '#platform'
import type { Bytes } from '../../src/encoding/bytes.ts'
import type { Platform } from '../../src/platform/platform.ts'

// Vectors must come out the same in every run, so everything that draws random numbers is replaced while they are made.
// Nothing of this is ever used outside of scripts: padding with a known seed protects nobody.

const sha256 = (data: Uint8Array): Buffer => crypto.createHash('sha256').update(data).digest()

/** SHA-256(seed ‖ u64be(counter)), block after block. */
function makeGenerator(seed: string): (length: number) => Bytes {
  let counter = 0n
  return (length) => {
    const blocks: Buffer[] = []
    for (let have = 0; have < length; have += 32) {
      const count = Buffer.alloc(8)
      count.writeBigUInt64BE(counter++)
      blocks.push(sha256(Buffer.concat([Buffer.from(seed), count])))
    }
    return new Uint8Array(Buffer.concat(blocks).subarray(0, length))
  }
}

/** MGF1 of RFC 8017 appendix B.2.1. */
function mask(seed: Uint8Array, length: number): Buffer {
  const blocks: Buffer[] = []
  for (let i = 0; i * 32 < length; i++) {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(i)
    blocks.push(sha256(Buffer.concat([seed, count])))
  }
  return Buffer.concat(blocks).subarray(0, length)
}

const xor = (a: Uint8Array, b: Uint8Array): Buffer => Buffer.from(a.map((byte, i) => byte ^ (b[i] as number)))

/** EME-OAEP of RFC 8017 section 7.1.1, with a given seed. */
export function encodeOaep(message: Uint8Array, length: number, seed: Uint8Array, label = ''): Buffer {
  const filler = Buffer.alloc(length - message.length - 2 * 32 - 2)
  const block = Buffer.concat([sha256(Buffer.from(label)), filler, Buffer.of(1), message])
  const maskedBlock = xor(block, mask(seed, block.length))
  const maskedSeed = xor(seed, mask(maskedBlock, 32))
  return Buffer.concat([Buffer.of(0), maskedSeed, maskedBlock])
}

/** EMSA-PSS of RFC 8017 section 9.1.1, with a given salt. The moduli of keys.json have a multiple of eight bits. */
export function encodePss(message: Uint8Array, length: number, salt: Uint8Array): Buffer {
  const hash = sha256(Buffer.concat([Buffer.alloc(8), sha256(message), salt]))
  const block = Buffer.concat([Buffer.alloc(length - salt.length - 32 - 2), Buffer.of(1), salt])
  const masked = xor(block, mask(hash, block.length))
  masked[0] = (masked[0] as number) & 0x7f
  return Buffer.concat([masked, hash, Buffer.of(0xbc)])
}

const modulusBytes = (key: crypto.KeyObject): number => (key.asymmetricKeyDetails?.modulusLength as number) / 8
const RAW = { padding: crypto.constants.RSA_NO_PADDING }

export const publicKeyOf = (spki: Uint8Array): crypto.KeyObject =>
  crypto.createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' })

/** The bare RSA operation on a block as long as the modulus. */
export const rsaRaw = (key: crypto.KeyObject, block: Uint8Array): Bytes =>
  new Uint8Array(crypto.publicEncrypt({ key, ...RAW }, block))

/** OAEP with SHA-256 throughout. */
export function oaepEncrypt(spki: Uint8Array, message: Uint8Array, seed: Uint8Array, label?: string): Bytes {
  const key = publicKeyOf(spki)
  return rsaRaw(key, encodeOaep(message, modulusBytes(key), seed, label))
}

export function pssSign(key: crypto.KeyObject, message: Uint8Array, salt: Uint8Array): Bytes {
  return new Uint8Array(crypto.privateEncrypt({ key, ...RAW }, encodePss(message, modulusBytes(key), salt)))
}

/** Runs with a platform whose random numbers follow from `seed` alone. */
export async function withFixedRandomness<T>(seed: string, run: () => Promise<T>): Promise<T> {
  const draw = makeGenerator(seed)
  const before = { ...platform }
  const fixed: Partial<Platform> = {
    randomBytes: draw,
    rsaOaepEncrypt: (spki, plaintext) => oaepEncrypt(spki, plaintext, draw(32)),
    rsaPssSign: (key, message) => pssSign(key as unknown as crypto.KeyObject, message, draw(32)),
    mlKemEncapsulate: (key) => {
      const { cipherText, sharedSecret } = ml_kem768.encapsulate(new Uint8Array(key), draw(32))
      return { ciphertext: new Uint8Array(cipherText), sharedSecret: new Uint8Array(sharedSecret) }
    },
  }
  Object.assign(platform, fixed)
  try {
    return await run()
  } finally {
    Object.assign(platform, before)
  }
}
