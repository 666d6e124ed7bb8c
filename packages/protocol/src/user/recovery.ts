import { platform } from '#platform'
import { recoveryEnrol } from '../directory/documents.ts'
import { fromBase64url, toBase64url } from '../encoding/base64.ts'
import { type Bytes, concat, equalBytes } from '../encoding/bytes.ts'
import { lp } from '../encoding/lp.ts'
import { bytesText, integer, literal } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import {
  defineKind,
  documentHash,
  type Envelope,
  makeDocument,
  type PayloadOf,
  type VerifiedDocument,
} from '../identity/document.ts'
import { kidText, parseKid, principalOf } from '../identity/identifiers.ts'
import type { CheckedKey } from '../identity/key-bundle.ts'
import type { Recipient, Signer } from '../identity/private-keys.ts'
import { deriveKey } from '../values/dek.ts'
import { hybridOpen, hybridSeal } from '../wraps/hybrid.ts'
import { codeBytes, type RecoveryCode } from './codes.ts'
import {
  BUNDLE_KEY_BYTES,
  type BundleKey,
  type BundleVersion,
  brandBundleKey,
  bundleKeyBytes,
  type UnlockKey,
} from './private-bundle.ts'

// Section 8: two ways back to the private keys. A code in the user's drawer, and, only if the user signs for it, the organisation.

export type RecoveryCodeKey = BundleKey<'recovery'>

/** HKDF-SHA-256(code, "vault.v3", LP("vault.v3/recovery", org, orgUserId, bundleVersion), 32): seals a further copy of the bundle. */
export function deriveRecoveryCodeKey(code: RecoveryCode, of: BundleVersion): RecoveryCodeKey {
  const info = lp('vault.v3/recovery', of.org, of.orgUserId, of.bundleVersion)
  return brandBundleKey('recovery', of, deriveKey(codeBytes(code), info, BUNDLE_KEY_BYTES))
}

const PAYLOAD_BYTES = 1 + BUNDLE_KEY_BYTES + 32

/** The unlock key, sealed to the organisation's recovery key like a vault key is wrapped (3.2, 3.4), signed by the user. */
export const recoverySeal = defineKind(
  'recovery-seal',
  {
    bundleVersion: integer(1),
    to: kidText,
    alg: literal('RSA-OAEP-256', 'RSA-OAEP-256+ML-KEM-768'),
    ct: bytesText(256, 512),
  },
  { ct2: bytesText(1088, 1088), box: bytesText(PAYLOAD_BYTES + 16, PAYLOAD_BYTES + 16) },
)
export type RecoverySealPayload = PayloadOf<typeof recoverySeal>

type SealContext = Pick<RecoverySealPayload, 'org' | 'bundleVersion' | 'to' | 'by'>

/** Inside the encryption, so that a seal cannot be signed anew by somebody else or forwarded (3.2). */
const contextOf = ({ org, bundleVersion, to, by }: SealContext): Bytes =>
  lp('vault.v3/recovery-seal', org, principalOf(by), bundleVersion, to, by)

/** A key and the caps that signed documents of the directory prove for it (4.3). */
export interface ResolvedKey {
  readonly key: CheckedKey
  readonly caps: ReadonlySet<string>
}

export interface RecoveryConsent {
  /** Goes to the server beside the bundle; only the recovery key opens it. */
  readonly seal: Envelope
  /** Goes into the log: the user's consent, for everybody to see. */
  readonly enrol: Envelope
}

/** Opt-in of the user, and of nobody else: no setting of the server leads here (the auto-enrolment class, row 19). */
export async function sealForRecovery(
  key: UnlockKey,
  recovery: ResolvedKey,
  by: Signer,
  at: number,
): Promise<RecoveryConsent> {
  const to = recovery.key
  ensure(recovery.caps.has('recovery'), 'not_authorised', 'the directory does not know this key as a recovery key', {
    kid: to.kid,
  })
  ensure(by.key.principal === `user:${key.orgUserId}`, 'not_authorised', 'only the user may enrol in recovery', {
    by: by.kid,
  })
  const { org, bundleVersion } = key
  const context = contextOf({ org, bundleVersion, to: to.kid, by: by.kid })
  const payload = concat(Uint8Array.of(1), bundleKeyBytes(key), platform.sha256(context))
  const sealed = await sealTo(to, payload, context)
  const seal = await makeDocument(recoverySeal, { org, at, bundleVersion, to: to.kid, ...sealed }, [by])
  const enrol = await makeDocument(recoveryEnrol, { org, at, recoveryKid: to.kid, sealHash: documentHash(seal) }, [by])
  return { seal, enrol }
}

async function sealTo(
  to: CheckedKey,
  payload: Bytes,
  context: Bytes,
): Promise<Pick<RecoverySealPayload, 'alg' | 'ct' | 'ct2' | 'box'>> {
  if (to.kem) return { alg: 'RSA-OAEP-256+ML-KEM-768', ...(await hybridSeal(to, to.kem, payload, context)) }
  return { alg: 'RSA-OAEP-256', ct: toBase64url(await platform.rsaOaepEncrypt(to.encSpki, payload)) }
}

declare const verifiedSeal: unique symbol
/** A seal that its user signed and enrolled. Only such a one is ever given to the recovery key's private half. */
export interface VerifiedRecoverySeal {
  readonly [verifiedSeal]: true
  readonly payload: RecoverySealPayload
}

/** The seal must be the one that the logged, signed enrolment names; both must come from the same key of one user. */
export function verifyRecoverySeal(
  seal: VerifiedDocument<typeof recoverySeal>,
  enrol: VerifiedDocument<typeof recoveryEnrol>,
): VerifiedRecoverySeal {
  const { payload } = seal
  ensure(enrol.payload.sealHash === seal.hash, 'stale_wrapped_dek', 'a recovery seal is not the one the user enrolled')
  ensure(enrol.payload.org === payload.org, 'wrap_context', 'a recovery seal is of another organisation')
  ensure(enrol.payload.by === payload.by, 'wrap_context', 'a recovery seal is by somebody else than its enrolment')
  ensure(
    enrol.payload.recoveryKid === payload.to,
    'wrap_context',
    'a recovery seal is for another key than its enrolment',
  )
  ensure(parseKid(payload.by).type === 'user', 'not_authorised', 'only users enrol in recovery')
  return { payload } as VerifiedRecoverySeal
}

/** The user's unlock key, with the recovery key. What follows is `key.recover`, which everybody sees (4.1). */
export async function openRecoverySeal({ payload }: VerifiedRecoverySeal, recipient: Recipient): Promise<UnlockKey> {
  const { org, by, to, bundleVersion } = payload
  ensure(to === recipient.kid, 'wrap_context', 'a recovery seal is for another recipient', { to })
  checkAlgorithm(payload, recipient.key)
  const context = contextOf(payload)
  const opened = await openWith(recipient, payload, context)
  ensure(opened?.length === PAYLOAD_BYTES && opened[0] === 1, 'wrap_context', 'a recovery seal does not open')
  const inner = opened.subarray(1 + BUNDLE_KEY_BYTES)
  ensure(equalBytes(inner, platform.sha256(context)), 'wrap_context', 'a recovery seal was made for another context', {
    by,
  })
  const orgUserId = principalOf(by).slice('user:'.length)
  return brandBundleKey('unlock', { org, orgUserId, bundleVersion }, opened.slice(1, 1 + BUNDLE_KEY_BYTES))
}

/** As for wraps: the algorithm follows from the recipient's key, never from the message. */
function checkAlgorithm({ alg, ct2, box }: RecoverySealPayload, to: CheckedKey): void {
  const expected = to.kem ? 'RSA-OAEP-256+ML-KEM-768' : 'RSA-OAEP-256'
  ensure(alg === expected, 'alg_downgrade', 'a recovery seal uses another algorithm than its recipient’s key')
  const isComplete = (ct2 !== undefined) === (to.kem !== null) && (box !== undefined) === (to.kem !== null)
  ensure(isComplete, 'malformed', 'a recovery seal has members of another algorithm')
}

async function openWith(
  recipient: Recipient,
  { ct, ct2, box }: RecoverySealPayload,
  context: Bytes,
): Promise<Bytes | undefined> {
  if (ct2 === undefined || box === undefined) return recipient.rsaDecrypt(fromBase64url(ct))
  return hybridOpen(recipient, { ct, ct2, box }, context)
}
