// Seen red: the KEK from one share alone; a ciphertext, a public key or the context left out of the derivation; an RSA share
// of any length accepted.
import { beforeAll, describe, expect, it } from 'vitest'
import { platform } from '#platform'
import { fromBase64url, toBase64url } from '../../src/encoding/base64.ts'
import { type Bytes, concat, utf8 } from '../../src/encoding/bytes.ts'
import { lp } from '../../src/encoding/lp.ts'
import type { CheckedKey } from '../../src/identity/key-bundle.ts'
import { decodePem, type Identity, openKeys, type Recipient } from '../../src/identity/private-keys.ts'
import { deriveKey } from '../../src/values/dek.ts'
import { type HybridBox, hybridOpen, hybridSeal } from '../../src/wraps/hybrid.ts'
import keysFile from '../../vectors/keys.json' with { type: 'json' }
import { refusal } from '../log/refusal.ts'
import { type Actors, openActors } from '../world/actors.ts'

const PAYLOAD = utf8('the payload of sixty-five bytes, or of any other length for that')
const CONTEXT = utf8('context')
let actors: Actors
let to: Identity
let kem: Bytes
let sealed: HybridBox
beforeAll(async () => {
  actors = await openActors()
  to = actors.hybrid
  kem = to.key.kem as Bytes
  sealed = await hybridSeal(to.key, kem, PAYLOAD, CONTEXT)
})

const altered = (text: string): string => {
  const bytes = fromBase64url(text)
  bytes[7] = (bytes[7] as number) ^ 0x40
  return toBase64url(bytes)
}

describe('a hybrid box', () => {
  it('opens for its recipient in its context', async () => {
    expect(await hybridOpen(to, sealed, CONTEXT)).toEqual(PAYLOAD)
  })

  it('opens in no other context, and with no part of it changed or exchanged', async () => {
    const other = await hybridSeal(to.key, kem, PAYLOAD, CONTEXT)
    expect(await hybridOpen(to, sealed, utf8('contexu'))).toBeUndefined()
    for (const member of ['ct', 'ct2', 'box'] as const) {
      expect(await hybridOpen(to, { ...sealed, [member]: altered(sealed[member]) }, CONTEXT)).toBeUndefined()
      expect(await hybridOpen(to, { ...sealed, [member]: other[member] }, CONTEXT)).toBeUndefined()
    }
  })

  it('has the key of section 3.4: both shares, both ciphertexts and both public keys are in it', async () => {
    const [ct, ct2] = [fromBase64url(sealed.ct), fromBase64url(sealed.ct2)]
    const k1 = (await to.rsaDecrypt(ct)) as Bytes
    const k2 = (await to.decapsulate?.(ct2)) as Bytes
    expect([k1.length, k2.length]).toEqual([32, 32])
    const open = (shares: Bytes, bound: readonly Uint8Array[]) => {
      const hashes = bound.map((part) => platform.sha256(part))
      const kek = deriveKey(shares, lp('vault.v3/hybrid', CONTEXT, ...hashes), 32)
      return platform.aesGcmOpen(kek, new Uint8Array(12), fromBase64url(sealed.box), CONTEXT)
    }
    const bound = [ct, ct2, to.key.encSpki, kem]
    expect(await open(concat(k1, k2), bound)).toEqual(PAYLOAD)
    // Whoever breaks one of the two schemes has one share only.
    for (const shares of [k1, k2, concat(k2, k1), concat(k1, new Uint8Array(32)), concat(new Uint8Array(32), k2)])
      expect(await open(shares, bound)).toBeUndefined()
    for (let left = 0; left < 4; left++)
      expect(
        await open(
          concat(k1, k2),
          bound.filter((_, i) => i !== left),
        ),
      ).toBeUndefined()
  })

  it('opens for no bundle that shares only one of the two keys', async () => {
    const { enc, sig, kem: seed } = decodePem(keysFile.keys.hybrid)
    const otherSeed = (await platform.makeMlKem()).seed
    const otherRsa = decodePem(keysFile.keys.bob).enc
    const sameRsa = await openKeys('agent:ag_hybrid', { enc, sig, kem: otherSeed })
    const sameKem = await openKeys('agent:ag_hybrid', { enc: otherRsa, sig, kem: seed })
    for (const twin of [sameRsa, sameKem]) expect(await hybridOpen(twin, sealed, CONTEXT)).toBeUndefined()
  })

  it('is bound to the keys of its recipient even if both shares are known to another', async () => {
    const twin: Recipient = { ...to, key: { ...to.key, encSpki: actors.bob.key.encSpki } as CheckedKey }
    expect(await hybridOpen(twin, sealed, CONTEXT)).toBeUndefined()
  })
})

it('uses no ML-KEM key if the RSA part does not open, and none at all without an ML-KEM key', async () => {
  const used: string[] = []
  const recipient: Recipient = {
    ...to,
    rsaDecrypt: (ciphertext) => {
      used.push('rsa')
      return to.rsaDecrypt(ciphertext)
    },
    decapsulate: (ciphertext) => {
      used.push('ml-kem')
      return to.decapsulate?.(ciphertext) as Bytes
    },
  }
  expect(await hybridOpen(recipient, { ...sealed, ct: altered(sealed.ct) }, CONTEXT)).toBeUndefined()
  expect(used).toEqual(['rsa'])
  expect(await refusal(() => hybridOpen(actors.deploy, sealed, CONTEXT))).toBe('alg_downgrade')
})

it('refuses an RSA share of another length than 32 bytes', async () => {
  for (const length of [0, 31, 33]) {
    const ct = toBase64url(await platform.rsaOaepEncrypt(to.key.encSpki, new Uint8Array(length)))
    expect(await hybridOpen(to, { ...sealed, ct }, CONTEXT)).toBeUndefined()
  }
})
