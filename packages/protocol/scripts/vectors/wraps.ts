import { ml_kem768 } from '@noble/post-quantum/ml-kem.js'
import type { ProtocolErrorCode } from '../../src/errors.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { type KeyReference, streamOf } from '../../test/everywhere/vectors-notation.ts'
import { identityOf, type KeyName } from '../../test/world/actors.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { oaepEncrypt, publicKeyOf, rsaRaw } from './fixed-randomness.ts'
import { base64url, dekCommit, hex, hybridBox, type WrapContext, wrapContext, wrapPlaintext } from './reference.ts'

// Sections 3.2 and 3.4: vault keys wrapped with RSA-OAEP, and with ML-KEM beside it.

const ORG = 'org_acme'
const VAULT = `v${'a'.repeat(32)}`
const DEK = '11'.repeat(32)
const AT = 1_767_225_600_000

interface Desk {
  readonly recipient: KeyReference
  readonly to: Identity
  readonly context: WrapContext
  readonly payload: Readonly<Record<string, unknown>>
}

const seed = (name: string): Uint8Array => streamOf(`oaep ${name}`, 32)

async function openDesk(key: KeyName, dekVersion: number): Promise<Omit<Desk, 'payload'> & { base: object }> {
  const recipient = { key, principal: 'agent:ag_deploy' } as const
  const to = await identityOf(key, recipient.principal)
  const by = await identityOf('alice', 'user:ou_alice')
  const context = { org: ORG, vaultId: VAULT, dekVersion, to: to.kid, by: by.kid }
  const commit = dekCommit({ dek: DEK, org: ORG, vaultId: VAULT, dekVersion })
  return { recipient, to, context, base: { v: 3, t: 'wrapped-dek', ...context, dekCommit: commit, at: AT } }
}

async function classic(key: KeyName, dekVersion = 2): Promise<Desk> {
  const { base, ...desk } = await openDesk(key, dekVersion)
  const plaintext = wrapPlaintext(Buffer.from(DEK, 'hex'), wrapContext(desk.context))
  const ct = oaepEncrypt(desk.to.key.encSpki, plaintext, seed(key))
  return { ...desk, payload: { ...base, alg: 'RSA-OAEP-256', ct: base64url(ct) } }
}

const unwraps = (name: string, { recipient, payload }: Desk): VectorCase =>
  accepts('unwrap', name, { recipient, payload }, { dek: DEK })
const bad =
  ({ recipient, payload }: Desk) =>
  (name: string, code: ProtocolErrorCode, change: object): VectorCase =>
    refuses('unwrap', name, code, { recipient, payload: { ...payload, ...change } })

const flip = (bytes: Uint8Array, at: number): Buffer => {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] as number) ^ 1
  return copy
}
const bytesIn = (payload: Desk['payload'], member: string): Buffer =>
  Buffer.from(payload[member] as string, 'base64url')

/** Everything the inner context names, changed by one. */
const contextCases = (desk: Desk, otherKid: string): VectorCase[] => {
  const no = bad(desk)
  return [
    no('for another recipient', 'wrap_context', { to: otherKid }),
    no('by somebody else', 'wrap_context', { by: otherKid }),
    no('of another organisation', 'wrap_context', { org: 'org_acmf' }),
    no('of another vault', 'wrap_context', { vaultId: `v${'a'.repeat(31)}b` }),
    no('of another version', 'wrap_context', { dekVersion: 3 }),
    no('with another commitment', 'dek_commitment', {
      dekCommit: dekCommit({ dek: '12'.repeat(32), org: ORG, vaultId: VAULT, dekVersion: 2 }),
    }),
  ]
}

/** Authentic wraps around a wrong inside: what a dishonest admin could make. */
function insideCases(desk: Desk): VectorCase[] {
  const no = bad(desk)
  const context = wrapContext(desk.context)
  const plaintext = wrapPlaintext(Buffer.from(DEK, 'hex'), context)
  const spki = desk.to.key.encSpki
  const wrap = (inside: Uint8Array, label?: string) => ({ ct: base64url(oaepEncrypt(spki, inside, seed('x'), label)) })
  const other = wrapPlaintext(Buffer.from('12'.repeat(32), 'hex'), context)
  const sha1 = new Uint8Array((publicKeyOf(spki).asymmetricKeyDetails?.modulusLength as number) / 8)
  return [
    no('another vault key than the committed one', 'dek_commitment', wrap(other)),
    no('an unknown type of payload', 'wrap_context', wrap(Buffer.concat([Buffer.of(2), plaintext.subarray(1)]))),
    no('a payload that is too short', 'wrap_context', wrap(plaintext.subarray(0, 64))),
    no('a payload that is too long', 'wrap_context', wrap(Buffer.concat([plaintext, Buffer.of(0)]))),
    no('the bare vault key', 'wrap_context', wrap(Buffer.from(DEK, 'hex'))),
    no('a label of OAEP', 'wrap_context', wrap(plaintext, 'vault.v3')),
    no('padding of PKCS#1 v1.5', 'wrap_context', { ct: base64url(pkcs1(spki, plaintext)) }),
    no('no padding', 'wrap_context', { ct: base64url(rsaRaw(publicKeyOf(spki), lastBytes(sha1, plaintext))) }),
  ]
}

function lastBytes(block: Uint8Array, message: Uint8Array): Uint8Array {
  block.set(message, block.length - message.length)
  return block
}

function pkcs1(spki: Uint8Array, message: Uint8Array): Uint8Array {
  const key = publicKeyOf(spki)
  const length = (key.asymmetricKeyDetails?.modulusLength as number) / 8
  const filler = streamOf('pkcs1', length - message.length - 3).map((byte) => byte || 1)
  return rsaRaw(key, Buffer.concat([Buffer.of(0, 2), filler, Buffer.of(0), message]))
}

function formCases(desk: Desk): VectorCase[] {
  const no = bad(desk)
  const ct = bytesIn(desk.payload, 'ct')
  return [
    no('a ciphertext changed', 'wrap_context', { ct: base64url(flip(ct, ct.length - 1)) }),
    no('a ciphertext above the modulus', 'wrap_context', { ct: base64url(Buffer.alloc(256, 255)) }),
    no('a ciphertext of zeros', 'wrap_context', { ct: base64url(Buffer.alloc(256)) }),
    no('a ciphertext of another length', 'wrap_context', { ct: base64url(Buffer.concat([Buffer.of(0), ct])) }),
    no('a ciphertext that is too short for any key', 'malformed', { ct: base64url(ct.subarray(1)) }),
    no('an unknown algorithm', 'malformed', { alg: 'RSA-OAEP' }),
    no('an algorithm whose members are missing', 'malformed', { alg: 'RSA-OAEP-256+ML-KEM-768' }),
    no('version 0', 'malformed', { dekVersion: 0 }),
    no('version 2^32', 'malformed', { dekVersion: 2 ** 32 }),
    no('a member too many', 'malformed', { label: '' }),
  ]
}

export async function makeWrap(): Promise<VectorFile> {
  const desk = await classic('deploy')
  const others = await Promise.all((['big', 'huge', 'worker'] as const).map((key) => classic(key)))
  const late = await classic('deploy', 65_537)
  const mallory = await identityOf('mallory', 'user:ou_mallory')
  const [big, huge, worker] = others as [Desk, Desk, Desk]
  return {
    vectors: 'wrap',
    section: '3.2',
    comment:
      'The payload of a wrapped-dek document after its grant and its signature were verified, and the recipient’s private key. decrypt: what RSA-OAEP gives, 0x01 ‖ DEK ‖ SHA-256(LP("vault.v3/wrap", org, vaultId, dekVersion, to, by)).',
    cases: [
      accepts(
        'decrypt',
        'RSA-2048',
        { recipient: desk.recipient, ct: desk.payload.ct },
        {
          plaintext: hex(wrapPlaintext(Buffer.from(DEK, 'hex'), wrapContext(desk.context))),
        },
      ),
      unwraps('RSA-2048', desk),
      unwraps('RSA-3072', big),
      unwraps('RSA-4096', huge),
      unwraps('an RSA-only key', worker),
      unwraps('version 65537', late),
      ...contextCases(desk, mallory.kid),
      refuses('unwrap', 'another private key than the named one', 'wrap_context', {
        recipient: { key: 'deploy', principal: 'agent:ag_worker' },
        payload: desk.payload,
      }),
      bad(desk)('a ciphertext for another key', 'wrap_context', { ct: worker.payload.ct }),
      ...insideCases(desk),
      ...formCases(desk),
    ],
  }
}

function hybrid({ base, ...desk }: Awaited<ReturnType<typeof openDesk>>): Desk {
  const { encSpki: enc, kem } = desk.to.key
  const k1 = streamOf('k1', 32)
  const { cipherText: ct2, sharedSecret: k2 } = ml_kem768.encapsulate(kem as Uint8Array, streamOf('ml-kem', 32))
  const ct = oaepEncrypt(enc, k1, seed('hybrid'))
  const context = wrapContext(desk.context)
  const payload = wrapPlaintext(Buffer.from(DEK, 'hex'), context)
  const box = hybridBox({ k1, k2, ct, ct2, enc, kem: kem as Uint8Array }, context, payload)
  const members = { ct: base64url(ct), ct2: base64url(ct2), box: base64url(box) }
  return { ...desk, payload: { ...base, alg: 'RSA-OAEP-256+ML-KEM-768', ...members } }
}

function hybridForms(desk: Desk): VectorCase[] {
  const no = bad(desk)
  const changed = (member: string, at: number) => ({ [member]: base64url(flip(bytesIn(desk.payload, member), at)) })
  const spki = desk.to.key.encSpki
  return [
    no('the RSA ciphertext changed', 'wrap_context', changed('ct', 255)),
    no('the ML-KEM ciphertext changed', 'wrap_context', changed('ct2', 0)),
    no('the box changed', 'wrap_context', changed('box', 80)),
    no('another share under RSA', 'wrap_context', { ct: base64url(oaepEncrypt(spki, streamOf('k3', 32), seed('y'))) }),
    no('a share of another length', 'wrap_context', {
      ct: base64url(oaepEncrypt(spki, streamOf('k1', 31), seed('y'))),
    }),
    no('an ML-KEM ciphertext that is too short', 'malformed', {
      ct2: base64url(bytesIn(desk.payload, 'ct2').subarray(1)),
    }),
    no('a box that is too short', 'malformed', { box: base64url(bytesIn(desk.payload, 'box').subarray(1)) }),
    no('no box', 'malformed', { box: undefined }),
    no('no ML-KEM ciphertext', 'malformed', { ct2: undefined }),
  ]
}

/** The algorithm follows from the recipient's key. */
function algorithmCases(desk: Desk, plain: Desk): VectorCase[] {
  const { ct2, box, ...rsaHalf } = desk.payload
  const judged = (name: string, { recipient }: Desk, payload: object, code?: ProtocolErrorCode) =>
    code
      ? refuses('algorithm', name, code, { recipient, payload })
      : accepts('algorithm', name, { recipient, payload }, {})
  return [
    judged('a hybrid wrap for a hybrid key', desk, desk.payload),
    judged('an RSA wrap for an RSA key', plain, plain.payload),
    judged('an RSA wrap for a hybrid key', desk, { ...rsaHalf, alg: 'RSA-OAEP-256' }, 'alg_downgrade'),
    judged('a hybrid wrap for an RSA key', plain, desk.payload, 'alg_downgrade'),
    judged('a hybrid wrap without its second half', desk, rsaHalf, 'malformed'),
    judged('an RSA wrap with members of a hybrid one', plain, { ...plain.payload, ct2, box }, 'malformed'),
  ]
}

export async function makeHybridWrap(): Promise<VectorFile> {
  const desk = hybrid(await openDesk('hybrid', 2))
  const plain = await classic('deploy')
  const mallory = await identityOf('mallory', 'user:ou_mallory')
  return {
    vectors: 'hybrid-wrap',
    section: '3.4',
    comment:
      'As in wrap.json, for RSA-OAEP-256+ML-KEM-768. algorithm: does a wrap use the algorithm of its recipient’s key?',
    cases: [
      unwraps('RSA-2048 and ML-KEM-768', desk),
      ...contextCases(desk, mallory.kid).map((one) =>
        one.name === 'with another commitment' ? one : { ...one, code: 'wrap_context' as const },
      ),
      ...hybridForms(desk),
      refuses('unwrap', 'a key without ML-KEM', 'alg_downgrade', {
        recipient: plain.recipient,
        payload: { ...desk.payload, to: plain.to.kid },
      }),
      ...algorithmCases(desk, plain),
    ],
  }
}
