// Seen red: Ed25519 written before RSA; two keys of one kind accepted; a damaged block passed over; the PEM pattern with
// nested repetition, which took hours on a file of spaces; the cause of a failed import handed on; no checkKey on opening.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { inspect } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { toBase64, toBase64url } from '../../src/encoding/base64.ts'
import { type Bytes, concat, utf8 } from '../../src/encoding/bytes.ts'
import { ProtocolError } from '../../src/errors.ts'
import { privateKeyType } from '../../src/identity/der.ts'
import { deriveKeyId, verifyWithKey } from '../../src/identity/key-bundle.ts'
import { decodePem, encodePem, makeKeys, openKeys, type PrivateKeyMaterial } from '../../src/identity/private-keys.ts'
import keysFile from '../../vectors/keys.json' with { type: 'json' }
import { codeOf } from '../encoding/refused.ts'
import { refusal } from '../log/refusal.ts'

const { alice: PEM, worker: RSA_PEM, hybrid: HYBRID_PEM, bob: OTHER_PEM } = keysFile.keys
const BEGIN = '-----BEGIN PRIVATE KEY-----'
const END = '-----END PRIVATE KEY-----'
const blocks = (pem: string): string[] =>
  pem.split(`${END}\n`).flatMap((block) => (block === '' ? [] : [`${block}${END}\n`]))
const [RSA, ED25519] = blocks(PEM) as [string, string]
const codeOfPem = (pem: string): string => codeOf(() => decodePem(pem))
const pemBlock = (der: Uint8Array): string => `${BEGIN}\n${toBase64(der)}\n${END}\n`

describe('a PEM file', () => {
  it.each([
    ['RSA and Ed25519', PEM, ['rsa', 'ed25519']],
    ['RSA alone', RSA_PEM, ['rsa']],
    ['RSA, Ed25519 and ML-KEM', HYBRID_PEM, ['rsa', 'ed25519', 'ml-kem-768']],
  ])('with %s is read, and written again to the byte, RSA first', (_, pem, types) => {
    const material = decodePem(pem)
    expect(encodePem(material)).toBe(pem)
    const ders = blocks(pem).map((block) => createPrivateKey(block).export({ format: 'der', type: 'pkcs8' }))
    expect(ders.slice(0, 2).map(privateKeyType)).toEqual(types.slice(0, 2))
    expect(material.enc).toEqual(new Uint8Array(ders[0] as Uint8Array))
    expect(material.kem?.length).toBe(types.length === 3 ? 64 : undefined)
  })

  it.each([
    ['Windows line ends', PEM.replaceAll('\n', '\r\n')],
    ['its blocks in another order', ED25519 + RSA],
    ['text around and between its blocks', `# the key of alice\n${RSA}\nfor signing:\n${ED25519}\nend\n`],
    ['no newline at its end', PEM.trimEnd()],
    ['indented lines', PEM.replaceAll('\n', '\n  ')],
    ['each key in one line', PEM.replace(/([A-Za-z0-9+/=])\n(?=[A-Za-z0-9+/=])/g, '$1')],
  ])('is read with %s', (_, pem) => {
    expect(decodePem(pem)).toEqual(decodePem(PEM))
  })

  it.each([
    ['nothing', ''],
    ['garbage', 'garbage'],
    ['no RSA key', ED25519],
    ['two RSA keys', RSA + (blocks(OTHER_PEM)[0] as string)],
    ['the same RSA key twice', RSA + RSA],
    ['two Ed25519 keys', PEM + ED25519],
    ['a block without an end', `${RSA}${ED25519.replace(END, '')}`],
    ['a damaged second block', `${RSA}${ED25519.replace('MC4', 'M!4')}`],
    ['a second block with bits left over', `${RSA}${BEGIN}\nMB==\n${END}\n`],
    ['an end before its beginning', `${END}\n${BEGIN}\n`],
    ['a PKCS#1 block', PEM.replaceAll('PRIVATE KEY', 'RSA PRIVATE KEY')],
    ['an encrypted block', PEM.replaceAll('PRIVATE KEY', 'ENCRYPTED PRIVATE KEY')],
    ['a public key', PEM.replaceAll('PRIVATE KEY', 'PUBLIC KEY')],
  ])('is refused with %s', (_, pem) => {
    expect(codeOfPem(pem)).toBe('malformed')
  })

  it('is refused with a key of an algorithm the protocol does not know', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    expect(codeOfPem(PEM + pemBlock(privateKey.export({ format: 'der', type: 'pkcs8' })))).toBe('weak_key')
  })

  it('is refused as too large beyond 32 KiB, and at once up to there, whatever it consists of', () => {
    expect(codeOfPem(PEM.padEnd(32_769))).toBe('limit_exceeded')
    expect(codeOfPem(PEM.padEnd(32_768))).toBe('accepted')
    const started = performance.now()
    for (const filling of [' ', '\n', 'A', BEGIN, `${BEGIN} `, `${BEGIN}A`, '=', '-----'])
      expect(codeOfPem(`${BEGIN}${filling.repeat(Math.ceil(3000 / filling.length))}`)).toBe('malformed')
    // A pattern that tries every cut needs ten seconds for these, and hours for 32 KiB; linear work a few milliseconds.
    expect(performance.now() - started).toBeLessThan(2000)
  })
})

describe('opened keys', () => {
  let material: PrivateKeyMaterial
  beforeAll(() => {
    material = decodePem(HYBRID_PEM)
  })

  it('have the public bundle and the key id that follow from the private keys', async () => {
    const identity = await openKeys('user:ou_alice', decodePem(PEM))
    expect(identity.kid).toBe(`user:ou_alice:${deriveKeyId(identity.key.bundle)}`)
    expect(identity.key.bundle).toMatchObject({ encAlg: 'RSA-OAEP-256', sigAlg: 'EdDSA' })
    expect(Object.keys(identity.key.bundle)).not.toContain('kem')
    expect(identity.decapsulate).toBeUndefined()
    const alone = await openKeys('agent:ag_worker', decodePem(RSA_PEM))
    expect(alone.key.bundle.sigAlg).toBe('PS256')
    expect(alone.key.bundle.sig).toBe(alone.key.bundle.enc)
    const hybrid = await openKeys('agent:ag_hybrid', material)
    expect(hybrid.key.bundle.kemAlg).toBe('ML-KEM-768')
  })

  it('sign what their public half verifies', async () => {
    for (const pem of [PEM, RSA_PEM]) {
      const identity = await openKeys('agent:ag_1234', decodePem(pem))
      expect(await verifyWithKey(identity.key, utf8('m'), await identity.sign(utf8('m')))).toBe(true)
    }
  })

  it.each([
    ['an RSA key that is none', (): PrivateKeyMaterial => ({ ...material, enc: new Uint8Array(100) })],
    ['a cut RSA key', () => ({ ...material, enc: material.enc.slice(0, -1) })],
    ['an RSA key with a byte more', () => ({ ...material, enc: concat(material.enc, new Uint8Array(1)) })],
    ['an Ed25519 key in place of RSA', () => ({ ...material, enc: material.sig as Bytes })],
    ['an RSA key in place of Ed25519', () => ({ ...material, sig: material.enc })],
    ['a cut Ed25519 key', () => ({ ...material, sig: (material.sig as Bytes).slice(0, -1) })],
    ['an Ed25519 key with a byte more', () => ({ ...material, sig: concat(material.sig as Bytes, new Uint8Array(1)) })],
    ['an ML-KEM seed of 63 bytes', () => ({ ...material, kem: (material.kem as Bytes).slice(1) })],
    ['an ML-KEM seed of 96 bytes', () => ({ ...material, kem: new Uint8Array(96) })],
  ])('are refused with %s', async (_, broken) => {
    expect(await refusal(() => openKeys('user:ou_alice', broken()))).toBe('malformed')
  })

  it.each([
    ['of 1024 bits', { modulusLength: 1024 }],
    ['with the exponent 3', { modulusLength: 2048, publicExponent: 3 }],
  ])('are refused with an RSA key %s', async (_, options) => {
    const { privateKey } = generateKeyPairSync('rsa', options)
    const enc = new Uint8Array(privateKey.export({ format: 'der', type: 'pkcs8' }))
    expect(await refusal(() => openKeys('user:ou_alice', { enc, sig: null, kem: null }))).toBe('weak_key')
  })

  it('do not tell, in the refusal of a broken key, what was in it', async () => {
    // One whole DER element, so that it reaches the platform, which is then free to complain about what is inside.
    const inside = utf8('hunter2, which is no key')
    const enc = concat(Uint8Array.of(0x30, inside.length), inside)
    const error = await openKeys('user:ou_alice', { ...material, enc }).catch((one: unknown) => one)
    expect(error).toBeInstanceOf(ProtocolError)
    expect((error as ProtocolError).cause).toBeUndefined()
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('hunter2')
    expect((error as ProtocolError).details).toEqual({})
  })

  it('show no private byte when they are logged or serialised', async () => {
    const identity = await openKeys('agent:ag_hybrid', material)
    const shown = JSON.stringify(identity) + inspect(identity, { depth: 9, showHidden: true })
    const bytes = [material.enc.subarray(40), (material.sig as Bytes).subarray(16), material.kem as Bytes]
    for (const secret of bytes) {
      expect(shown).not.toContain(toBase64(secret.subarray(0, 30)))
      expect(shown).not.toContain(toBase64url(secret.subarray(0, 30)))
      expect(shown).not.toContain(Array.from(secret.subarray(0, 6)).join(', '))
    }
  })
})

it('makes keys that open again: RSA of the asked length, a separate Ed25519 key, ML-KEM where asked', async () => {
  const made = await makeKeys({ rsaBits: 2048, hybrid: true })
  expect(decodePem(encodePem(made))).toEqual(made)
  const { key } = await openKeys('agent:ag_made', made)
  expect(key.bundle).toMatchObject({ sigAlg: 'EdDSA', kemAlg: 'ML-KEM-768' })
  const alone = await makeKeys({ rsaBits: 2048, rsaOnly: true })
  expect(alone).toMatchObject({ sig: null, kem: null })
  expect(alone.enc).not.toEqual(made.enc)
}, 30_000)
