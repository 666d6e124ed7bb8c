import { platform } from '#platform'
import { fromBase64, toBase64 } from '../encoding/base64.ts'
import { type Bytes, concat, utf8 } from '../encoding/bytes.ts'
import { canonical, type Json, MAX_DOCUMENT_BYTES, parseStrict } from '../encoding/canonical.ts'
import { integer, list, literal, type Of, record, type Shape, text } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import type { Awaitable } from '../platform/platform.ts'
import { id, kidText } from './identifiers.ts'
import { type CheckedKey, verifyWithKey } from './key-bundle.ts'
import type { Signer } from './private-keys.ts'

// Section 2.3: canonical JSON in a DSSE v1 envelope.

const MAX_SIGNATURES = 8

export const envelopeShape = record({
  payload: text(undefined, Math.ceil(MAX_DOCUMENT_BYTES / 3) * 4),
  payloadType: text(undefined, 128),
  signatures: list(record({ keyid: text(undefined, 128), sig: text(undefined, 1024) }), MAX_SIGNATURES),
})
export type Envelope = Of<typeof envelopeShape>

type Members = Record<string, Shape<unknown>>
const COMMON = { v: literal(3), org: id, by: kidText, at: integer() }
type Common = { readonly v: 3; readonly org: string; readonly by: string; readonly at: number }

/** A kind of document: its name, which is signed twice (payload type and `t`), and the exact shape of its payload. */
export interface Kind<N extends string, P> {
  readonly name: N
  readonly shape: Shape<P & Common & { readonly t: N }>
}
export type PayloadOf<K> = K extends Kind<infer N, infer P> ? P & Common & { readonly t: N } : never

export function defineKind<N extends string, R extends Members, O extends Members = Record<never, never>>(
  name: N,
  required: R,
  optional?: O,
): Kind<N, Of<ReturnType<typeof record<R, O>>>> {
  return { name, shape: record({ ...COMMON, t: literal(name), ...required }, optional) as never }
}

/** SHA-256 of the payload bytes as base64url: the name of a document everywhere in the protocol. */
export const hashText = (bytes: Uint8Array): string => platform.sha256Base64url(bytes)

const payloadType = (name: string): string => `application/vnd.vault.v3.${name}+json`

/** DSSE pre-authentication encoding. */
export function pae(type: string, body: Uint8Array): Bytes {
  const typeBytes = utf8(type)
  return concat(utf8(`DSSEv1 ${typeBytes.length} `), typeBytes, utf8(` ${body.length} `), body)
}

/** A document nobody has signed yet. `by` may be somebody who is not here and signs last. */
export function draftDocument<N extends string, P>(
  kind: Kind<N, P>,
  members: { readonly org: string; readonly at: number; readonly by: string } & P,
): Envelope {
  const body = canonical(kind.shape({ ...members, v: 3, t: kind.name }, kind.name))
  ensure(body.length <= MAX_DOCUMENT_BYTES, 'limit_exceeded', `a ${kind.name} document is larger than 1 MiB`)
  return { payload: toBase64(body), payloadType: payloadType(kind.name), signatures: [] }
}

/** Makes and signs a document; `by` is the first signer. */
export async function makeDocument<N extends string, P>(
  kind: Kind<N, P>,
  members: { readonly org: string; readonly at: number } & P,
  signers: readonly [Signer, ...Signer[]],
): Promise<Envelope> {
  return addSignatures(draftDocument(kind, { ...members, by: signers[0].kid }), signers)
}

/** What is signed of a document. */
export const messageOf = ({ payloadType: type, payload }: Envelope): Bytes => pae(type, fromBase64(payload))

/** A further signature on a document that exists: an endorser, or the second half of a rotation. */
export async function addSignatures(envelope: Envelope, signers: readonly Signer[]): Promise<Envelope> {
  const message = messageOf(envelope)
  const signatures = [...envelope.signatures]
  for (const signer of signers) signatures.push({ keyid: signer.kid, sig: toBase64(await signer.sign(message)) })
  return { ...envelope, signatures }
}

declare const verified: unique symbol
/** A document whose required signatures were verified. Only `verifyDocument` makes one. */
export interface VerifiedDocument<K> {
  readonly [verified]: true
  readonly kind: string
  readonly hash: string
  readonly payload: PayloadOf<K>
  /** The key ids whose signatures verified. */
  readonly signers: ReadonlySet<string>
  readonly envelope: Envelope
}

/** Strictly parsed, and attacker-controlled until its signatures are verified: only for finding the keys to verify with. */
export interface UnverifiedDocument<K> {
  readonly hash: string
  readonly payload: PayloadOf<K>
}

interface Decoded {
  /** The text this was decoded from: an envelope that was changed in place is decoded anew. */
  readonly text: string
  readonly body: Bytes
  readonly hash: string
  json?: Json
  /** The kind whose shape the payload was found to have. */
  kind?: string
}
const decodedEnvelopes = new WeakMap<object, Decoded>()

/** A document is looked at several times on its way to being verified; its bytes are decoded, hashed and parsed once. */
function decode(envelope: Envelope): Decoded {
  const known = decodedEnvelopes.get(envelope)
  if (known?.text === envelope.payload) return known
  const body = fromBase64(envelope.payload)
  const decoded = { text: envelope.payload, body, hash: hashText(body) }
  decodedEnvelopes.set(envelope, decoded)
  return decoded
}

export function peekDocument<N extends string, P>(
  kind: Kind<N, P>,
  candidate: unknown,
): UnverifiedDocument<Kind<N, P>> {
  const envelope = envelopeShape(candidate, 'envelope')
  ensure(envelope.payloadType === payloadType(kind.name), 'wrong_type', `expected a ${kind.name} document`)
  const decoded = decode(envelope)
  return { hash: decoded.hash, payload: parsePayload(kind, decoded) }
}

function parsePayload<N extends string, P>(kind: Kind<N, P>, decoded: Decoded): PayloadOf<Kind<N, P>> {
  decoded.json ??= parseStrict(decoded.body)
  const { json } = decoded
  ensure((json as { t?: unknown } | null)?.t === kind.name, 'wrong_type', `expected a ${kind.name} document`)
  if (decoded.kind !== kind.name) kind.shape(json, kind.name)
  decoded.kind = kind.name
  return json as PayloadOf<Kind<N, P>>
}

/** The name of a document, whatever it is; needs no key. */
export const documentHash = (candidate: unknown): string => decode(envelopeShape(candidate, 'envelope')).hash

/** Which kind a document claims to be; attacker-controlled. */
export function claimedKind(candidate: unknown): string {
  const type = envelopeShape(candidate, 'envelope').payloadType
  const name = /^application\/vnd\.vault\.v3\.([a-z.-]{1,40})\+json$/.exec(type)?.[1]
  ensure(name, 'wrong_type', 'not a document of this protocol')
  return name
}

export type KeyOf = (kid: string) => Awaitable<CheckedKey | undefined>

/**
 * Section 2.3, in this order: type, key by hint, signature, strict parse, `t`, organisation, signers.
 * Signatures by unknown keys are ignored; a bad one by a known key refuses the document.
 */
export async function verifyDocument<N extends string, P>(
  kind: Kind<N, P>,
  candidate: unknown,
  org: string,
  keyOf: KeyOf,
): Promise<VerifiedDocument<Kind<N, P>>> {
  const envelope = envelopeShape(candidate, 'envelope')
  ensure(envelope.payloadType === payloadType(kind.name), 'wrong_type', `expected a ${kind.name} document`)
  const decoded = decode(envelope)
  const message = pae(envelope.payloadType, decoded.body)
  const signers = new Set<string>()
  for (const { keyid, sig } of envelope.signatures) {
    const key = await keyOf(keyid)
    if (!key) continue
    const genuine = await verifyWithKey(key, message, fromBase64(sig))
    ensure(genuine, 'bad_signature', `a signature on a ${kind.name} document does not verify`, { kid: keyid })
    signers.add(keyid)
  }
  ensure(
    signers.size > 0,
    envelope.signatures.length > 0 ? 'unknown_signer' : 'missing_signature',
    `nobody known signed a ${kind.name} document`,
  )
  const payload = parsePayload(kind, decoded)
  ensure(payload.org === org, 'genesis_mismatch', `a ${kind.name} document is of another organisation`, {
    org: payload.org,
  })
  ensure(signers.has(payload.by), 'missing_signature', `a ${kind.name} document lacks the signature of its author`, {
    by: payload.by,
  })
  const document = { kind: kind.name, hash: decoded.hash, payload, signers, envelope }
  return document as unknown as VerifiedDocument<Kind<N, P>>
}
