// In Node and in a browser: the same bytes, the same refusals. What is fixed below was made in Node, so that a browser which
// writes, derives or verifies otherwise is noticed.
// Seen red: the script base64 with another last character; the label of the item key changed; OAEP or PSS with another hash;
// the payload type left out of what is signed; a ciphertext's hash or the wrap's context not compared; small-order keys.
import { beforeAll, describe, expect, it } from 'vitest'
import { platform } from '#platform'
import { fromBase64, fromBase64url, toBase32, toBase64, toBase64url } from '../../src/encoding/base64.ts'
import { type Bytes, concat, toHex, utf8 } from '../../src/encoding/bytes.ts'
import { canonicalText, parseStrict } from '../../src/encoding/canonical.ts'
import { lp } from '../../src/encoding/lp.ts'
import { words } from '../../src/encoding/shape.ts'
import { encodeEd25519Spki } from '../../src/identity/der.ts'
import { defineKind, documentHash, type Envelope, makeDocument, verifyDocument } from '../../src/identity/document.ts'
import { checkKey, deriveKeyId, type KeyBundle } from '../../src/identity/key-bundle.ts'
import { decodePem, encodePem, type Identity, makeKeys, openKeys } from '../../src/identity/private-keys.ts'
import { type Dek, dekBytes, deriveDekCommit, makeDek, openDek } from '../../src/values/dek.ts'
import { type FieldPlace, openField, sealField, textValue } from '../../src/values/field.ts'
import {
  unwrapDek,
  type VerifiedWrappedKey,
  type WrappedDekPayload,
  wrapDek,
  wrappedDek,
} from '../../src/wraps/wrapped-key.ts'
import { codeOf } from '../encoding/refused.ts'
import { refusal } from '../log/refusal.ts'
import { type Actors, openActors } from '../world/actors.ts'

const ORG = 'org_acme'
const VAULT = `v${'a'.repeat(32)}`
const note = defineKind('test-note', { words: words(100) })
const TYPE = 'application/vnd.vault.v3.test-note+json'
const ALICE = 'user:ou_alice:j4ujesu6mb3dpuatiusjibaq2nw7xs73'

let actors: Actors
let dek: Dek
beforeAll(async () => {
  actors = await openActors()
  const bytes = new Uint8Array(32).fill(0x11)
  const place = { org: ORG, vaultId: VAULT, dekVersion: 1 }
  dek = openDek(bytes, place, deriveDekCommit(bytes, place))
})

const flip = (bytes: Uint8Array, at: number): Bytes => {
  const copy = concat(bytes)
  copy[at] = (copy[at] as number) ^ 1
  return copy
}

describe('encodings', () => {
  it('write and read the same text for the same bytes', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => (i * 167 + 3) & 255)
    for (let length = 0; length <= 256; length++) {
      const part = bytes.subarray(0, length)
      expect(fromBase64(toBase64(part))).toEqual(part)
      expect(fromBase64url(toBase64url(part))).toEqual(part)
    }
    expect(toBase64url(bytes.subarray(0, 20))).toBe('A6pR-J9G7ZQ74okw134lzHMawWg')
    expect(toBase32(bytes.subarray(0, 20))).toBe('aovfd6e7i3wzio7creyno7rfzrzrvqli')
    for (const text of ['A', 'AB', 'AA=', 'A+/A', 'AA A']) expect(codeOf(() => fromBase64url(text))).toBe('malformed')
    for (const text of ['AA', 'AB==', 'A===', 'A-_A', 'AAA=\n'])
      expect(codeOf(() => fromBase64(text))).toBe('malformed')
  })

  it('build the worked example of LP, with an integer above 2^32', () => {
    expect(toHex(lp('a', 'é', 2 ** 33 + 1, Uint8Array.of(7)))).toBe(
      '00000004000000016100000002c3a90000000800000002000000010000000107',
    )
  })

  it('accept one byte form for one document', () => {
    const text = '{"a":[1,"é\u2028\\u0001",null],"b":{"c":9007199254740991}}'
    expect(canonicalText(parseStrict(utf8(text)))).toBe(text)
    for (const other of [
      '{"a":1,"a":1}',
      '{"b":1,"a":1}',
      '{"a": 1}',
      '[1.0]',
      '[1e2]',
      '["\\u0061"]',
      '[-0]',
      '{"__proto__":1}',
    ])
      expect(codeOf(() => parseStrict(utf8(other)))).toBe('malformed')
    expect(codeOf(() => parseStrict(utf8('["\\ud800"]')))).toBe('malformed')
    expect(codeOf(() => parseStrict(utf8('[9007199254740993]')))).toBe('malformed')
    expect(codeOf(() => parseStrict(utf8('['.repeat(500_000))))).toBe('limit_exceeded')
  })
})

describe('keys', () => {
  it('open to the key id they had in Node', () => {
    expect(actors.alice.kid).toBe(ALICE)
    expect(actors.worker.kid).toBe('agent:ag_worker:cmuqvdsmeajoeppbtz3rlafp5ixr7vfv')
  })

  it('made here are written and read again, and open', async () => {
    const made = await makeKeys({ rsaBits: 2048, hybrid: true })
    const pem = encodePem(made)
    expect(decodePem(pem)).toEqual(made)
    const identity = await openKeys('agent:ag_made', decodePem(pem.replaceAll('\n', '\r\n')))
    expect(identity.kid).toBe(`agent:ag_made:${deriveKeyId(identity.key.bundle)}`)
  }, 30_000)

  it('are refused under another key id, too weak, of small order, or broken', async () => {
    const good = actors.alice.key.bundle
    const under = (bundle: KeyBundle) => codeOf(() => checkKey(`user:ou_test:${deriveKeyId(bundle)}`, bundle))
    expect(codeOf(() => checkKey(ALICE, actors.bob.key.bundle))).toBe('key_substitution')
    expect(codeOf(() => checkKey(ALICE, good, 3072))).toBe('weak_key')
    expect(under(good)).toBe('accepted')
    expect(under({ ...good, sig: toBase64url(encodeEd25519Spki(new Uint8Array(32))) })).toBe('weak_key')
    expect(under({ ...good, sigAlg: 'PS256' })).toBe('weak_key')
    const enc = new Uint8Array(100)
    expect(await refusal(() => openKeys('user:ou_test', { enc, sig: null, kem: null }))).toBe('malformed')
  })
})

describe('documents', () => {
  const PAYLOAD =
    'eyJhdCI6NSwiYnkiOiJ1c2VyOm91X2FsaWNlOmo0dWplc3U2bWIzZHB1YXRpdXNqaWJhcTJudzd4czczIiwib3JnIjoib3JnX2FjbWUiLCJ0Ijoi' +
    'dGVzdC1ub3RlIiwidiI6Mywid29yZHMiOiLDqSJ9'
  const SIGNATURE = 'bw3ZbVJasRnNrmSBeDhzr3FV3LZAvwt06fMIuwkOVR24d6dPywIsukabnhUZS4/Z1saOQZ3j5CbYoYuJu9HcBg=='
  const PSS_SIGNATURE =
    'FlK1NAlcJX7Busrl26/LR5zwpggkud3qyBDOpMEgWGJJXa70ZhbNls5NcNqnYoWLbR2noNYk2RSLwAWrd7221kli4d2KaLo/JH0/9ZPRk+j+vTsK' +
    'ikXYkEHS86X4nfcAcKlwnFfur67syerVDaD7Rs2/A8TGEXDQACqq8+6eAcEiBvxC/wsD5iMVsQbV5f/RWQsghXV41pro9EkOqxNs3MeyKRDCt8td' +
    'NIkbTYEy9CFr+17aAmP2JVzX4o5yCwuogogAZbPXI837Sm0OsRAYkhK4EJXJDyJcIrrFp/A+5c6G3yHz1UfIxObvWjQJNTA09uSN4ts9k+I1JpHO' +
    'DoFJBQ=='
  const keyOf = (kid: string) => [actors.alice, actors.bob, actors.worker].find((who) => who.kid === kid)?.key
  const code = (candidate: unknown) => refusal(() => verifyDocument(note, candidate, ORG, keyOf))
  const make = (by: Identity, text = 'é') => makeDocument(note, { org: ORG, at: 5, words: text }, [by])

  it('are signed to the byte as in Node', async () => {
    const expected: Envelope = { payload: PAYLOAD, payloadType: TYPE, signatures: [{ keyid: ALICE, sig: SIGNATURE }] }
    expect(await make(actors.alice)).toEqual(expected)
    expect(await code(expected)).toBe('accepted')
  })

  it('verify with a PSS signature made in Node', async () => {
    const { payload, payloadType } = await make(actors.worker)
    const signatures = [{ keyid: actors.worker.kid, sig: PSS_SIGNATURE }]
    expect(await code({ payload, payloadType, signatures })).toBe('accepted')
  })

  it('verify with Ed25519 and with PSS, and are refused after any change', async () => {
    for (const who of [actors.alice, actors.worker]) {
      const envelope = await make(who)
      expect(await code(envelope)).toBe('accepted')
      const body = fromBase64(envelope.payload)
      for (let at = 0; at < body.length; at += 9)
        expect(await code({ ...envelope, payload: toBase64(flip(body, at)) })).toBe('bad_signature')
      const sig = toBase64(flip(fromBase64(envelope.signatures[0]?.sig as string), 40))
      expect(await code({ ...envelope, signatures: [{ keyid: who.kid, sig }] })).toBe('bad_signature')
      expect(await code({ ...envelope, signatures: [{ keyid: who.kid, sig: 'AAAA' }] })).toBe('bad_signature')
      expect(await code({ ...envelope, signatures: [] })).toBe('missing_signature')
      expect(await code({ ...envelope, payloadType: TYPE.replace('note', 'other') })).toBe('wrong_type')
    }
    expect(await code(await make(actors.mallory))).toBe('unknown_signer')
  })

  it('of one content have one name', async () => {
    expect(documentHash(await make(actors.alice))).toBe(documentHash(await make(actors.alice)))
    expect(documentHash(await make(actors.alice))).not.toBe(documentHash(await make(actors.alice, 'e\u0301')))
  })
})

describe('values', () => {
  const place: FieldPlace = { itemId: 'itm_db', fieldId: 'fld_url', rev: 2 ** 33, label: 'DATABASE_URL', env: true }
  const value = textValue('postgres://u:p@db/prod')
  const hashOf = (bytes: Uint8Array): string => toBase64url(platform.sha256(bytes))

  it('seal to the byte as in Node if the random bytes are the same', async () => {
    const { randomBytes } = platform
    platform.randomBytes = (length) => new Uint8Array(length).fill(0x22)
    try {
      const old = openDek(
        dekBytes(dek),
        { ...dek, vaultId: 'vlt_prod' },
        deriveDekCommit(dekBytes(dek), { ...dek, vaultId: 'vlt_prod' }),
      )
      // The worked example of section 2.4.
      expect((await sealField(old, { ...place, rev: 7 }, value)).envelope).toBe(
        'v3.AwEAAAABnBeX9R_OTXLVTOlGBFudeZBI-TmqOs6T-MBH9GsG3UbKW496Q3Cbssr3EC1CsSZ2sInCmj-A86cGzgR7d5TlJCMGjyVm9WejOtQk' +
          'A_w7cdB-WV6AxY7SRsQxglI',
      )
    } finally {
      platform.randomBytes = randomBytes
    }
  })

  it('open in their place, and are refused elsewhere and after any change', async () => {
    const { envelope, ct } = await sealField(dek, place, value)
    expect(await openField(dek, place, ct, envelope)).toEqual(value)
    for (const change of [{ itemId: 'itm_dc' }, { fieldId: 'fld_urm' }, { rev: 1 }, { label: 'X' }, { env: false }])
      expect(await refusal(() => openField(dek, { ...place, ...change }, ct, envelope))).toBe('aead')
    const bytes = fromBase64url(envelope.slice(3))
    for (let at = 0; at < bytes.length; at += 5) {
      const altered = flip(bytes, at)
      const code = await refusal(() => openField(dek, place, hashOf(altered), `v3.${toBase64url(altered)}`))
      expect(['alg_downgrade', 'field_swap', 'aead']).toContain(code)
    }
    const other = await sealField(dek, place, value)
    expect(await refusal(() => openField(dek, place, ct, other.envelope))).toBe('field_swap')
  })

  it('stay sealed under every other vault key', async () => {
    const { envelope, ct } = await sealField(dek, place, value)
    const other = makeDek({ org: ORG, vaultId: VAULT, dekVersion: 1 })
    expect(await refusal(() => openField(other, place, ct, envelope))).toBe('aead')
  })
})

describe('wraps', () => {
  const FIXED = {
    v: 3,
    t: 'wrapped-dek',
    org: ORG,
    at: 5,
    by: ALICE,
    to: 'agent:ag_deploy:ovgu6srwd4fkckafgx5hlppjrfsh3rl5',
    vaultId: VAULT,
    dekVersion: 1,
    dekCommit: '0OZm8b6srB4R9gY-eitEPaF3w2LtjYSi-P3HCREiyyc',
    alg: 'RSA-OAEP-256',
    ct:
      'dVTrAh6RxiFt3XAMdxq7O70Dm_vjbVBUT3P_Cc1lfbh8Xj822KFealZBT7q-iGPiR96G6ABftM3PBsySrlvTmfveTnLv1epZ2TsftrqA4U8O0kiZ' +
      '9v_tiA3ii3xNfcGQQrM0dfFUdji_Aq62Ov5xdO-soajiNyOAdBsBq0DSTCx_PkxnePJEpaNJXUbMFcbPXhyf8yINfkt1t3Wa3hX9ZuvsySS0c3cu' +
      'QYA-fJJR0RPzRY13hgKB_iD4EItxNkPS_TjtpKVM7BYb-i4MrqhXvEmC_LRnMW2JDVcKJZN8MrvlRJ0SE8wXIjV7T9f7-zCxbR8bsasW4hu2HLqe' +
      'J4rMFQ',
  } as const satisfies WrappedDekPayload
  const unwrap = (payload: WrappedDekPayload, who: Identity) =>
    unwrapDek({ payload, hash: '' } as unknown as VerifiedWrappedKey, who)

  it('made in Node open here', async () => {
    expect(dekBytes(await unwrap(FIXED, actors.deploy))).toEqual(new Uint8Array(32).fill(0x11))
  })

  it('made here open for RSA, RSA-only and hybrid keys, and in no other context', async () => {
    for (const who of [actors.deploy, actors.worker, actors.hybrid]) {
      const envelope = await wrapDek(dek, who.key, actors.alice, 5)
      const { payload } = await verifyDocument(wrappedDek, envelope, ORG, () => actors.alice.key)
      expect(dekBytes(await unwrap(payload, who))).toEqual(dekBytes(dek))
      for (const change of [
        { org: 'org_other' },
        { vaultId: `v${'b'.repeat(32)}` },
        { dekVersion: 2 },
        { by: actors.bob.kid },
      ])
        expect(await refusal(() => unwrap({ ...payload, ...change }, who))).toBe('wrap_context')
      const ct = toBase64url(flip(fromBase64url(payload.ct), 100))
      expect(await refusal(() => unwrap({ ...payload, ct }, who))).toBe('wrap_context')
      expect(await refusal(() => unwrap({ ...payload, dekCommit: FIXED.ct.slice(0, 43) }, who))).toBe('dek_commitment')
      expect(await refusal(() => unwrap(payload, actors.bob))).toBe('wrap_context')
    }
  })
})
