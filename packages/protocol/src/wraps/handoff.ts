import { platform } from '#platform'
import { fromBase64url, toBase64url } from '../encoding/base64.ts'
import { type Bytes, concat, equalBytes } from '../encoding/bytes.ts'
import { canonical } from '../encoding/canonical.ts'
import { lp } from '../encoding/lp.ts'
import { bool, bytesText, hash, line, list, literal, record, text, words } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import {
  defineKind,
  type Envelope,
  hashText,
  makeDocument,
  type PayloadOf,
  verifyDocument,
} from '../identity/document.ts'
import { id, kidText, type Principal, parseKid, vaultIdText } from '../identity/identifiers.ts'
import { type CheckedKey, checkKey, deriveKeyId, type KeyBundle, mayHoldAuthority } from '../identity/key-bundle.ts'
import type { Recipient, Signer } from '../identity/private-keys.ts'
import { DEK_BYTES, type Dek, dekBytes, makeDek, openDek } from '../values/dek.ts'
import { envelopeHash, type FieldValue, openField, sealField } from '../values/field.ts'
import { hybridOpen, hybridSeal } from './hybrid.ts'
import { checkWrapAlgorithm } from './wrapped-key.ts'

// Section 6.5: the secrets of a licence, sealed by the service to the key of the buyer and signed by a provisioning key that the
// policy of the organisation names. The buyer re-encrypts them into a vault; until then nobody else can read them.

const MAX_FIELDS = 64
const MAX_RSA_BYTES = 512
const MAX_DESTINATION = 300
const MAX_ENVELOPE = 131_072

const field = record({ label: line(200), env: bool, value: text(/^v3\.[A-Za-z0-9_-]+$/, MAX_ENVELOPE) })

export const handoff = defineKind(
  'handoff',
  {
    purchaseId: id,
    licenseInstanceId: id,
    /** Where the buyer said it goes: `new:<name>` or `existing:<vaultId>`. */
    destination: words(MAX_DESTINATION),
    schemaHash: hash,
    /** Whether the secrets were ever outside the program that made them, unsealed. */
    sealing: literal('at_source', 'on_receipt'),
    commit: hash,
    to: kidText,
    alg: literal('RSA-OAEP-256', 'RSA-OAEP-256+ML-KEM-768'),
    ct: bytesText(256, MAX_RSA_BYTES),
    fields: list(field, MAX_FIELDS),
  },
  { ct2: bytesText(1088, 1088), box: bytesText(81, 81) },
)
export type HandoffPayload = PayloadOf<typeof handoff>

/** What a licence brings: names and whether they are variables of the environment; never a value. */
export interface HandoffLabel {
  readonly label: string
  readonly env: boolean
}
export interface HandoffField extends HandoffLabel {
  readonly value: FieldValue
}

/** Names the fields of a licence, in their order. */
export const handoffSchemaHash = (fields: readonly HandoffLabel[]): string =>
  hashText(canonical(fields.map(({ label, env }) => ({ label, env }))))

export interface HandoffPlace {
  readonly org: string
  readonly purchaseId: string
  readonly licenseInstanceId: string
  readonly destination: string
  readonly sealing: HandoffPayload['sealing']
}

/** A provisioner is named by its key: whoever the policy names can be nobody else, and needs no entry in the directory. */
export const provisionerOf = (bundle: KeyBundle): Principal => `agent:${deriveKeyId(bundle)}`

type Bound = Pick<
  HandoffPayload,
  'org' | 'purchaseId' | 'licenseInstanceId' | 'destination' | 'schemaHash' | 'sealing' | 'to' | 'by'
>

/** Inside the encryption, as with a wrapped vault key: `by` stops signing anew, `to` stops forwarding, the rest stops exchanging. */
const contextOf = (place: Bound): Bytes =>
  lp(
    'vault.v3/handoff',
    place.org,
    place.purchaseId,
    place.licenseInstanceId,
    platform.sha256(canonical(place.destination)),
    place.schemaHash,
    place.sealing,
    place.to,
    place.by,
  )

// A purchase is no vault: ids of vaults have another form, so no key of one is ever a key of the other.
const keyPlace = ({ org, purchaseId }: Pick<Bound, 'org' | 'purchaseId'>) => ({
  org,
  vaultId: purchaseId,
  dekVersion: 1,
})
const fieldPlace = (licenseInstanceId: string, { label, env }: HandoffLabel, at: number) => ({
  itemId: licenseInstanceId,
  fieldId: `fld_${at}`,
  rev: 1,
  label,
  env,
})

async function wrap(key: Dek, to: CheckedKey, bound: Bound) {
  const context = contextOf(bound)
  const payload = concat(Uint8Array.of(1), dekBytes(key), platform.sha256(context))
  if (to.kem) return { alg: 'RSA-OAEP-256+ML-KEM-768' as const, ...(await hybridSeal(to, to.kem, payload, context)) }
  return { alg: 'RSA-OAEP-256' as const, ct: toBase64url(await platform.rsaOaepEncrypt(to.encSpki, payload)) }
}

/** Seals the fields of a licence to one key, under a key of their own that is wrapped for it, and signs the whole. */
export async function sealHandoff(
  place: HandoffPlace,
  fields: readonly HandoffField[],
  to: CheckedKey,
  by: Signer,
  at: number,
): Promise<Envelope> {
  const { org, purchaseId, licenseInstanceId, destination, sealing } = place
  const key = makeDek(keyPlace(place))
  const schemaHash = handoffSchemaHash(fields)
  const bound = { org, purchaseId, licenseInstanceId, destination, schemaHash, sealing, to: to.kid, by: by.kid }
  const sealed = []
  for (const [i, one] of fields.entries()) {
    const { envelope } = await sealField(key, fieldPlace(licenseInstanceId, one, i), one.value)
    sealed.push({ label: one.label, env: one.env, value: envelope })
  }
  const { by: _, ...members } = bound
  return makeDocument(
    handoff,
    { ...members, at, commit: key.dekCommit, fields: sealed, ...(await wrap(key, to, bound)) },
    [by],
  )
}

declare const verifiedHandoff: unique symbol
/** Signed by a provisioner that the policy names, and for this purchase. Only such a one is ever given to a private key. */
export interface VerifiedHandoff {
  readonly [verifiedHandoff]: true
  readonly payload: HandoffPayload
  readonly hash: string
}

export interface HandoffExpectation {
  readonly org: string
  readonly purchaseId: string
  readonly licenseInstanceId: string
  readonly destination: string
  readonly fields: readonly HandoffLabel[]
  /** From the verified policy. */
  readonly provisioners: readonly string[]
}

/** Who signed, for whom, of which purchase, with which fields: everything that must hold before a private key is used. */
export async function verifyHandoff(
  candidate: unknown,
  /** As the answer brought it: it is the one that its name says, or it is refused. */
  provisioner: { readonly kid: string; readonly key: unknown },
  expected: HandoffExpectation,
  recipient: Recipient,
): Promise<VerifiedHandoff> {
  const key = checkKey(provisioner.kid, provisioner.key)
  const { principal } = parseKid(key.kid)
  const isNamed = principal === provisionerOf(key.bundle) && expected.provisioners.includes(principal)
  ensure(isNamed, 'not_authorised', 'a hand-off is not by a provisioner that the policy names', { by: key.kid })
  ensure(mayHoldAuthority(key), 'weak_key', 'a provisioner signs with its RSA key', { by: key.kid })
  const keyOf = (kid: string) => (kid === key.kid ? key : undefined)
  const { payload, hash: name } = await verifyDocument(handoff, candidate, expected.org, keyOf)
  const { purchaseId, licenseInstanceId, destination } = expected
  const isOurs =
    payload.purchaseId === purchaseId &&
    payload.licenseInstanceId === licenseInstanceId &&
    payload.destination === destination
  ensure(isOurs, 'wrap_context', 'a hand-off is of another purchase or for another place', { purchaseId })
  ensure(payload.to === recipient.kid, 'wrap_context', 'a hand-off is for another recipient', { to: payload.to })
  const hasFields = payload.schemaHash === handoffSchemaHash(expected.fields)
  const names = payload.schemaHash === handoffSchemaHash(payload.fields)
  ensure(hasFields && names, 'wrap_context', 'a hand-off brings other fields than were bought', { purchaseId })
  checkWrapAlgorithm(payload, recipient.key)
  return { payload, hash: name } as unknown as VerifiedHandoff
}

async function openKey({ payload }: VerifiedHandoff, recipient: Recipient): Promise<Dek> {
  const context = contextOf(payload)
  const { alg, ct, ct2 = '', box = '' } = payload
  const opened =
    alg === 'RSA-OAEP-256'
      ? await recipient.rsaDecrypt(fromBase64url(ct))
      : await hybridOpen(recipient, { ct, ct2, box }, context)
  const isWhole = opened?.length === 1 + DEK_BYTES + 32 && opened[0] === 1
  ensure(isWhole, 'wrap_context', 'a hand-off does not open')
  const inner = opened.subarray(1 + DEK_BYTES)
  ensure(equalBytes(inner, platform.sha256(context)), 'wrap_context', 'a hand-off was made for another context')
  return openDek(new Uint8Array(opened.subarray(1, 1 + DEK_BYTES)), keyPlace(payload), payload.commit)
}

/** The fields of a licence, for the one they were sealed to. */
export async function openHandoff(verified: VerifiedHandoff, recipient: Recipient): Promise<readonly HandoffField[]> {
  const { payload } = verified
  ensure(payload.to === recipient.kid, 'wrap_context', 'a hand-off is for another recipient', { to: payload.to })
  const key = await openKey(verified, recipient)
  const fields: HandoffField[] = []
  for (const [i, { label, env, value }] of payload.fields.entries()) {
    const place = fieldPlace(payload.licenseInstanceId, { label, env }, i)
    // The signature over the whole has said that this ciphertext belongs here.
    fields.push({ label, env, value: await openField(key, place, envelopeHash(value), value) })
  }
  return fields
}

/** The buyer says: this hand-off I have taken, and put into this item. Kept by the service as proof of delivery. */
export const handoffReceipt = defineKind('handoff.receipt', {
  purchaseId: id,
  handoffHash: hash,
  vaultId: vaultIdText,
  itemId: id,
})

export const makeHandoffReceipt = (
  { payload, hash: handoffHash }: VerifiedHandoff,
  item: { readonly vaultId: string; readonly itemId: string },
  by: Signer,
  at: number,
): Promise<Envelope> =>
  makeDocument(handoffReceipt, { org: payload.org, at, purchaseId: payload.purchaseId, handoffHash, ...item }, [by])
