// Seen red: the payload type not compared, or not signed; parsing before verifying; unknown signatures counted; a bad
// signature by a known key passed over; `t`, organisation or author not compared; nine signatures accepted.
import { beforeAll, describe, expect, it } from 'vitest'
import { toBase64, toBase64url } from '../../src/encoding/base64.ts'
import { type Bytes, concat, utf8 } from '../../src/encoding/bytes.ts'
import { canonical } from '../../src/encoding/canonical.ts'
import { integer, words } from '../../src/encoding/shape.ts'
import {
  addSignatures,
  claimedKind,
  defineKind,
  documentHash,
  draftDocument,
  type Envelope,
  type KeyOf,
  makeDocument,
  messageOf,
  pae,
  peekDocument,
  verifyDocument,
} from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { codeOf } from '../encoding/refused.ts'
import { refusal } from '../log/refusal.ts'
import { type Actors, openActors } from '../world/actors.ts'

const ORG = 'org_acme'
const note = defineKind('test-note', { words: words(100) }, { count: integer() })
const other = defineKind('test-other', { words: words(100) }, { count: integer() })
const TYPE = 'application/vnd.vault.v3.test-note+json'

let actors: Actors
let alice: Identity
let bob: Identity
let honest: Envelope
beforeAll(async () => {
  actors = await openActors()
  alice = actors.alice
  bob = actors.bob
  honest = await makeDocument(note, { org: ORG, at: 5, words: 'hello' }, [alice])
})

/** The directory of these tests: alice, bob and the RSA-only worker; mallory is unknown. */
const keyOf: KeyOf = (kid) => [alice, bob, actors.worker].find((who) => who.kid === kid)?.key
const verify = (candidate: unknown, keys: KeyOf = keyOf) => verifyDocument(note, candidate, ORG, keys)
const code = (candidate: unknown, keys?: KeyOf) => refusal(() => verify(candidate, keys))

/** Whatever bytes, under whatever type, with genuine signatures: what a dishonest member can make. */
const signBytes = (body: Uint8Array, signers: readonly Identity[], payloadType = TYPE): Promise<Envelope> =>
  addSignatures({ payload: toBase64(body), payloadType, signatures: [] }, signers)
const payload = (members: object = {}): Bytes =>
  canonical({ v: 3, t: 'test-note', org: ORG, by: alice.kid, at: 5, words: 'hello', ...members })

describe('a signed document', () => {
  it('is accepted with its payload, its hash and its signers', async () => {
    const verified = await verify(honest)
    expect(verified.payload).toEqual({ v: 3, t: 'test-note', org: ORG, by: alice.kid, at: 5, words: 'hello' })
    expect(verified.hash).toBe(documentHash(honest))
    expect([...verified.signers]).toEqual([alice.kid])
    expect(verified.envelope).toEqual(honest)
  })

  it('is the same bytes whoever makes it, in the order of its members or another', () => {
    const one = draftDocument(note, { org: ORG, at: 5, by: alice.kid, words: 'é', count: 1 })
    const two = draftDocument(note, { count: 1, words: 'é', by: alice.kid, at: 5, org: ORG })
    expect(one).toEqual(two)
    expect(one.signatures).toEqual([])
  })

  it('is refused after any change of a single byte of what was signed', async () => {
    const body = payload()
    for (let at = 0; at < body.length; at++) {
      const altered = concat(body)
      altered[at] = (altered[at] as number) ^ 1
      expect(await code({ ...honest, payload: toBase64(altered) })).toBe('bad_signature')
    }
  })

  it('is refused after any change of a single byte of its signature', async () => {
    const sig = honest.signatures[0]?.sig as string
    for (let at = 0; at < 86; at++) {
      const flipped = sig[at] === 'A' ? 'B' : 'A'
      const signatures = [{ keyid: alice.kid, sig: sig.slice(0, at) + flipped + sig.slice(at + 1) }]
      expect(['bad_signature', 'malformed']).toContain(await code({ ...honest, signatures }))
    }
  })
})

describe('the order of verification', () => {
  it('asks for no key before the type is the expected one', async () => {
    const asked: string[] = []
    const watching: KeyOf = (kid) => {
      asked.push(kid)
      return keyOf(kid)
    }
    expect(await code({ ...honest, payloadType: `${TYPE} ` }, watching)).toBe('wrong_type')
    expect(await code({ ...honest, payloadType: 'application/vnd.vault.v3.test-other+json' }, watching)).toBe(
      'wrong_type',
    )
    expect(asked).toEqual([])
    expect(await code(honest, watching)).toBe('accepted')
    expect(asked).toEqual([alice.kid])
  })

  it('parses nothing before a signature has verified', async () => {
    const garbage = utf8('{"not":"canonical", }')
    const forged = { payload: toBase64(garbage), payloadType: TYPE, signatures: honest.signatures }
    expect(await code(forged)).toBe('bad_signature')
    expect(await code({ ...forged, signatures: [{ keyid: actors.mallory.kid, sig: 'AA==' }] })).toBe('unknown_signer')
    expect(await code({ ...forged, signatures: [] })).toBe('missing_signature')
    expect(await code(await signBytes(garbage, [alice]))).toBe('malformed')
  })

  it('compares `t` before anything else in the payload', async () => {
    expect(await code(await signBytes(canonical({ t: 'test-other' }), [alice]))).toBe('wrong_type')
    expect(await code(await signBytes(canonical({ t: 'test-note' }), [alice]))).toBe('malformed')
  })
})

describe('a document of one kind', () => {
  it('is refused as another, though both have the same members', async () => {
    expect(await refusal(() => verifyDocument(other, honest, ORG, keyOf))).toBe('wrong_type')
    expect(codeOf(() => peekDocument(other, honest))).toBe('wrong_type')
  })

  it('is refused with its type exchanged: the type is signed', async () => {
    const renamed = { ...honest, payloadType: 'application/vnd.vault.v3.test-other+json' }
    expect(await refusal(() => verifyDocument(other, renamed, ORG, keyOf))).toBe('bad_signature')
  })

  it('is refused if the type it was signed under and `t` differ', async () => {
    expect(await code(await signBytes(payload({ t: 'test-other' }), [alice]))).toBe('wrong_type')
  })

  it.each([
    ['another version', { v: 2 }],
    ['a member too many', { more: 1 }],
    ['a member of the wrong type', { words: 1 }],
    ['a time that is none', { at: '5' }],
    ['an author who is no key id', { by: 'alice' }],
  ])('is refused with %s, though genuinely signed', async (_, members) => {
    expect(await code(await signBytes(payload(members), [alice]))).toBe('malformed')
  })

  it.each(['null', '1', '"test-note"', '[]'])('is refused if its payload is %s', async (body) => {
    expect(await code(await signBytes(utf8(body), [alice]))).toBe('wrong_type')
  })
})

describe('signatures', () => {
  it('by unknown keys are ignored, whatever is in them', async () => {
    const bySomebody = await addSignatures(honest, [actors.mallory])
    const signatures = [...bySomebody.signatures, { keyid: 'someone', sig: '!' }, { keyid: '', sig: '' }]
    const verified = await verify({ ...honest, signatures })
    expect([...verified.signers]).toEqual([alice.kid])
  })

  it('by a known key that are bad refuse the document, though another one is good', async () => {
    const [good] = honest.signatures
    const bad = { keyid: bob.kid, sig: good?.sig }
    expect(await code({ ...honest, signatures: [good, bad] })).toBe('bad_signature')
    expect(await code({ ...honest, signatures: [bad, good] })).toBe('bad_signature')
    expect(await code({ ...honest, signatures: [good, { keyid: bob.kid, sig: 'AA==' }] })).toBe('bad_signature')
    expect(await code({ ...honest, signatures: [good, { keyid: bob.kid, sig: 'A' }] })).toBe('malformed')
  })

  it('of everybody but the author do not make the document the author’s', async () => {
    expect(await code(await signBytes(payload({ by: bob.kid }), [alice]))).toBe('missing_signature')
    expect(await code(await signBytes(payload(), [bob, actors.mallory]))).toBe('missing_signature')
    const draft = draftDocument(note, { org: ORG, at: 5, by: alice.kid, words: 'hello' })
    expect(await code(draft)).toBe('missing_signature')
  })

  it('by nobody known refuse the document as of an unknown signer', async () => {
    expect(await code(await signBytes(payload({ by: actors.mallory.kid }), [actors.mallory]))).toBe('unknown_signer')
  })

  it('may be eight and not nine', async () => {
    const [one] = honest.signatures
    expect(await code({ ...honest, signatures: Array(8).fill(one) })).toBe('accepted')
    expect(await code({ ...honest, signatures: Array(9).fill(one) })).toBe('malformed')
  })

  it('are verified with the algorithm of the key: the message names none that counts', async () => {
    const byWorker = payload({ by: actors.worker.kid })
    const pss = await signBytes(byWorker, [actors.worker])
    expect(await code(pss)).toBe('accepted')
    // An Ed25519 signature under the name of the RSA key, and a PSS signature under the name of the Ed25519 key.
    const message = messageOf(pss)
    const ed = { keyid: actors.worker.kid, sig: toBase64(await alice.sign(message)) }
    expect(await code({ ...pss, signatures: [ed] })).toBe('bad_signature')
    const asAlice = { keyid: alice.kid, sig: toBase64(await actors.worker.sign(messageOf(honest))) }
    expect(await code({ ...honest, signatures: [asAlice] })).toBe('bad_signature')
    expect(await code({ ...honest, alg: 'none' })).toBe('malformed')
    expect(await code({ ...honest, signatures: [{ ...honest.signatures[0], alg: 'PS256' }] })).toBe('malformed')
  })
})

it('refuses a document of another organisation, though a known member signed it', async () => {
  const foreign = await makeDocument(note, { org: 'org_other', at: 5, words: 'hello' }, [alice])
  expect(await code(foreign)).toBe('genesis_mismatch')
})

describe('an envelope', () => {
  it.each([
    ['null', null],
    ['a list', []],
    ['without signatures', () => ({ payload: honest.payload, payloadType: TYPE })],
    ['with a further member', () => ({ ...honest, more: 1 })],
    ['with a payload that is no text', () => ({ ...honest, payload: 1 })],
    ['with unpadded base64', () => ({ ...honest, payload: toBase64(utf8('ab')).replace('=', '') })],
    ['with base64url', () => ({ ...honest, payload: toBase64url(Uint8Array.of(251, 239, 255)) })],
    ['with a further member in a signature', () => ({ ...honest, signatures: [{ ...honest.signatures[0], x: 1 }] })],
    ['with signatures that are no list', () => ({ ...honest, signatures: { length: 0 } })],
    ['with a signature of 1025 characters', () => ({ ...honest, signatures: [{ keyid: 'a', sig: 'A'.repeat(1025) }] })],
  ])('is refused %s', async (_, make) => {
    expect(await code(typeof make === 'function' ? make() : make)).toBe('malformed')
  })

  it('carries at most 1 MiB', () => {
    const large = defineKind('test-large', { words: words(2_000_000) })
    const members = { org: ORG, at: 5, by: alice.kid }
    expect(codeOf(() => draftDocument(large, { ...members, words: 'a'.repeat(1_048_300) }))).toBe('accepted')
    expect(codeOf(() => draftDocument(large, { ...members, words: 'a'.repeat(1_048_576) }))).toBe('limit_exceeded')
  })
})

it('signs the pre-authentication encoding of DSSE', () => {
  // The example of secure-systems-lab/dsse, protocol.md.
  const encoded = pae('http://example.com/HelloWorld', utf8('hello world'))
  expect(new TextDecoder().decode(encoded)).toBe('DSSEv1 29 http://example.com/HelloWorld 11 hello world')
  expect(new TextDecoder().decode(pae('é', new Uint8Array(0)))).toBe('DSSEv1 2 é 0 ')
})

it('names a document and its claimed kind without any key, and refuses foreign types', () => {
  expect(documentHash(honest)).toBe(peekDocument(note, honest).hash)
  expect(claimedKind(honest)).toBe('test-note')
  for (const payloadType of ['', 'application/json', `${TYPE}x`, 'application/vnd.vault.v2.test-note+json', `x${TYPE}`])
    expect(codeOf(() => claimedKind({ ...honest, payloadType }))).toBe('wrong_type')
  expect(codeOf(() => documentHash({ ...honest, payload: 'A' }))).toBe('malformed')
})
