import { dsse as sigstore } from '@sigstore/core'
import { afterEach, describe, expect, it } from 'vitest'
import { platform } from '#platform'
import { toBase64, toBase64url } from '../../src/encoding/base64.ts'
import { concat, fromHex, toHex, utf8 } from '../../src/encoding/bytes.ts'
import { lp } from '../../src/encoding/lp.ts'
import { pae } from '../../src/identity/document.ts'
import { deriveDekCommit, itemKey, openDek } from '../../src/values/dek.ts'
import { openField, sealField, textValue, valueText } from '../../src/values/field.ts'
import { pad } from '../../src/values/padding.ts'
import { hasData, PLATFORMS, readData } from './data.ts'

// The first vectors of this protocol, made by an independent prototype, reproduced byte for byte. Their map and checkpoint
// are in test/log/interop.test.ts. DSSE is held against the implementation of sigstore besides.
// Seen red: another label of the item key (LP, envelope), lengths of PAE in characters (sigstore).

interface FirstVectors {
  readonly lp: { label: string; parts: readonly (string | number)[]; hex: string }
  readonly dek: { dekHex: string; dekCommit: string }
  readonly field: {
    org: string
    vaultId: string
    itemId: string
    fieldId: string
    rev: number
    label: string
    env: boolean
    dekVersion: number
    value: string
    rnd: string
    itemKeyHex: string
    nonceKeyHex: string
    aadHex: string
    nonceHex: string
    envelope: string
    ct: string
  }
  readonly padding: readonly (readonly [number, number])[]
  readonly dsse: { seedHex: string; spki: string; payload: string; pae: string; sig: string }
}

const FILE = 'vault-v3.json'
const isThere = hasData(FILE)
const vectors = (): FirstVectors => JSON.parse(readData(FILE))
const PKCS8 = fromHex('302e020100300506032b657004220420')
const TYPE = 'application/vnd.vault.v3.example+json'

const original = { ...platform }
afterEach(() => {
  Object.assign(platform, original)
})

describe.skipIf(!isThere)('the first vectors of this protocol', () => {
  it('have our LP, our commitment and our item key', () => {
    const { lp: encoding, dek, field } = vectors()
    expect(toHex(lp(encoding.label, ...encoding.parts))).toBe(encoding.hex)
    expect(deriveDekCommit(fromHex(dek.dekHex), field)).toBe(dek.dekCommit)
    const key = itemKey(openDek(fromHex(dek.dekHex), field, dek.dekCommit), field.itemId)
    expect([toHex(key.encryption), toHex(key.nonce)]).toEqual([field.itemKeyHex, field.nonceKeyHex])
  })

  it.each(PLATFORMS)('have our envelope, its nonce and its associated data, on %s', async (_, implementation) => {
    const { dek, field } = vectors()
    // One of the two is the platform itself: what is replaced here must not be called by its replacement.
    const { aesGcmSeal } = implementation
    Object.assign(platform, implementation)
    const used: string[][] = []
    platform.randomBytes = () => fromHex(field.rnd)
    platform.aesGcmSeal = (key, nonce, plaintext, aad) => {
      used.push([toHex(nonce), toHex(aad)])
      return aesGcmSeal(key, nonce, plaintext, aad)
    }
    const opened = openDek(fromHex(dek.dekHex), field, dek.dekCommit)
    const { envelope, ct } = await sealField(opened, field, textValue(field.value))
    expect({ envelope, ct }).toEqual({ envelope: field.envelope, ct: field.ct })
    expect(used).toEqual([[field.nonceHex, field.aadHex]])
    expect(valueText(await openField(opened, field, field.ct, field.envelope))).toBe(field.value)
  })

  it('have our padded lengths', () => {
    const { padding } = vectors()
    expect(padding.length).toBe(11)
    expect(padding.map(([length]) => [length, pad(0, new Uint8Array(length)).length])).toEqual(padding)
  })

  it.each(PLATFORMS)('have our DSSE signature, on %s', async (_, { importEd25519, ed25519Sign, ed25519Verify }) => {
    const { dsse } = vectors()
    const message = pae(TYPE, utf8(dsse.payload))
    expect(message).toEqual(utf8(dsse.pae))
    const { key, spki } = await importEd25519(concat(PKCS8, fromHex(dsse.seedHex)))
    const signature = await ed25519Sign(key, message)
    expect([toBase64url(spki), toBase64(signature)]).toEqual([dsse.spki, dsse.sig])
    expect(await ed25519Verify(spki, message, signature)).toBe(true)
  })
})

describe('the DSSE of sigstore', () => {
  it('has our pre-authentication encoding, lengths in bytes included', () => {
    const bodies = [
      new Uint8Array(0),
      utf8('hello world'),
      utf8('Schlüssel 🔑'),
      Uint8Array.from({ length: 300 }, (_, i) => i),
    ]
    for (const type of [TYPE, 'http://example.com/HelloWorld', 'ä/ö'])
      for (const body of bodies)
        expect(toHex(pae(type, body)), type).toBe(toHex(sigstore.preAuthEncoding(type, Buffer.from(body))))
  })
})
