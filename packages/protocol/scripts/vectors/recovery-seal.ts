import { ml_kem768 } from '@noble/post-quantum/ml-kem.js'
import type { ProtocolErrorCode } from '../../src/errors.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { streamOf } from '../../test/everywhere/vectors-notation.ts'
import { type Actors, openActors } from '../../test/world/actors.ts'
import { ORG, sign } from './chronicle.ts'
import { named } from './directory.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { oaepEncrypt } from './fixed-randomness.ts'
import { base64url, hybridBox, lp, wrapPlaintext } from './reference.ts'

// Section 8: the unlock key of a user, sealed to the organisation's recovery key by the user alone.

const KEY = '33'.repeat(32)
const VERSION = 3

const contextOf = (to: string, by: string, bundleVersion = VERSION): Buffer =>
  lp('vault.v3/recovery-seal', ORG, by.slice(0, by.lastIndexOf(':')), bundleVersion, to, by)

/** As a vault key is wrapped (3.2, 3.4). */
function sealed(to: Identity, plaintext: Uint8Array, context: Uint8Array): object {
  const { encSpki: enc, kem } = to.key
  if (!kem) return { alg: 'RSA-OAEP-256', ct: base64url(oaepEncrypt(enc, plaintext, streamOf('seal', 32))) }
  const k1 = streamOf('seal k1', 32)
  const ct = oaepEncrypt(enc, k1, streamOf('seal', 32))
  const { cipherText: ct2, sharedSecret: k2 } = ml_kem768.encapsulate(kem, streamOf('seal kem', 32))
  const box = hybridBox({ k1, k2, ct, ct2, enc, kem }, context, plaintext)
  return { alg: 'RSA-OAEP-256+ML-KEM-768', ct: base64url(ct), ct2: base64url(ct2), box: base64url(box) }
}

interface SealChange {
  readonly seal?: object
  readonly enrol?: object
  readonly context?: Buffer
  readonly plaintext?: Buffer
  readonly enrolledBy?: Identity
}

interface Documents {
  readonly seal: Envelope
  readonly enrol: Envelope
}

async function documents(user: Identity, to: Identity, change: SealChange = {}): Promise<Documents> {
  const context = change.context ?? contextOf(to.kid, user.kid)
  const plaintext = change.plaintext ?? wrapPlaintext(Buffer.from(KEY, 'hex'), context)
  const seal = await sign(
    'recovery-seal',
    { bundleVersion: VERSION, to: to.kid, ...sealed(to, plaintext, context), ...change.seal },
    user,
  )
  const enrol = await sign(
    'recovery.enrol',
    { recoveryKid: to.kid, sealHash: documentHash(seal), ...change.enrol },
    change.enrolledBy ?? user,
  )
  return { seal, enrol }
}

const officer = { key: 'dave', principal: 'user:ou_dave' }
const hybridOfficer = { key: 'hybrid', principal: 'agent:ag_hybrid' }

async function refused({ alice, bob, dave, deploy, mallory }: Actors): Promise<VectorCase[]> {
  const no = async (name: string, code: ProtocolErrorCode, change: SealChange, more: object = {}) =>
    refuses('open', name, code, { ...(await documents(alice, dave, change)), recipient: officer, ...more })
  const honest = await documents(alice, dave)
  const plain = wrapPlaintext(Buffer.from(KEY, 'hex'), contextOf(dave.kid, alice.kid))
  const byAgent = await documents(deploy, dave)
  return [
    await no('another seal than the enrolled one', 'stale_wrapped_dek', { enrol: { sealHash: 'A'.repeat(43) } }),
    await no('enrolled for another key', 'wrap_context', { enrol: { recoveryKid: mallory.kid } }),
    await no('enrolled by somebody else', 'wrap_context', { enrolledBy: bob }),
    await no('made for somebody else', 'wrap_context', { context: contextOf(dave.kid, bob.kid) }),
    await no('made for another key', 'wrap_context', { context: contextOf(mallory.kid, alice.kid) }),
    await no('made for another version', 'wrap_context', { context: contextOf(dave.kid, alice.kid, 4) }),
    await no('another version outside', 'wrap_context', { seal: { bundleVersion: 4 } }),
    await no('an inside that is too short', 'wrap_context', { plaintext: plain.subarray(0, 64) }),
    await no('an inside of another type', 'wrap_context', {
      plaintext: Buffer.concat([Buffer.of(2), plain.subarray(1)]),
    }),
    await no('a hybrid seal for an RSA key', 'alg_downgrade', { seal: { alg: 'RSA-OAEP-256+ML-KEM-768' } }),
    await no('another organisation', 'genesis_mismatch', { seal: { org: 'org_evil' } }),
    await no('another private key', 'wrap_context', {}, { recipient: { key: 'bob', principal: 'user:ou_bob1' } }),
    refuses('open', 'a seal of an agent', 'not_authorised', { ...byAgent, recipient: officer }),
    refuses('open', 'a seal with a bad signature', 'bad_signature', {
      ...honest,
      recipient: officer,
      seal: { ...honest.seal, signatures: honest.enrol.signatures },
    }),
    refuses('open', 'an enrolment without signature', 'missing_signature', {
      ...honest,
      recipient: officer,
      enrol: { ...honest.enrol, signatures: [] },
    }),
  ]
}

export async function makeRecoverySeal(): Promise<VectorFile> {
  const actors = await openActors()
  const { alice, bob, dave, deploy, hybrid } = actors
  const result = { org: ORG, orgUserId: 'ou_alice', bundleVersion: VERSION, key: KEY }
  return {
    vectors: 'recovery-seal',
    section: '8',
    comment:
      'The consent of a user to recovery by the organisation: the seal and the enrolment that names it, opened with the recovery key.',
    given: { org: ORG, keys: [alice, bob, dave, deploy, hybrid].map(named) },
    cases: [
      accepts('open', 'with RSA', { ...(await documents(alice, dave)), recipient: officer }, result),
      accepts('open', 'with RSA and ML-KEM', { ...(await documents(alice, hybrid)), recipient: hybridOfficer }, result),
      refuses('open', 'with RSA alone for a hybrid key', 'alg_downgrade', {
        ...(await documents(alice, { ...hybrid, key: { ...hybrid.key, kem: null } })),
        recipient: hybridOfficer,
      }),
      ...(await refused(actors)),
    ],
  }
}
