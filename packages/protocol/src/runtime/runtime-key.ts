import { isPrivileged } from '../directory/caps.ts'
import { type Cap, keyAdd, keyRotate, MAX_BATCH, type Replacement, replacementKey } from '../directory/documents.ts'
import { fromBase64 } from '../encoding/base64.ts'
import { compareText } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'
import {
  addSignatures,
  documentHash,
  draftDocument,
  type Envelope,
  makeDocument,
  messageOf,
  peekDocument,
} from '../identity/document.ts'
import { checkKey, verifyWithKey } from '../identity/key-bundle.ts'
import type { Identity, Signer } from '../identity/private-keys.ts'
import type { Dek } from '../values/dek.ts'
import { wrapDek } from '../wraps/wrapped-key.ts'

// Section 11: registering and rotating the key of a running agent. Possession is proven by a signature, never by decrypting
// something the server chose.

/** An admin who has the new key at hand endorses it at once. */
export function registerKey(
  input: { org: string; caps: readonly Cap[]; at: number },
  endorser: Signer,
  identity: Signer,
): Promise<Envelope> {
  return makeDocument(keyAdd, { ...input, kid: identity.kid, key: identity.key.bundle }, [endorser, identity])
}

/** The agent's half of a registration: names the endorser, carries only the new key's signature, and waits. */
export function requestEndorsement(
  input: { org: string; caps: readonly Cap[]; at: number; endorser: string },
  identity: Signer,
): Promise<Envelope> {
  const { endorser, ...members } = input
  return addSignatures(
    draftDocument(keyAdd, { ...members, by: endorser, kid: identity.kid, key: identity.key.bundle }),
    [identity],
  )
}

declare const pending: unique symbol
/** A registration whose new key has proven itself; it counts once the endorser named in it has signed too. */
export interface PendingKey {
  readonly [pending]: true
  readonly envelope: Envelope
  readonly kid: string
  readonly endorser: string
}

export async function verifyPendingKey(org: string, candidate: unknown): Promise<PendingKey> {
  const { payload } = peekDocument(keyAdd, candidate)
  const envelope = candidate as Envelope
  const key = checkKey(payload.kid, payload.key)
  ensure(payload.org === org, 'genesis_mismatch', 'a registration is for another organisation', { org: payload.org })
  const own = envelope.signatures.find((signature) => signature.keyid === key.kid)
  ensure(own, 'missing_signature', 'a key did not sign its own registration', { kid: key.kid })
  const genuine = await verifyWithKey(key, messageOf(envelope), fromBase64(own.sig))
  ensure(genuine, 'bad_signature', 'the signature of a new key does not verify', { kid: key.kid })
  // Whoever endorses compares a fingerprint, which does not say what else is asked for: more than its own part is given by caps.set.
  ensure(!isPrivileged(payload), 'not_authorised', 'a key that registers itself asks for more than its own part', {
    kid: key.kid,
  })
  // Other signatures are dropped: they could crowd out the one that is still to come.
  return { envelope: { ...envelope, signatures: [own] }, kid: key.kid, endorser: payload.by } as unknown as PendingKey
}

/** Only the endorser the agent named can complete it: the agent signed for that name. */
export async function endorseKey(waiting: PendingKey, endorser: Signer): Promise<Envelope> {
  ensure(endorser.kid === waiting.endorser, 'not_authorised', 'a registration names another endorser', {
    endorser: waiting.endorser,
  })
  return addSignatures(waiting.envelope, [endorser])
}

export interface Rotation {
  readonly event: Envelope
  /** One wrap for each live grant, by the old key for the new one. */
  readonly replacements: readonly Envelope[]
}

/** Rotates to a new key. `held` are the vault keys of every live grant: the log refuses a batch that is not complete. */
export async function rotateKey(
  input: { org: string; at: number; held: readonly Dek[] },
  old: Identity,
  next: Identity,
): Promise<Rotation> {
  const { org, at, held } = input
  ensure(old.key.principal === next.key.principal, 'key_substitution', 'a rotation keeps the principal', {
    kid: next.kid,
  })
  ensure(held.length <= MAX_BATCH, 'limit_exceeded', `a rotation replaces at most ${MAX_BATCH} grants`)
  const replacements = await Promise.all(held.map((dek) => wrapDek(dek, next.key, old, at)))
  const batch: Replacement[] = held.map((dek, i) => ({
    vaultId: dek.vaultId,
    dekVersion: dek.dekVersion,
    wrapHash: documentHash(replacements[i] as Envelope),
  }))
  batch.sort((a, b) => compareText(replacementKey(a), replacementKey(b)))
  const event = await makeDocument(
    keyRotate,
    { org, at, oldKid: old.kid, kid: next.kid, key: next.key.bundle, batch },
    [old, next],
  )
  return { event, replacements }
}
