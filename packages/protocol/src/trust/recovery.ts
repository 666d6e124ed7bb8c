import { type LogRecoverPayload, logRecover } from '../directory/documents.ts'
import { type DirectoryResponse, type VerifiedDirectory, verifyDirectory } from '../directory/resolve.ts'
import { isSound } from '../directory/taint.ts'
import { fromBase64, fromBase64url, toBase64url } from '../encoding/base64.ts'
import { equalBytes } from '../encoding/bytes.ts'
import { list, type Of, record, type Shape, text } from '../encoding/shape.ts'
import { ensure } from '../errors.ts'
import { envelopeShape, peekDocument, verifyDocument } from '../identity/document.ts'
import { principalOf } from '../identity/identifiers.ts'
import { documentsOf, parseLeaf } from '../log/leaf.ts'
import { decodeProof, leafHash, proofShape, verifyInclusion } from '../log/merkle.ts'
import { type KidState, POLICY_NAME, policyState, type Recoveries } from '../log/state.ts'
import { type Freshness, type LogPin, stateOf, type VerifiedView, verifyTransparency } from '../log/transparency.ts'
import { cutTrust } from './cut.ts'
import { ensureCameOnce, ensureStillEnded, goesOn, hasSeenCaps, type Notice, type Remembered } from './remember.ts'
import {
  type Alarm,
  logPinOf,
  type OrgTrust,
  orgTrustOf,
  recordAlarm,
  type SignerPin,
  type TrustStore,
} from './store.ts'

// Section 9.4: a log that is shorter or another one than was seen goes on for this client only with a statement by the quorum of
// directory admins, proven to be the first leaf after what was kept. The statement is judged with the memory of this client: keys
// it has seen ended, and keys whose caps it has seen change in the part that is gone, do not count.

const MAX_ENVELOPES = 10_000
const envelopes = list(envelopeShape, MAX_ENVELOPES)
const untouched: Shape<unknown> = (value) => value

export const recoveryAnswerShape = record({
  statement: envelopeShape,
  inclusion: record({ leaf: text(undefined, 87_384), hashes: proofShape }),
  genesis: envelopeShape,
  policies: envelopes,
  records: envelopes,
  capSets: envelopes,
  transparency: untouched,
})
export type RecoveryAnswer = Of<typeof recoveryAnswerShape>

declare const verifiedRecovery: unique symbol
/** A recovery this client may go on with. Only `verifyRecovery` makes one. */
export interface VerifiedRecovery {
  readonly [verifiedRecovery]: true
  readonly org: string
  readonly docHash: string
  readonly payload: LogRecoverPayload
  readonly view: VerifiedView
  /** What the client had seen, and gives up as far as it is not kept. */
  readonly before: NonNullable<LogPin['seen']>
  /** Every recovery of the log as it is now. */
  readonly recoveries: Recoveries
  /** The leaves of its policies. */
  readonly policyIndexes: readonly number[]
}

export async function verifyRecovery(
  candidate: unknown,
  org: string,
  pins: OrgTrust,
  freshness: Freshness,
): Promise<VerifiedRecovery> {
  const answer = recoveryAnswerShape(candidate, 'recovery')
  const { hash: docHash, payload: claimed } = peekDocument(logRecover, answer.statement)
  const { keptSize, keptRoot } = claimed
  const { seen: before } = logPinOf(org, pins)
  ensure(before && keptSize < before.size, 'log_fork', 'a recovery gives up nothing that was seen', { size: keptSize })
  const isNew = !pins.recoveries?.some((known) => known.docHash === docHash)
  ensure(isNew, 'log_rollback', 'a recovery that was accepted before is offered again', { docHash })
  // From here on everything is held against the pins as they will be.
  const kept = cutTrust(pins, keptSize)
  const pin = { ...logPinOf(org, kept), seen: { size: keptSize, root: fromBase64url(keptRoot) } }
  const view = await verifyTransparency(answer.transparency, pin, freshness)
  ensureFirstLeaf(view, answer.inclusion, { keptSize, docHash })
  const { recoveries, policyIndexes } = listsIn(view, kept, { index: keptSize, docHash })
  const directory = await verifyDirectory(view, answer satisfies DirectoryResponse, pins.genesis)
  const { payload, signers } = await verifyDocument(logRecover, answer.statement, org, directory.keyOf)
  await ensureAdmins(directory, kept, signers, keptSize)
  ensureSameLoss(payload, before)
  return { org, docHash, payload, view, before, recoveries, policyIndexes } as unknown as VerifiedRecovery
}

/** The statement itself is leaf `keptSize`: nothing was written to the restored log before it. */
function ensureFirstLeaf(
  { checkpoint: { size, root } }: VerifiedView,
  inclusion: RecoveryAnswer['inclusion'],
  { keptSize: index, docHash }: { readonly keptSize: number; readonly docHash: string },
): void {
  const leaf = fromBase64(inclusion.leaf)
  verifyInclusion({ leafHash: leafHash(leaf), index, size, root, proof: decodeProof(inclusion.hashes) })
  const parsed = parseLeaf(leaf)
  const named = 'list' in parsed.documents ? documentsOf(parsed) : []
  const isStatement = parsed.t === 'log.recover' && named.length === 1 && named[0] === docHash
  ensure(isStatement, 'bad_inclusion', 'the first leaf after the kept log is not this recovery', { index })
}

/**
 * The state names this recovery after exactly those that are known: none that lies before it may be passed over. Policies go on from those
 * of the kept log.
 */
function listsIn(view: VerifiedView, kept: OrgTrust, own: Recoveries[number]) {
  const { recoveries = [], indexes = [] } = stateOf(view, POLICY_NAME, policyState) ?? {}
  const expected = [...(kept.recoveries ?? []), own]
  const isNext = expected.every(
    ({ index, docHash }, i) => recoveries[i]?.index === index && recoveries[i]?.docHash === docHash,
  )
  ensure(isNext, 'bad_map_proof', 'the recoveries of the log are not the known ones and this one', { index: own.index })
  const isContinued = goesOn(kept.policyIndexes ?? indexes, indexes, own.index)
  ensure(isContinued, 'log_fork', 'the policies of the log do not go on from those of the kept one')
  return { recoveries, policyIndexes: indexes }
}

/** By the policy of the kept log, or the one this client has seen, whichever asks for more. */
async function ensureAdmins(
  directory: VerifiedDirectory,
  kept: OrgTrust,
  signers: Iterable<string>,
  index: number,
): Promise<void> {
  const { recoverQuorum } = await directory.policyAt(index)
  const needed = Math.max(recoverQuorum, kept.recoverQuorum ?? 1)
  const principals = new Set<string>()
  for (const kid of signers) {
    const { entry } = await directory.resolve(kid)
    const counts = entry.added < index && isSound(entry, index) && hasKeptCaps(entry, kept, index)
    if (counts && (await directory.capsAt(kid, index)).has('dir-admin')) principals.add(principalOf(kid))
  }
  const found = principals.size
  ensure(found >= needed, 'endorser_not_admin', 'too few directory admins signed a recovery of the log', {
    needed,
    found,
  })
  ensureAsSeen(directory, kept)
}

/** Nothing that was looked at may be otherwise in the kept log than it was seen there: not who signed, nor who vouched for them. */
function ensureAsSeen(directory: VerifiedDirectory, kept: OrgTrust): void {
  for (const found of directory.resolved()) {
    const seen = pinOf(kept, found.entry.kid)
    if (!seen) continue
    ensureCameOnce(found, seen)
    ensureStillEnded(found, seen)
  }
}

const pinOf = ({ signers }: OrgTrust, kid: string): SignerPin | undefined =>
  Object.hasOwn(signers, kid) ? signers[kid] : undefined

/** Caps that were changed in the part that is gone may have been taken away there; what the log says of later changes nothing. */
function hasKeptCaps(entry: KidState, kept: OrgTrust, keptSize: number): boolean {
  const seen = pinOf(kept, entry.kid)
  const capSets = entry.capSets.filter(({ index }) => index < keptSize)
  return !seen || hasSeenCaps({ ...entry, capSets }, seen)
}

/** Where both name the same size they must name the same log: otherwise the admins saw another one than this client. */
function ensureSameLoss({ lost }: LogRecoverPayload, before: VerifiedRecovery['before']): void {
  const isOther = lost.size === before.size && lost.root !== '' && lost.root !== toBase64url(before.root)
  ensure(!isOther, 'log_fork', 'the log that was given up is another one than was seen', { size: before.size })
}

export interface AdoptedRecovery extends Remembered {
  readonly alarm: Alarm
}

/**
 * Takes a recovery over: the pins as they hold for the kept log, the new checkpoint, and an alarm that names both logs. Refuses
 * with `missing_consistency` if the store has moved on since the recovery was verified.
 */
export function adoptRecovery(
  store: TrustStore,
  recovery: VerifiedRecovery,
  now: number,
  evidence?: string,
): AdoptedRecovery {
  const { org, payload, view, before } = recovery
  const old = orgTrustOf(store, org)
  const { seen } = logPinOf(org, old)
  const isUnmoved = seen?.size === before.size && equalBytes(seen.root, before.root)
  ensure(isUnmoved, 'missing_consistency', 'another read has moved the store on: read again from there')
  const kept = cutTrust(old, payload.keptSize)
  const added = recovery.recoveries.slice(kept.recoveries?.length ?? 0)
  const dated = added.map((one, i) => (i === 0 ? { ...one, at: now } : one))
  const recoveries = [...(kept.recoveries ?? []), ...dated]
  const { policyIndexes } = recovery
  const next: OrgTrust = { ...kept, policyIndexes, checkpoint: view.checkpoint.note, checkpointAt: now, recoveries }
  const notices = added.map(({ index, docHash }): Notice => ({ code: 'log_recovered', subject: `${index} ${docHash}` }))
  const detail = describe(recovery, kept)
  const alarm: Alarm = { at: now, code: 'log_recovered', detail, ...(evidence !== undefined && { evidence }) }
  const adopted = { ...store, orgs: { ...store.orgs, [org]: next } }
  return { store: recordAlarm(adopted, org, alarm), notices, alarm }
}

/** Both logs, and the keys whose end or caps only this client knows: they have to be ended or set again (docs/how-to/back-up-and-restore.md). */
function describe({ docHash, payload, view, before }: VerifiedRecovery, kept: OrgTrust): string {
  const { size, root } = view.checkpoint
  const logs = `kept ${payload.keptSize} ${payload.keptRoot}, seen ${before.size} ${toBase64url(before.root)}, now ${size} ${toBase64url(root)}`
  const ended = Object.entries(kept.signers).filter(([, pin]) => pin.cut !== undefined && pin.status !== 'active')
  const kids = ended.length > 0 ? `; ended: ${ended.map(([kid]) => kid).join(' ')}` : ''
  return `statement ${docHash}; ${logs}${kids}`
}
