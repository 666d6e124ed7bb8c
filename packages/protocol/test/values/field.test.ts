// Seen red: each member of the associated data left out; version, suite or key version not compared; the ciphertext's hash
// not compared; the nonce without the content or without the place; lengths not checked.
import fc from 'fast-check'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { platform } from '#platform'
import { fromBase64url, toBase64url } from '../../src/encoding/base64.ts'
import { concat, toHex, utf8 } from '../../src/encoding/bytes.ts'
import { type Dek, deriveDekCommit, openDek } from '../../src/values/dek.ts'
import {
  envelopeHash,
  type FieldPlace,
  type FieldValue,
  MAX_VALUE_BYTES,
  openField,
  parseEnvelope,
  sealField,
  textValue,
  valueText,
} from '../../src/values/field.ts'
import { bucket } from '../../src/values/padding.ts'
import { codeOf } from '../encoding/refused.ts'
import { refusal } from '../log/refusal.ts'

const { randomBytes } = platform
afterEach(() => {
  platform.randomBytes = randomBytes
})

const SECRET = new Uint8Array(32).fill(0x11)
const dekOf = (place: Partial<Pick<Dek, 'org' | 'vaultId' | 'dekVersion'>> = {}, bytes = SECRET): Dek => {
  const whole = { org: 'org_acme', vaultId: 'vlt_prod', dekVersion: 1, ...place }
  return openDek(bytes, whole, deriveDekCommit(bytes, whole))
}
const DEK = dekOf()
const PLACE: FieldPlace = { itemId: 'itm_db', fieldId: 'fld_url', rev: 7, label: 'DATABASE_URL', env: true }
const URL_VALUE = textValue('postgres://u:p@db/prod')
const hashOf = (bytes: Uint8Array): string => toBase64url(platform.sha256(bytes))
const bytesOf = (envelope: string): Uint8Array => fromBase64url(envelope.slice(3))
const nonceOf = (envelope: string): string => toHex(bytesOf(envelope).subarray(6, 18))

it('seals the worked example of section 2.4 to the byte', async () => {
  platform.randomBytes = (length) => new Uint8Array(length).fill(0x22)
  const { envelope, ct } = await sealField(DEK, PLACE, URL_VALUE)
  expect(nonceOf(envelope)).toBe('9c1797f51fce4d72d54ce946')
  expect(envelope).toBe(
    'v3.AwEAAAABnBeX9R_OTXLVTOlGBFudeZBI-TmqOs6T-MBH9GsG3UbKW496Q3Cbssr3EC1CsSZ2sInCmj-A86cGzgR7d5TlJCMGjyVm9WejOtQk' +
      'A_w7cdB-WV6AxY7SRsQxglI',
  )
  expect(ct).toBe(hashOf(bytesOf(envelope)))
  expect(ct).toBe(envelopeHash(envelope))
})

describe('a sealed value', () => {
  let sealed: { envelope: string; ct: string }
  beforeAll(async () => {
    sealed = await sealField(DEK, PLACE, URL_VALUE)
  })

  it('opens in its place, and nowhere else', async () => {
    expect(await openField(DEK, PLACE, sealed.ct, sealed.envelope)).toEqual(URL_VALUE)
    const elsewhere: Partial<FieldPlace>[] = [
      { itemId: 'itm_dc' },
      { fieldId: 'fld_urm' },
      { rev: 6 },
      { rev: 8 },
      { rev: 7 + 2 ** 32 },
      { label: 'DATABASE_URM' },
      { label: '' },
      { env: false },
    ]
    for (const change of elsewhere)
      expect(await refusal(() => openField(DEK, { ...PLACE, ...change }, sealed.ct, sealed.envelope))).toBe('aead')
  })

  it('opens with its vault key, and with no other', async () => {
    for (const dek of [dekOf({ org: 'org_acmf' }), dekOf({ vaultId: 'vlt_prof' }), dekOf({}, new Uint8Array(32))])
      expect(await refusal(() => openField(dek, PLACE, sealed.ct, sealed.envelope))).toBe('aead')
    const newer = dekOf({ dekVersion: 2 })
    expect(await refusal(() => openField(newer, PLACE, sealed.ct, sealed.envelope))).toBe('field_swap')
  })

  it('is refused if it is not the ciphertext its metadata names', async () => {
    const again = await sealField(DEK, PLACE, URL_VALUE)
    expect(await refusal(() => openField(DEK, PLACE, sealed.ct, again.envelope))).toBe('field_swap')
  })

  it('is refused after the change of any single byte, also if the metadata named the changed ciphertext', async () => {
    const bytes = bytesOf(sealed.envelope)
    for (let at = 0; at < bytes.length; at++) {
      const altered = concat(bytes)
      altered[at] = (altered[at] as number) ^ (1 << (at % 8))
      const envelope = `v3.${toBase64url(altered)}`
      const code = await refusal(() => openField(DEK, PLACE, hashOf(altered), envelope))
      // Version and suite, key version, and all the rest.
      expect(code).toBe(at < 2 ? 'alg_downgrade' : at < 6 ? 'field_swap' : 'aead')
      expect(await refusal(() => openField(DEK, PLACE, sealed.ct, envelope))).not.toBe('accepted')
    }
  })

  it('is refused with its key version changed back in the header: the header is authenticated', async () => {
    const under2 = await sealField(dekOf({ dekVersion: 2 }), PLACE, URL_VALUE)
    const relabelled = concat(bytesOf(under2.envelope))
    relabelled[5] = 1
    const envelope = `v3.${toBase64url(relabelled)}`
    expect(await refusal(() => openField(DEK, PLACE, hashOf(relabelled), envelope))).toBe('aead')
  })

  it('has the size of its bucket and 34 bytes: 134 characters for everything up to 62 bytes', async () => {
    for (const length of [0, 1, 62]) {
      const { envelope } = await sealField(DEK, PLACE, { type: 0, value: new Uint8Array(length) })
      expect(envelope.length).toBe(134)
    }
    for (const length of [63, 1000, 5000, MAX_VALUE_BYTES]) {
      const { envelope } = await sealField(DEK, PLACE, { type: 0, value: new Uint8Array(length) })
      expect(bytesOf(envelope).length).toBe(34 + bucket(length + 2))
    }
  })
})

const places: fc.Arbitrary<FieldPlace> = fc.record({
  itemId: fc.stringMatching(/^[A-Za-z0-9_-]{4,64}$/),
  fieldId: fc.stringMatching(/^[A-Za-z0-9_-]{4,64}$/),
  rev: fc.maxSafeNat(),
  label: fc.string({ unit: 'binary', maxLength: 50 }),
  env: fc.boolean(),
})
const values: fc.Arbitrary<FieldValue> = fc.record({
  type: fc.constantFrom(0, 1, 2),
  value: fc.uint8Array({ maxLength: 300 }),
})

it('gives back every value from every place, and from that place only', async () => {
  await fc.assert(
    fc.asyncProperty(places, places, values, async (place, other, value) => {
      const { envelope, ct } = await sealField(DEK, place, value)
      expect(await openField(DEK, place, ct, envelope)).toEqual(value)
      const same = JSON.stringify(place) === JSON.stringify(other)
      expect(await refusal(() => openField(DEK, other, ct, envelope))).toBe(same ? 'accepted' : 'aead')
    }),
    { numRuns: 200 },
  )
})

describe('the nonce', () => {
  it('differs each time for the same value in the same place', async () => {
    const nonces = new Set<string>()
    for (let i = 0; i < 100; i++) nonces.add(nonceOf((await sealField(DEK, PLACE, URL_VALUE)).envelope))
    expect(nonces.size).toBe(100)
  })

  it('differs for other content or another place even if the random generator repeats itself', async () => {
    platform.randomBytes = (length) => new Uint8Array(length)
    const sealed = [
      await sealField(DEK, PLACE, URL_VALUE),
      await sealField(DEK, PLACE, textValue('postgres://u:p@db/prof')),
      await sealField(DEK, PLACE, { ...URL_VALUE, type: 2 }),
      await sealField(DEK, { ...PLACE, label: 'OTHER' }, URL_VALUE),
      await sealField(DEK, { ...PLACE, rev: 8 }, URL_VALUE),
      await sealField(DEK, { ...PLACE, env: false }, URL_VALUE),
      await sealField(DEK, { ...PLACE, fieldId: 'fld_uri' }, URL_VALUE),
      await sealField(DEK, { ...PLACE, itemId: 'itm_dc' }, URL_VALUE),
      await sealField(dekOf({ dekVersion: 2 }), PLACE, URL_VALUE),
    ]
    expect(new Set(sealed.map(({ envelope }) => nonceOf(envelope))).size).toBe(sealed.length)
  })

  it('takes 16 bytes from the random generator', async () => {
    const asked: number[] = []
    platform.randomBytes = (length) => {
      asked.push(length)
      return randomBytes(length)
    }
    await sealField(DEK, PLACE, URL_VALUE)
    expect(asked).toEqual([16])
  })
})

describe('limits and forms', () => {
  it('seals 64 KiB and refuses one byte more', async () => {
    const value = (length: number): FieldValue => ({ type: 0, value: new Uint8Array(length).fill(0x80) })
    const { envelope, ct } = await sealField(DEK, PLACE, value(MAX_VALUE_BYTES))
    expect(await openField(DEK, PLACE, ct, envelope)).toEqual(value(MAX_VALUE_BYTES))
    expect(await refusal(() => sealField(DEK, PLACE, value(MAX_VALUE_BYTES + 1)))).toBe('limit_exceeded')
    expect(codeOf(() => parseEnvelope(`${envelope}AAAA`))).toBe('limit_exceeded')
  })

  it.each([
    ['the empty text', '', 'alg_downgrade'],
    ['an older format', 'v2.AwEAAAAB', 'alg_downgrade'],
    ['upper case', 'V3.AwEAAAAB', 'alg_downgrade'],
    ['no bytes', 'v3.', 'malformed'],
    ['too few bytes', `v3.${toBase64url(new Uint8Array(97).fill(3, 0, 1).fill(1, 1, 2))}`, 'malformed'],
    ['a length that is no bucket', `v3.${toBase64url(new Uint8Array(99).fill(3, 0, 1).fill(1, 1, 2))}`, 'malformed'],
    ['version 2', `v3.${toBase64url(new Uint8Array(98).fill(2, 0, 1).fill(1, 1, 2))}`, 'alg_downgrade'],
    ['suite 0', `v3.${toBase64url(new Uint8Array(98).fill(3, 0, 1))}`, 'alg_downgrade'],
    ['suite 2', `v3.${toBase64url(new Uint8Array(98).fill(3, 0, 1).fill(2, 1, 2))}`, 'alg_downgrade'],
    ['bytes that are no base64url', `v3.${'A'.repeat(130)}+`, 'malformed'],
    ['padded base64', `v3.${'A'.repeat(130)}==`, 'malformed'],
    ['a number', 3 as unknown as string, 'alg_downgrade'],
  ])('refuses %s as an envelope', (_, envelope, code) => {
    expect(codeOf(() => parseEnvelope(envelope))).toBe(code)
    expect(codeOf(() => envelopeHash(envelope))).toBe(code)
  })

  it('reads the key version of an envelope, also above 2^31', async () => {
    for (const dekVersion of [1, 0x8000_0001, 0xffff_ffff]) {
      const { envelope } = await sealField(dekOf({ dekVersion }), PLACE, URL_VALUE)
      expect(parseEnvelope(envelope).dekVersion).toBe(dekVersion)
    }
  })

  it('reads text as text and bytes only as bytes', () => {
    expect(valueText(textValue('é'))).toBe('é')
    expect(valueText({ type: 2, value: utf8('{}') })).toBe('{}')
    expect(codeOf(() => valueText({ type: 0, value: utf8('é') }))).toBe('malformed')
    expect(codeOf(() => valueText({ type: 1, value: Uint8Array.of(0xff) }))).toBe('malformed')
  })
})
