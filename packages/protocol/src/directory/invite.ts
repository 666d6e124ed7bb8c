import { platform } from '#platform'
import { fromBase64, fromBase64url, toBase64, toBase64url } from '../encoding/base64.ts'
import { type Bytes, concat, fromHex } from '../encoding/bytes.ts'
import { canonical, parseStrict } from '../encoding/canonical.ts'
import { lp } from '../encoding/lp.ts'
import { bytesText, hash, record } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import { parseEd25519Spki } from '../identity/der.ts'
import {
  addSignatures,
  documentHash,
  draftDocument,
  type Envelope,
  envelopeShape,
  makeDocument,
  messageOf,
  peekDocument,
  type VerifiedDocument,
} from '../identity/document.ts'
import { id, makeId, type Principal } from '../identity/identifiers.ts'
import { type CheckedKey, checkKey, MIN_RSA_BITS, verifyWithKey } from '../identity/key-bundle.ts'
import type { Signer } from '../identity/private-keys.ts'
import type { Awaitable, PlatformKey } from '../platform/platform.ts'
import { deriveKey } from '../values/dek.ts'
import { checkCaps } from './caps.ts'
import { type Cap, type InvitePayload, invite, type KeyAddPayload, keyAdd } from './documents.ts'

// Section 4.6, after Keybase's Seitan: the link carries a secret past the server, the signed invite carries only the
// public half of the key made from it. Whoever signs with that key got the link; nobody reads fingerprints aloud.

const PREFIX = 'vin1.'
const MAX_LINK_LENGTH = 1024
const SECRET_BYTES = 16
const ED25519_PKCS8: Bytes = fromHex('302e020100300506032b657004220420')

const linkShape = record({ g: hash, h: hash, i: id, o: id, s: bytesText(SECRET_BYTES, SECRET_BYTES) })

declare const inviteLink: unique symbol
/** What an invite link says, over a channel the server does not control. The secret stays outside the object. */
export interface InviteLink {
  readonly [inviteLink]: true
  readonly org: string
  /** Hash of the genesis document: what the invitee pins. */
  readonly genesis: string
  readonly inviteId: string
  readonly inviteHash: string
}
const secrets = new WeakMap<InviteLink, Bytes>()

interface InviteKey {
  readonly key: PlatformKey
  readonly spki: Bytes
}

/** The secret, stretched to the seed of an Ed25519 key that serves this one invite. */
async function deriveInviteKey(secret: Uint8Array, org: string, inviteId: string): Promise<InviteKey> {
  const seed = deriveKey(secret, lp('vault.v3/invite', org, inviteId), 32)
  return platform.importEd25519(concat(ED25519_PKCS8, seed))
}

export interface InviteTerms {
  readonly org: string
  readonly genesis: string
  readonly caps: readonly Cap[]
  /** Milliseconds; the admin's client endorses nobody later. */
  readonly expires: number
  readonly note: string
  readonly at: number
}

export interface MadeInvite {
  readonly envelope: Envelope
  /** Belongs into the fragment of a URL, which browsers do not send to the server. */
  readonly link: string
}

/** A signed promise to endorse whoever holds the link, and the link. */
export async function makeInvite({ genesis, ...terms }: InviteTerms, by: Signer): Promise<MadeInvite> {
  ensure(terms.expires > terms.at, 'malformed', 'an invite expires before it is made')
  const inviteId = makeId('inv')
  const secret = platform.randomBytes(SECRET_BYTES)
  const { spki } = await deriveInviteKey(secret, terms.org, inviteId)
  const envelope = await makeDocument(invite, { ...terms, inviteId, inviteKey: toBase64url(spki) }, [by])
  const members = { g: genesis, h: documentHash(envelope), i: inviteId, o: terms.org, s: toBase64url(secret) }
  return { envelope, link: PREFIX + toBase64url(canonical(linkShape(members, 'link'))) }
}

export function parseInviteLink(text: string): InviteLink {
  ensure(text.length <= MAX_LINK_LENGTH, 'limit_exceeded', 'an invite link is too long')
  ensure(text.startsWith('vin'), 'malformed', 'the secret part of an invite link begins with vin1.')
  ensure(text.startsWith(PREFIX), 'alg_downgrade', 'an invite link has a version this client does not know')
  const { g, h, i, o, s } = linkShape(parseStrict(fromBase64url(text.slice(PREFIX.length))), 'link')
  const link = { org: o, genesis: g, inviteId: i, inviteHash: h } as InviteLink
  secrets.set(link, fromBase64url(s))
  return link
}

const signerNameOf = (inviteId: string): string => `invite:${inviteId}`

/**
 * The invitee's half of `key.add`: signed by the new key and by the invite key, still without the admin.
 * The invite document came from the server; the hash in the link says that it is the admin's, so it needs no signer yet.
 */
export async function acceptInvite(
  link: InviteLink,
  inviteEnvelope: unknown,
  identity: Signer,
  at: number,
): Promise<Envelope> {
  const { hash: inviteHash, payload: promised } = peekDocument(invite, inviteEnvelope)
  ensure(inviteHash === link.inviteHash, 'key_substitution', 'the invite is not the one the link names', {
    inviteId: link.inviteId,
  })
  ensure(promised.org === link.org, 'genesis_mismatch', 'the invite is of another organisation than the link')
  ensure(at <= promised.expires, 'not_authorised', 'the invite has expired: ask for a new one', {
    inviteId: link.inviteId,
  })
  const secret = secrets.get(link)
  ensure(secret, 'malformed', 'this invite link was not parsed by this package')
  const inviteKey = await deriveInviteKey(secret, link.org, link.inviteId)
  const isOurs = toBase64url(inviteKey.spki) === promised.inviteKey
  ensure(isOurs, 'key_substitution', 'the invite was made for another secret', { inviteId: link.inviteId })
  checkCaps(identity.key, promised.caps)
  const { org, caps, by } = promised
  const { kid, key } = identity
  // The author is not here: `by` is the admin who invited, and signs last.
  const draft = draftDocument(keyAdd, { org, caps, by, at, kid, key: key.bundle, invite: inviteHash })
  const signed = await addSignatures(draft, [identity])
  const sig = toBase64(await platform.ed25519Sign(inviteKey.key, messageOf(signed)))
  return { ...signed, signatures: [...signed.signatures, { keyid: signerNameOf(link.inviteId), sig }] }
}

declare const verifiedAcceptance: unique symbol
/** A `key.add` that lacks only the signature of the admin who invited. Only `verifyAcceptance` makes one. */
export interface VerifiedAcceptance {
  readonly [verifiedAcceptance]: true
  readonly payload: KeyAddPayload
  readonly envelope: Envelope
}

export interface AcceptanceToVerify {
  readonly invite: VerifiedDocument<typeof invite>
  /** From the server: attacker-controlled until both signatures were verified. */
  readonly candidate: unknown
  readonly now: number
  /** Is this person in the directory already? The server mints user ids, so it could give an invitee somebody else's. */
  readonly isKnown: (principal: Principal) => Awaitable<boolean>
  /** From the verified policy. */
  readonly minRsaBits?: number
}

/** All that an admin's client must know before it endorses: the invitee holds link and key, and asks for what was promised. */
export async function verifyAcceptance(to: AcceptanceToVerify): Promise<VerifiedAcceptance> {
  const envelope = envelopeShape(to.candidate, 'envelope')
  const { payload } = peekDocument(keyAdd, envelope)
  const key = checkKey(payload.kid, payload.key, to.minRsaBits ?? MIN_RSA_BITS)
  const signatures = await requireSignatures(envelope, key, to.invite.payload)
  checkPromise(payload, to.invite, to.now)
  checkCaps(key, payload.caps)
  const isNew = !(await to.isKnown(key.principal))
  ensure(isNew, 'continuity_broken', 'an invitee appears as somebody who is a member already', { kid: key.kid })
  // Signatures nobody asked for are dropped: they could crowd out the one that is still to come.
  return { payload, envelope: { ...envelope, signatures } } as unknown as VerifiedAcceptance
}

function checkPromise(
  payload: KeyAddPayload,
  { hash, payload: promised }: VerifiedDocument<typeof invite>,
  now: number,
): void {
  const details = { inviteId: promised.inviteId }
  ensure(payload.org === promised.org, 'genesis_mismatch', 'an acceptance is for another organisation', details)
  ensure(payload.invite === hash, 'not_authorised', 'an acceptance is of another invite', details)
  ensure(payload.by === promised.by, 'not_authorised', 'an acceptance names another admin than its invite', details)
  ensure(now <= promised.expires, 'not_authorised', 'the invite has expired: make a new one', details)
  const isAsPromised = payload.caps.join() === promised.caps.join()
  ensure(isAsPromised, 'not_authorised', 'an acceptance asks for other caps than were promised', details)
}

type Signature = Envelope['signatures'][number]

/** Proof of possession by the new key, and of the link by the invite key. */
async function requireSignatures(envelope: Envelope, key: CheckedKey, promised: InvitePayload): Promise<Signature[]> {
  const message = messageOf(envelope)
  const inviteKey = fromBase64url(promised.inviteKey)
  // An admin may have signed for anything, and platforms refuse what is no key in ways of their own.
  parseEd25519Spki(inviteKey)
  return [
    await requireSignature(envelope, key.kid, (signature) => verifyWithKey(key, message, signature)),
    await requireSignature(envelope, signerNameOf(promised.inviteId), (signature) =>
      platform.ed25519Verify(inviteKey, message, signature),
    ),
  ]
}

async function requireSignature(
  { signatures }: Envelope,
  keyid: string,
  verify: (signature: Bytes) => Awaitable<boolean>,
): Promise<Signature> {
  const found = signatures.find((signature) => signature.keyid === keyid)
  ensure(found, 'missing_signature', 'an acceptance lacks a signature of the new key or of the invite key', { keyid })
  ensure(await verify(fromBase64(found.sig)), 'bad_signature', 'a signature on an acceptance does not verify', {
    keyid,
  })
  return found
}

/** Completes the `key.add`; only the admin who invited can, because the invitee signed for that admin. */
export async function endorseAcceptance({ payload, envelope }: VerifiedAcceptance, by: Signer): Promise<Envelope> {
  ensure(by.kid === payload.by, 'not_authorised', 'only the admin who invited can endorse this acceptance', {
    by: payload.by,
  })
  return addSignatures(envelope, [by])
}
