import { fromBase64, toBase64 } from '../encoding/base64.ts'
import { type Bytes, concat, readU32be, u64be, utf8 } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'
import { isHash } from './merkle.ts'
import {
  checkNoteName,
  ed25519Verifier,
  makeVerifierKey,
  NOTE_COSIGNATURE,
  NOTE_SIGNATURE,
  type NoteSignature,
  type NoteSigner,
  type NoteVerifier,
  parseNote,
  parseVkey,
  signNote,
  type VerifierKey,
  verifyEd25519,
  verifySignatures,
} from './note.ts'

// Section 5.3: C2SP tlog-checkpoint and tlog-cosignature.

export interface Checkpoint {
  readonly origin: string
  readonly size: number
  readonly root: Uint8Array
}

// Nothing but these three lines is written or read: no witness vouches for extension lines.
const BODY = /^([^\n]+)\n(0|[1-9][0-9]{0,15})\n([A-Za-z0-9+/]{43}=)\n$/

const bodyOf = ({ origin, size, root }: Checkpoint): string => `${origin}\n${size}\n${toBase64(root)}\n`

function parseBody(text: string): Checkpoint {
  const [, origin, digits, encoded] = BODY.exec(text) ?? []
  ensure(
    origin !== undefined && encoded !== undefined,
    'malformed',
    'a checkpoint is not exactly origin, size and root',
  )
  const size = Number(digits)
  ensure(Number.isSafeInteger(size), 'limit_exceeded', 'a log is larger than 2^53-1')
  return { origin, size, root: fromBase64(encoded) }
}

/** The claim of a checkpoint, strictly parsed and attacker-controlled: for those who look for the key to verify with. */
export const peekCheckpoint = (note: string): Checkpoint => parseBody(parseNote(note).text)

/** Signs a checkpoint under the name of its origin: one log key may serve many logs, and each has another key id. */
export async function makeCheckpoint(checkpoint: Checkpoint, signer: NoteSigner): Promise<string> {
  checkNoteName(checkpoint.origin)
  ensure(isHash(checkpoint.root), 'malformed', 'a root is not 32 bytes long')
  ensure(Number.isSafeInteger(checkpoint.size) && checkpoint.size >= 0, 'malformed', 'a size is not a count of leaves')
  return signNote(bodyOf(checkpoint), checkpoint.origin, signer)
}

/** A witness or an auditor saw this checkpoint, at this time, as the newest of its log. */
export interface Cosignature {
  readonly key: VerifierKey
  /** In seconds, as C2SP counts. */
  readonly timestamp: number
}

declare const verified: unique symbol
/** A checkpoint that a pinned log key signed. Only `verifyCheckpoint` makes one. */
export interface VerifiedCheckpoint extends Checkpoint {
  readonly [verified]: true
  readonly note: string
  /** The pinned keys that signed. */
  readonly logKeys: readonly VerifierKey[]
  /** By the witnesses of the given policy; whether they suffice is the question of `evaluateQuorum`. */
  readonly cosignatures: readonly Cosignature[]
}

export interface CheckpointTrust {
  readonly origin: string
  /** Pinned verifier keys; several while the log changes its key. */
  readonly logKeys: readonly string[]
  /** A witness policy; cosignatures by others than its witnesses are ignored. */
  readonly cosigners?: { readonly witnesses: readonly { readonly key: VerifierKey }[] }
}

/**
 * Refuses with `log_key` a checkpoint of another origin or without the signature of a pinned log key, and with
 * `bad_signature` one with a bad signature by a pinned log key or a known witness.
 */
export async function verifyCheckpoint(note: string, trust: CheckpointTrust): Promise<VerifiedCheckpoint> {
  const { origin, cosigners } = trust
  const logKeys = trust.logKeys.map(parseVkey)
  const witnessKeys = cosigners?.witnesses.map(({ key }) => key) ?? []
  ensure(
    logKeys.every((key) => key.name === origin && key.type === NOTE_SIGNATURE),
    'log_key',
    'a pinned key is not a key of this log',
  )
  const parsed = parseNote(note)
  const checkpoint = parseBody(parsed.text)
  ensure(checkpoint.origin === origin, 'log_key', 'a checkpoint is of another log', { origin: checkpoint.origin })
  const verifiers = [...logKeys.map(ed25519Verifier), ...witnessKeys.map(cosignatureVerifier)]
  const signatures = await verifySignatures(parsed, verifiers)
  const signers = signatures.map(({ key }) => key).filter((key) => logKeys.includes(key))
  ensure(signers.length > 0, 'log_key', 'no pinned log key signed a checkpoint', { origin })
  const cosignatures = signatures
    .filter(({ key }) => !logKeys.includes(key))
    .map(({ key, signature }) => ({ key, timestamp: splitCosignature(signature).timestamp }))
  return { ...checkpoint, note, logKeys: signers, cosignatures } as unknown as VerifiedCheckpoint
}

const cosignedMessage = (timestamp: number, text: string): Bytes => utf8(`cosignature/v1\ntime ${timestamp}\n${text}`)

const TIMESTAMP_BYTES = 8

function splitCosignature(bytes: Bytes): { timestamp: number; signature: Bytes } {
  ensure(bytes.length > TIMESTAMP_BYTES, 'bad_signature', 'a cosignature is too short')
  const timestamp = readU32be(bytes, 0) * 0x1_0000_0000 + readU32be(bytes, 4)
  ensure(Number.isSafeInteger(timestamp * 1000), 'bad_signature', 'the time of a cosignature is out of range')
  return { timestamp, signature: bytes.subarray(TIMESTAMP_BYTES) }
}

const cosignatureVerifier = (key: VerifierKey): NoteVerifier => ({
  key,
  verify: (text, blob) => {
    const { timestamp, signature } = splitCosignature(blob)
    return verifyEd25519(key, cosignedMessage(timestamp, text), signature)
  },
})

/**
 * What a witness says of a checkpoint it has verified, and found consistent with all it saw before, at `timestamp` (seconds).
 * The signature goes into the note with `addNoteSignatures`.
 */
export async function cosign(
  checkpoint: VerifiedCheckpoint,
  name: string,
  signer: NoteSigner,
  timestamp: number,
): Promise<NoteSignature> {
  const { keyId } = makeVerifierKey(name, NOTE_COSIGNATURE, signer.publicKey)
  const signature = await signer.sign(cosignedMessage(timestamp, parseNote(checkpoint.note).text))
  return { name, keyId, signature: concat(u64be(timestamp), signature) }
}
