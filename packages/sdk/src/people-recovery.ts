import {
  addSignatures,
  type Envelope,
  envelopeShape,
  type LogPin,
  logPinOf,
  logRecover,
  makeDocument,
  orgTrustOf,
  ProtocolError,
  parseTrustAnchor,
  peekDocument,
  toBase64url,
  verifyCheckpoint,
  verifyTransparency,
} from '@strongroom/protocol'
import type { TrustKeeper } from './engine/trust.ts'
import { randomText } from './passphrase.ts'
import type { SigningPerson } from './people.ts'

// After a restore (docs/reference/protocol.md 9.4): the directory admins state that the log goes on from what the backup kept. One makes the
// statement, others add their signatures wherever they are, and whoever made it sends it when there are enough.

/** A restored log that waits for its statement. */
export interface RestoredLog {
  readonly keptSize: number
  readonly keptRoot: string
  /** So many directory admins have to sign. */
  readonly recoverQuorum: number
  readonly restoredAt: string
}

/** The log as the server has it, under the signature of the pinned log key. Null if it does not wait for a statement. */
export async function restoredLog(admin: SigningPerson): Promise<RestoredLog | null> {
  const { restored } = await admin.client.transparency.recovery()
  if (!restored) return null
  const { origin, logVkeys } = parseTrustAnchor(admin.trustAnchor)
  const { checkpoint } = await admin.client.transparency.checkpoint()
  const { size, root } = await verifyCheckpoint(checkpoint, { origin, logKeys: logVkeys })
  const { keptSize, keptRoot, recoverQuorum, at } = restored
  if (size !== keptSize || toBase64url(root) !== keptRoot)
    throw new ProtocolError('log_fork', 'the log that is said to be kept is not the one that is signed', { keptSize })
  return { keptSize, keptRoot, recoverQuorum, restoredAt: at }
}

export interface RecoveryTerms {
  /** For people, and for ever in the log. */
  readonly reason: string
  /** What this admin remembers. The largest log it has seen is what the statement gives up; a log that it contradicts is refused. */
  readonly trust?: TrustKeeper
  /** The largest log known to have been served, where that is known better. */
  readonly lost?: { readonly size: number; readonly root?: string }
}

const DAY_MS = 86_400_000

async function seenBy({ orgId }: SigningPerson, trust: TrustKeeper | undefined): Promise<LogPin | undefined> {
  return trust && logPinOf(orgId, orgTrustOf(await trust.read(), orgId))
}

/** What an admin has seen and the backup kept must be one log: otherwise it is not this organisation's backup. */
async function ensureKept({ client }: SigningPerson, pin: LogPin | undefined, keptSize: number): Promise<void> {
  if (!pin?.seen || pin.seen.size > keptSize) return
  const state = await client.transparency.state({ query: { name: 'policy', have: pin.seen.size } })
  await verifyTransparency(state, pin, { now: Date.now(), maxStaleMs: DAY_MS })
}

function lossOf({ keptSize }: RestoredLog, seen: LogPin['seen'] | undefined, given: RecoveryTerms['lost']) {
  if (given) return { size: given.size, root: given.root ?? '' }
  return seen && seen.size > keptSize ? { size: seen.size, root: toBase64url(seen.root) } : { size: keptSize, root: '' }
}

async function waiting(admin: SigningPerson): Promise<RestoredLog> {
  const restored = await restoredLog(admin)
  if (!restored)
    throw new ProtocolError('bad_transition', 'the log was not restored, or its recovery was stated already')
  return restored
}

/** The first admin's step: a statement about the log as it was restored, with one signature. */
export async function makeRecoveryStatement(admin: SigningPerson, terms: RecoveryTerms): Promise<Envelope> {
  const restored = await waiting(admin)
  const { keptSize, keptRoot } = restored
  const pin = await seenBy(admin, terms.trust)
  await ensureKept(admin, pin, keptSize)
  const lost = lossOf(restored, pin?.seen, terms.lost)
  const members = { org: admin.orgId, at: Date.now(), keptSize, keptRoot, lost, reason: terms.reason }
  return makeDocument(logRecover, { ...members, salt: randomText(16) }, [admin.identity])
}

/** Another admin's step: looks at the server itself, and signs only what is true there. */
export async function countersignRecovery(
  admin: SigningPerson,
  statement: unknown,
  { trust }: Pick<RecoveryTerms, 'trust'> = {},
): Promise<Envelope> {
  const { keptSize, keptRoot } = await waiting(admin)
  const { payload } = peekDocument(logRecover, statement)
  if (payload.org !== admin.orgId)
    throw new ProtocolError('genesis_mismatch', 'the statement is of another organisation', { org: payload.org })
  if (payload.keptSize !== keptSize || payload.keptRoot !== keptRoot)
    throw new ProtocolError('log_fork', 'the statement is about another log than the server has', { keptSize })
  await ensureKept(admin, await seenBy(admin, trust), keptSize)
  return addSignatures(envelopeShape(statement, 'statement'), [admin.identity])
}

/** The last step, by the admin who made the statement. From here on the server takes changes again. */
export async function sendRecovery(admin: SigningPerson, statement: Envelope): Promise<{ readonly index: number }> {
  const { payload, payloadType, signatures } = statement
  const event = { payload, payloadType, signatures: [...signatures] }
  const { index } = await admin.client.directory.recoverLog({ body: { event } })
  return { index }
}
