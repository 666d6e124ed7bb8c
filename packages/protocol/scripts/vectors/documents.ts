import { createPrivateKey, type KeyObject } from 'node:crypto'
import { toBase64 } from '../../src/encoding/base64.ts'
import { canonical } from '../../src/encoding/canonical.ts'
import type { ProtocolErrorCode } from '../../src/errors.ts'
import type { Envelope } from '../../src/identity/document.ts'
import { decodePem, type Signer } from '../../src/identity/private-keys.ts'
import { type Actors, type KeyName, openActors } from '../../test/world/actors.ts'
import keysFile from '../../vectors/keys.json' with { type: 'json' }
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { pssSign } from './fixed-randomness.ts'
import { base64url, hex, pae, sha256, utf8 } from './reference.ts'

// Section 2.3: DSSE envelopes around canonical JSON.

export const typeOf = (kind: string): string => `application/vnd.vault.v3.${kind}+json`

/** Signs any bytes as any type: what no honest writer would do, included. */
export async function signBytes(type: string, body: Uint8Array, signers: readonly Signer[]): Promise<Envelope> {
  const signatures = []
  for (const signer of signers)
    signatures.push({ keyid: signer.kid as string, sig: toBase64(await signer.sign(pae(type, body))) })
  return { payload: toBase64(body), payloadType: type, signatures }
}

const rsaKeyOf = (name: KeyName): KeyObject =>
  createPrivateKey({ key: Buffer.from(decodePem(keysFile.keys[name]).enc), format: 'der', type: 'pkcs8' })

const paeCase = (name: string, type: string, body: string): VectorCase =>
  accepts('pae', name, { payloadType: type, body: hex(utf8(body)) }, { hex: hex(pae(type, utf8(body))) })

const paeCases: readonly VectorCase[] = [
  paeCase('the example of the DSSE specification', 'http://example.com/HelloWorld', 'hello world'),
  paeCase('an empty body', typeOf('example'), ''),
  paeCase('lengths are in bytes', typeOf('exämple'), 'Schlüssel'),
  paeCase('a body with spaces and digits', 'a', ' 1 a 1 '),
]

const ORG = 'org_acme'
const KIND = 'key.revoke'
const TYPE = typeOf(KIND)

interface Desk extends Actors {
  readonly payload: Readonly<Record<string, unknown>>
  readonly body: Uint8Array
  readonly honest: Envelope
  readonly own: Envelope['signatures'][number]
}

const sign = (value: object, ...signers: readonly Signer[]): Promise<Envelope> =>
  signBytes(TYPE, canonical(value), signers)

async function openDesk(): Promise<Desk> {
  const actors = await openActors()
  const { alice, worker } = actors
  const at = 1_767_225_600_000
  const payload = { v: 3, t: KIND, org: ORG, kid: worker.kid, reason: 'removed', by: alice.kid, at }
  const honest = await sign(payload, alice)
  return { ...actors, payload, body: canonical(payload), honest, own: honest.signatures[0] as Desk['own'] }
}

const opens = (name: string, envelope: unknown, result: object): VectorCase =>
  accepts('verify', name, { kind: KIND, org: ORG, envelope }, result)
const bad = (name: string, code: ProtocolErrorCode, envelope: unknown): VectorCase =>
  refuses('verify', name, code, { kind: KIND, org: ORG, envelope })

async function acceptedCases({ alice, dave, worker, mallory, payload, honest, own }: Desk): Promise<VectorCase[]> {
  const outcome = (value: object, ...signers: readonly Signer[]) => ({
    hash: base64url(sha256(canonical(value))),
    by: (value as { by: string }).by,
    signers: signers.map(({ kid }) => kid).sort(),
  })
  const dated = { ...payload, since: 7 }
  const withRsa = { ...payload, by: worker.kid }
  const strange = { ...honest, signatures: [own, { keyid: 'x', sig: '!' }] }
  return [
    opens('one signature', honest, outcome(payload, alice)),
    opens('two signatures', await sign(payload, dave, alice), outcome(payload, alice, dave)),
    opens('a signature by a stranger is ignored', await sign(payload, mallory, alice), outcome(payload, alice)),
    opens('a signature by a stranger may have any form', strange, outcome(payload, alice)),
    opens('an optional member', await sign(dated, alice), outcome(dated, alice)),
    opens('RSA-PSS with a salt of 32 bytes', await sign(withRsa, worker), outcome(withRsa, worker)),
  ]
}

async function signatureCases({ alice, dave, worker, mallory, payload, body, honest, own }: Desk) {
  const by = ({ kid }: Signer, sig: string) => ({ keyid: kid, sig })
  const forged = by(alice, toBase64(await mallory.sign(pae(TYPE, body))))
  const byDave = await sign(payload, dave)
  const signed = (...signatures: readonly object[]) => ({ ...honest, signatures })
  const withRsa = await sign({ ...payload, by: worker.kid }, worker)
  const unsalted = pssSign(rsaKeyOf('worker'), pae(TYPE, Buffer.from(withRsa.payload, 'base64')), new Uint8Array(0))
  return [
    bad('a bad signature by a known key', 'bad_signature', signed(forged)),
    bad('a bad signature beside a good one', 'bad_signature', signed(...byDave.signatures, forged)),
    bad('a signature over the bare payload', 'bad_signature', signed(by(alice, toBase64(await alice.sign(body))))),
    bad(
      'a signature cut by a byte',
      'bad_signature',
      signed(by(alice, toBase64(Buffer.from(own.sig, 'base64').subarray(1)))),
    ),
    bad('RSA-PSS without salt', 'bad_signature', { ...withRsa, signatures: [by(worker, toBase64(unsalted))] }),
    bad(
      'a signature with RSA under an Ed25519 key',
      'bad_signature',
      signed(by(alice, toBase64(await worker.sign(pae(TYPE, body))))),
    ),
    bad('no signature', 'missing_signature', signed()),
    bad('signed by strangers only', 'unknown_signer', await sign(payload, mallory)),
    bad('not signed by its author', 'missing_signature', byDave),
  ]
}

async function payloadCases({ alice, payload, body, honest }: Desk): Promise<VectorCase[]> {
  const { reason, ...short } = payload
  const exchanged = { ...honest, payload: toBase64(canonical({ ...payload, reason: 'superseded' })) }
  const text = (value: string) => signBytes(TYPE, utf8(value), [alice])
  return [
    bad('a payload exchanged after signing', 'bad_signature', exchanged),
    bad('another payload type', 'wrong_type', await signBytes(typeOf('caps.set'), body, [alice])),
    bad('a payload type exchanged after signing', 'wrong_type', { ...honest, payloadType: typeOf('caps.set') }),
    bad('a payload type without kind', 'wrong_type', await signBytes('application/json', body, [alice])),
    bad('the right payload type around another kind', 'wrong_type', await sign({ ...payload, t: 'caps.set' }, alice)),
    bad('another organisation', 'genesis_mismatch', await sign({ ...payload, org: 'org_evil' }, alice)),
    bad('another version', 'malformed', await sign({ ...payload, v: 4 }, alice)),
    bad('a member too many', 'malformed', await sign({ ...payload, note: '' }, alice)),
    bad('a member too few', 'malformed', await sign(short, alice)),
    bad('a member of another form', 'malformed', await sign({ ...payload, reason: `${reason}!` }, alice)),
    bad('white space', 'malformed', await text(`${Buffer.from(body)}\n`)),
    bad('keys in another order', 'malformed', await text(JSON.stringify(payload))),
    bad('a list', 'wrong_type', await text('[]')),
  ]
}

function formCases({ alice, honest, own }: Desk): VectorCase[] {
  const strangers = (count: number) => Array.from({ length: count }, () => ({ keyid: 'x', sig: '' }))
  const urlSafe = Buffer.from(own.sig, 'base64').toString('base64url')
  const { signatures, ...unsigned } = honest
  return [
    bad('nine signatures', 'malformed', { ...honest, signatures: [...signatures, ...strangers(8)] }),
    bad('an envelope with a member too many', 'malformed', { ...honest, hash: '' }),
    bad('an envelope with a member too few', 'malformed', unsigned),
    bad('a payload in base64url', 'malformed', { ...honest, payload: base64url(utf8('{"a":"??>"}')) }),
    bad('a signature in base64url', 'malformed', { ...honest, signatures: [{ keyid: alice.kid, sig: urlSafe }] }),
    bad('nothing', 'malformed', null),
  ]
}

export async function makeDsse(): Promise<VectorFile> {
  const desk = await openDesk()
  const { alice, dave, worker } = desk
  return {
    vectors: 'dsse',
    section: '2.3',
    comment:
      'DSSE v1 around canonical JSON. verify: an envelope is offered as a document of `kind` of the organisation `org`; the keys of `given.keys` are known, and no others.',
    given: { keys: [alice, dave, worker].map(({ kid, key }) => ({ kid, key: key.bundle })) },
    cases: [
      ...paeCases,
      ...(await acceptedCases(desk)),
      ...(await signatureCases(desk)),
      ...(await payloadCases(desk)),
      ...formCases(desk),
    ],
  }
}
