import { ml_kem768 } from '@noble/post-quantum/ml-kem.js'
import { canonical } from '../../src/encoding/canonical.ts'
import type { ProtocolErrorCode } from '../../src/errors.ts'
import type { Envelope } from '../../src/identity/document.ts'
import { deriveKeyId } from '../../src/identity/key-bundle.ts'
import type { Identity } from '../../src/identity/private-keys.ts'
import { type KeyReference, streamOf } from '../../test/everywhere/vectors-notation.ts'
import { identityOf, type KeyName } from '../../test/world/actors.ts'
import { signBytes, typeOf } from './documents.ts'
import { accepts, refuses, type VectorCase, type VectorFile } from './file.ts'
import { oaepEncrypt } from './fixed-randomness.ts'
import { base64url, dekCommit, hex, hybridBox, lp, pad, sealPadded, sha256, utf8, wrapPlaintext } from './reference.ts'

// Section 6.5: what a licence brings, sealed to its buyer and signed by a provisioner.

const KEY = '33'.repeat(32)
const AT = 1_767_225_600_000

interface Label {
  readonly label: string
  readonly env: boolean
}
interface Secret extends Label {
  readonly padded: Uint8Array
}

const PLACE = {
  org: 'org_acme',
  purchaseId: 'pur_0001',
  licenseInstanceId: 'lic_0001',
  destination: 'new:Tools',
  sealing: 'at_source',
}
type Place = typeof PLACE

const secret = (label: string, env: boolean, value: string): Secret => ({ label, env, padded: pad(1, utf8(value)) })
const SECRETS: readonly Secret[] = [secret('API_KEY', true, 'key/abc.def'), secret('Seat', false, 'seat 7')]
const labelsOf = (fields: readonly Label[]): Label[] => fields.map(({ label, env }) => ({ label, env }))
const LABELS = labelsOf(SECRETS)

/** Members by name, as canonical JSON has them. */
const schemaHash = (fields: readonly Label[]): string =>
  base64url(sha256(utf8(JSON.stringify(fields.map(({ label, env }) => ({ env, label }))))))

interface Bound extends Place {
  readonly schemaHash: string
  readonly to: string
  readonly by: string
}
const contextOf = ({ org, purchaseId, licenseInstanceId, destination, schemaHash, sealing, to, by }: Bound): Buffer =>
  lp(
    'vault.v3/handoff',
    ...[org, purchaseId, licenseInstanceId, sha256(utf8(JSON.stringify(destination)))],
    ...[schemaHash, sealing, to, by],
  )

const keyPlace = ({ org, purchaseId }: Place) => ({ dek: KEY, org, vaultId: purchaseId, dekVersion: 1 })

const sealed = (place: Place, secrets: readonly Secret[]) =>
  secrets.map(({ label, env, padded }, i) => {
    const field = { itemId: place.licenseInstanceId, fieldId: `fld_${i}`, rev: 1, label, env }
    const { envelope } = sealPadded(keyPlace(place), field, padded, streamOf(`rnd ${i}`, 16))
    return { label, env, value: envelope }
  })

function wrapped(to: Identity, context: Buffer): object {
  const plaintext = wrapPlaintext(Buffer.from(KEY, 'hex'), context)
  const { encSpki: enc, kem } = to.key
  if (!kem) return { alg: 'RSA-OAEP-256', ct: base64url(oaepEncrypt(enc, plaintext, streamOf('oaep handoff', 32))) }
  const k1 = streamOf('k1 handoff', 32)
  const { cipherText: ct2, sharedSecret: k2 } = ml_kem768.encapsulate(kem, streamOf('ml-kem handoff', 32))
  const ct = oaepEncrypt(enc, k1, streamOf('oaep handoff', 32))
  const box = hybridBox({ k1, k2, ct, ct2, enc, kem }, context, plaintext)
  return { alg: 'RSA-OAEP-256+ML-KEM-768', ct: base64url(ct), ct2: base64url(ct2), box: base64url(box) }
}

/** What a dishonest sealer would change: the place that is inside the wrap, the members that are signed, what is sealed, who signs. */
interface Changes {
  readonly place?: Partial<Place>
  readonly inside?: Partial<Bound>
  readonly members?: Readonly<Record<string, unknown>>
  readonly secrets?: readonly Secret[]
  readonly signer?: Identity
}

interface Desk {
  readonly recipient: KeyReference
  readonly to: Identity
  readonly by: Identity
}

async function handoffOf({ to, by }: Desk, changes: Changes = {}): Promise<{ envelope: Envelope; payload: object }> {
  const { place: other, inside, members, secrets = SECRETS, signer = by } = changes
  const place = { ...PLACE, ...other }
  const bound = { ...place, schemaHash: schemaHash(secrets), to: to.kid, by: by.kid }
  const payload = {
    ...{ v: 3, t: 'handoff', ...bound, at: AT, commit: dekCommit(keyPlace(place)) },
    ...{ fields: sealed(place, secrets), ...wrapped(to, contextOf({ ...bound, ...inside })), ...members },
  }
  return { payload, envelope: await signBytes(typeOf('handoff'), canonical(payload), [signer]) }
}

const named = ({ kid, key }: Identity) => ({ kid, key: key.bundle })
const expectation = ({ by }: Desk) => ({
  ...PLACE,
  sealing: undefined,
  fields: LABELS,
  provisioners: [by.key.principal],
})

async function opens(name: string, desk: Desk, changes: Changes & { readonly expected?: object } = {}) {
  const { envelope, payload } = await handoffOf(desk, changes)
  const input = { recipient: desk.recipient, provisioner: named(desk.by), envelope }
  const fields = [
    { ...SECRETS[0], padded: undefined, type: 1, value: hex(utf8('key/abc.def')) },
    { ...SECRETS[1], padded: undefined, type: 1, value: hex(utf8('seat 7')) },
  ]
  const result = { hash: base64url(sha256(canonical(payload))), fields }
  return accepts('open', name, { ...input, expected: { ...expectation(desk), ...changes.expected } }, result)
}

type Refused = (name: string, code: ProtocolErrorCode, changes: Changes, input?: object) => Promise<VectorCase>
const refusing =
  (desk: Desk): Refused =>
  async (name, code, changes, input = {}) => {
    const { envelope } = await handoffOf(desk, changes)
    const whole = { recipient: desk.recipient, provisioner: named(desk.by), expected: expectation(desk), envelope }
    return refuses('open', name, code, { ...whole, ...input })
  }

async function provisioner(key: KeyName): Promise<Identity> {
  const { bundle } = (await identityOf(key, 'agent:anybody')).key
  return identityOf(key, `agent:${deriveKeyId(bundle)}`)
}

async function deskFor(key: KeyName, by: Identity): Promise<Desk> {
  const recipient = { key, principal: 'agent:ag_deploy' } as const
  return { recipient, to: await identityOf(key, recipient.principal), by }
}

/** Signed, and of another purchase or for another place than was bought. */
async function expectedCases(desk: Desk): Promise<VectorCase[]> {
  const no = refusing(desk)
  const expected = expectation(desk)
  const other = (name: string, members: object) =>
    no(name, 'wrap_context', {}, { expected: { ...expected, ...members } })
  return [
    await other('of another purchase', { purchaseId: 'pur_0002' }),
    await other('of another licence', { licenseInstanceId: 'lic_0002' }),
    await other('for another place', { destination: 'new:Others' }),
    await other('with another field', { fields: [LABELS[0], { label: 'Chair', env: false }] }),
    await other('with fields in another order', { fields: [...LABELS].reverse() }),
    await other('with a field that became a variable', { fields: [LABELS[0], { label: 'Seat', env: true }] }),
    await other('with a field less', { fields: [LABELS[0]] }),
    await no('of another organisation', 'genesis_mismatch', {}, { expected: { ...expected, org: 'org_acmf' } }),
  ]
}

async function signerCases(desk: Desk, other: Identity): Promise<VectorCase[]> {
  const no = refusing(desk)
  const expected = expectation(desk)
  const renamed = await identityOf('dave', 'agent:anybody')
  const both = [desk.by.key.principal, other.key.principal]
  return [
    await no(
      'by a provisioner that the policy does not name',
      'not_authorised',
      {},
      { expected: { ...expected, provisioners: [] } },
    ),
    await no(
      'by a key whose name is not its own',
      'not_authorised',
      { members: { by: renamed.kid }, signer: renamed },
      { provisioner: named(renamed), expected: { ...expected, provisioners: ['agent:anybody'] } },
    ),
    await no(
      'by another provisioner than is shown',
      'unknown_signer',
      {},
      {
        provisioner: named(other),
        expected: { ...expected, provisioners: both },
      },
    ),
    await no(
      'a provisioner with the key of another',
      'key_substitution',
      {},
      {
        provisioner: { kid: desk.by.kid, key: other.key.bundle },
      },
    ),
    await no('signed by somebody else', 'bad_signature', { signer: { ...other, kid: desk.by.kid } }),
  ]
}

/** Every member of the context inside the wrap, changed by one. */
async function contextCases(desk: Desk, other: Identity): Promise<VectorCase[]> {
  const no = refusing(desk)
  const inside = (name: string, members: Partial<Bound>) =>
    no(`wrapped for ${name}`, 'wrap_context', { inside: members })
  return [
    await inside('another organisation', { org: 'org_acmf' }),
    await inside('another purchase', { purchaseId: 'pur_0002' }),
    await inside('another licence', { licenseInstanceId: 'lic_0002' }),
    await inside('another place', { destination: 'new:Others' }),
    await inside('other fields', { schemaHash: schemaHash([]) }),
    await inside('another way of sealing', { sealing: 'on_receipt' }),
    await inside('another recipient', { to: other.kid }),
    await inside('another author', { by: other.kid }),
  ]
}

const swapped = (fields: ReturnType<typeof sealed>) =>
  fields.map((one, i) => ({ ...one, value: fields[fields.length - 1 - i]?.value }))

async function contentCases(desk: Desk, other: Identity): Promise<VectorCase[]> {
  const no = refusing(desk)
  const [first, second] = [SECRETS[0] as Secret, SECRETS[1] as Secret]
  const fields = sealed(PLACE, SECRETS)
  const commit = dekCommit({ ...keyPlace(PLACE), dek: '34'.repeat(32) })
  return [
    await no('another commitment', 'dek_commitment', { members: { commit } }),
    await no('values exchanged', 'aead', { members: { fields: swapped(fields) } }),
    await no('a label that the schema does not name', 'wrap_context', {
      members: { fields: [{ ...fields[0], label: 'OTHER' }, fields[1]] },
    }),
    await no('a value without padding', 'padding', { secrets: [first, { ...second, padded: Buffer.alloc(64) }] }),
    await no('for another recipient', 'wrap_context', { members: { to: other.kid } }),
    await no('a sealing nobody knows', 'malformed', { members: { sealing: 'later' } }),
    await no('a member too many', 'malformed', { members: { note: '' } }),
    await no('an algorithm that is not of the key', 'alg_downgrade', {
      members: { alg: 'RSA-OAEP-256+ML-KEM-768', ct2: base64url(Buffer.alloc(1088)), box: base64url(Buffer.alloc(81)) },
    }),
  ]
}

export async function makeHandoff(): Promise<VectorFile> {
  const [by, other] = [await provisioner('dave'), await provisioner('mallory')]
  const desk = await deskFor('deploy', by)
  const existing = `existing:v${'a'.repeat(32)}`
  const schema = (name: string, fields: readonly Label[]) =>
    accepts('schema', name, { fields }, { hash: schemaHash(fields) })
  return {
    vectors: 'handoff',
    section: '6.5',
    comment:
      'A handoff document with the bundle of its provisioner, what the buyer expects (from its purchase and the verified policy), and the buyer’s private key. schema: labels → schemaHash.',
    cases: [
      schema('two fields', LABELS),
      schema('the order counts', [...LABELS].reverse()),
      schema('none', []),
      await opens('RSA-2048', desk),
      await opens('an RSA-only key', await deskFor('worker', by)),
      await opens('a hybrid key', await deskFor('hybrid', by)),
      await opens('sealed on receipt, for a vault that is there', desk, {
        place: { destination: existing, sealing: 'on_receipt' },
        expected: { destination: existing },
      }),
      ...(await expectedCases(desk)),
      ...(await signerCases(desk, other)),
      ...(await contextCases(desk, other)),
      ...(await contentCases(desk, other)),
    ],
  }
}
