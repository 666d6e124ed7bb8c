import { platform } from '#platform'
import { fromBase64, toBase64 } from '../encoding/base64.ts'
import { type Bytes, concat, equalBytes, toHex, utf8 } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'
import { encodeEd25519Spki } from '../identity/der.ts'
import type { Awaitable } from '../platform/platform.ts'

// Section 5.3: C2SP signed notes. The text is attacker-controlled until a known key's signature on it was verified.

const MAX_NOTE_BYTES = 65_536
const MAX_SIGNATURES = 100
const MAX_NAME_LENGTH = 256
const KEY_ID_BYTES = 4
const ED25519_KEY_BYTES = 32
const ED25519_SIGNATURE_BYTES = 64

/** The two C2SP signature types of this protocol: an Ed25519 signature, and one with a time, as witnesses give it. */
export const NOTE_SIGNATURE = 0x01
export const NOTE_COSIGNATURE = 0x04
export type NoteKeyType = typeof NOTE_SIGNATURE | typeof NOTE_COSIGNATURE

/** A public key under the name and the type it signs notes with. */
export interface VerifierKey {
  readonly name: string
  readonly type: NoteKeyType
  readonly publicKey: Bytes
  /** The same key as the platform takes it. */
  readonly spki: Bytes
  readonly keyId: Bytes
  /** `name+hash+base64(type ‖ key)`. */
  readonly vkey: string
}

/** Whether a text has an ASCII control character other than those of `allowed`. */
export function hasControlCharacter(text: string, allowed: string): boolean {
  for (const char of text) if ((char < ' ' || char === '\u007f') && !allowed.includes(char)) return true
  return false
}

// U+0085 is a space for Go and not for JavaScript; both must see the same names.
const SPACE_OR_PLUS = /[\s\u0085+]/

/** C2SP: not empty, no Unicode spaces, no plus. */
export function checkNoteName(name: string): void {
  ensure(name.length > 0 && name.length <= MAX_NAME_LENGTH, 'malformed', 'the name of a note key is empty or too long')
  ensure(!SPACE_OR_PLUS.test(name), 'malformed', 'the name of a note key has a space or a plus')
  ensure(name.isWellFormed() && !hasControlCharacter(name, ''), 'malformed', 'the name of a note key is not plain text')
}

/** Names a 32-byte Ed25519 public key as a note key. */
export function makeVerifierKey(name: string, type: NoteKeyType, publicKey: Uint8Array): VerifierKey {
  checkNoteName(name)
  ensure(publicKey.length === ED25519_KEY_BYTES, 'malformed', 'a note key is not 32 bytes long')
  const typed = concat(Uint8Array.of(type), publicKey)
  const keyId = platform.sha256(concat(utf8(`${name}\n`), typed)).slice(0, KEY_ID_BYTES)
  const vkey = `${name}+${toHex(keyId)}+${toBase64(typed)}`
  return { name, type, publicKey: typed.slice(1), spki: encodeEd25519Spki(publicKey), keyId, vkey }
}

// The few pinned keys are asked for with every read; what a text means never changes.
const PARSED_SIZE = 256
const parsedKeys = new Map<string, VerifierKey>()

/** Strict: the key id must be that of the key, and the text the only one for it. Other algorithms are refused. */
export function parseVkey(vkey: string): VerifierKey {
  const known = parsedKeys.get(vkey)
  if (known) return known
  const key = readVkey(vkey)
  if (parsedKeys.size >= PARSED_SIZE) parsedKeys.clear()
  parsedKeys.set(vkey, key)
  return key
}

function readVkey(vkey: string): VerifierKey {
  const [, name, encoded] = /^([^+]+)\+[0-9a-f]{8}\+([A-Za-z0-9+/]{44})$/.exec(vkey) ?? []
  ensure(name !== undefined && encoded !== undefined, 'malformed', 'not a verifier key of the form name+hash+key')
  const typed = fromBase64(encoded)
  const type = typed[0]
  ensure(
    type === NOTE_SIGNATURE || type === NOTE_COSIGNATURE,
    'alg_downgrade',
    'a verifier key is of a type this protocol does not use',
  )
  const key = makeVerifierKey(name, type, typed.subarray(1))
  ensure(key.vkey === vkey, 'malformed', 'a verifier key does not have the key id of its key', { name })
  return key
}

export interface NoteSignature {
  readonly name: string
  readonly keyId: Bytes
  /** What follows the key id: 64 bytes, or 8 bytes of time before them. */
  readonly signature: Bytes
}

/** A note in its parts, strictly parsed and not verified. */
export interface Note {
  /** Ends in a newline; exactly what is signed. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

export function parseNote(note: string): Note {
  ensure(
    note.length <= MAX_NOTE_BYTES && utf8(note).length <= MAX_NOTE_BYTES,
    'limit_exceeded',
    'a note is larger than 64 KiB',
  )
  ensure(note.isWellFormed(), 'malformed', 'a note is not well-formed Unicode')
  ensure(!hasControlCharacter(note, '\n'), 'malformed', 'a note has a control character')
  // The last blank line, because the text may have blank lines of its own.
  const border = note.lastIndexOf('\n\n')
  ensure(border > 0 && note.endsWith('\n'), 'malformed', 'a note has no text or no signatures')
  const lines = note.slice(border + 2, -1).split('\n')
  ensure(lines.length <= MAX_SIGNATURES, 'limit_exceeded', 'a note has more than 100 signatures')
  return { text: note.slice(0, border + 1), signatures: lines.map(parseSignatureLine) }
}

function parseSignatureLine(line: string): NoteSignature {
  const [, name, encoded] = /^\u2014 ([^ ]+) ([A-Za-z0-9+/=]+)$/.exec(line) ?? []
  ensure(name !== undefined && encoded !== undefined, 'malformed', 'a signature line is not of the form — name base64')
  checkNoteName(name)
  const bytes = fromBase64(encoded)
  ensure(bytes.length > KEY_ID_BYTES, 'malformed', 'a signature line has no signature')
  return { name, keyId: bytes.slice(0, KEY_ID_BYTES), signature: bytes.slice(KEY_ID_BYTES) }
}

const signatureLine = ({ name, keyId, signature }: NoteSignature): string =>
  `\u2014 ${name} ${toBase64(concat(keyId, signature))}\n`

export const serialiseNote = ({ text, signatures }: Note): string =>
  `${text}\n${signatures.map(signatureLine).join('')}`

/** Adds signatures to a note; one by the same name and key takes the place of the older one. */
export function addNoteSignatures(note: string, added: readonly NoteSignature[]): string {
  const { text, signatures } = parseNote(note)
  const isReplaced = (old: NoteSignature): boolean =>
    added.some((one) => one.name === old.name && equalBytes(one.keyId, old.keyId))
  const serialised = serialiseNote({ text, signatures: [...signatures.filter((old) => !isReplaced(old)), ...added] })
  parseNote(serialised)
  return serialised
}

/** Whoever can sign with an Ed25519 key, in this process or in a key management service. */
export interface NoteSigner {
  /** 32 bytes. */
  readonly publicKey: Uint8Array
  sign(message: Uint8Array): Awaitable<Uint8Array>
}

/** A note with one signature. The text must end in a newline. */
export async function signNote(text: string, name: string, signer: NoteSigner): Promise<string> {
  const { keyId } = makeVerifierKey(name, NOTE_SIGNATURE, signer.publicKey)
  const signature = new Uint8Array(await signer.sign(utf8(text)))
  const note = serialiseNote({ text, signatures: [{ name, keyId, signature }] })
  ensure(parseNote(note).text === text, 'malformed', 'the text of a note must end in one newline')
  return note
}

/** How one known key is tried on a note. */
export interface NoteVerifier {
  readonly key: VerifierKey
  verify(text: string, signature: Bytes): Awaitable<boolean>
}

export const verifyEd25519 = (key: VerifierKey, message: Uint8Array, signature: Uint8Array): Awaitable<boolean> =>
  signature.length === ED25519_SIGNATURE_BYTES && platform.ed25519Verify(key.spki, message, signature)

export const ed25519Verifier = (key: VerifierKey): NoteVerifier => ({
  key,
  verify: (text, signature) => verifyEd25519(key, utf8(text), signature),
})

/**
 * The signatures of a note by known keys, all verified. Unknown ones are ignored, also if they share the name or the key id,
 * but not both, with a known key; a bad one by a known key refuses the note. There may be none: the caller asks for its own.
 */
export async function verifySignatures(
  { text, signatures }: Note,
  verifiers: readonly NoteVerifier[],
): Promise<readonly { readonly key: VerifierKey; readonly signature: Bytes }[]> {
  const verified = []
  for (const { name, keyId, signature } of signatures) {
    const verifier = verifiers.find(({ key }) => key.name === name && equalBytes(key.keyId, keyId))
    if (!verifier) continue
    ensure(await verifier.verify(text, signature), 'bad_signature', 'a signature on a note does not verify', { name })
    verified.push({ key: verifier.key, signature })
  }
  return verified
}

declare const verifiedNote: unique symbol
/** A note that at least one known key signed. Only `verifyNote` makes one. */
export interface VerifiedNote extends Note {
  readonly [verifiedNote]: true
  readonly signers: readonly VerifierKey[]
}

/** Refuses a note with `unknown_signer` if none of `keys` signed it. */
export async function verifyNote(note: string, keys: readonly VerifierKey[]): Promise<VerifiedNote> {
  const parsed = parseNote(note)
  const signers = (await verifySignatures(parsed, keys.map(ed25519Verifier))).map(({ key }) => key)
  ensure(signers.length > 0, 'unknown_signer', 'nobody known signed a note')
  return { ...parsed, signers } as unknown as VerifiedNote
}
