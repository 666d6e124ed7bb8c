import {
  type Evidence,
  logPinOf,
  makeEvidence,
  NO_WITNESSES,
  type Notice,
  type OrgTrust,
  orgTrustOf,
  POLICY_NAME,
  ProtocolError,
  type ReaderTrust,
  recordAlarm,
  remember,
  type TrustStore,
  type VerifiedDirectory,
  type VerifiedHead,
  type VerifiedView,
} from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { evidenceAnswer, refuseUnless } from './answers.ts'
import { pause } from './queue.ts'
import { checkWitnessed, makePatience } from './quorum.ts'
import { isSeenLately, withSeen } from './seen.ts'

// The one way an answer becomes a result: asked for with the pinned size, verified against the pins, remembered, and only then
// released. A refusal changes nothing in the trust store but for the alarm.

/** The pins of one moment. */
export interface Pins {
  readonly org: OrgTrust
  readonly log: ReaderTrust['log']
  vault(vaultId: string): ReaderTrust
  /** The same for the answer to a change of one's own, which no witness can have seen yet. */
  withoutQuorum(): Pins
}

export function pinsOf(actor: Actor, store: TrustStore): Pins {
  const org = orgTrustOf(store, actor.org)
  const { witnessPolicy = org.tlogPolicy } = actor.policy
  return pinsWith(actor, org, witnessPolicy)
}

function pinsWith(actor: Actor, org: OrgTrust, witnessPolicy: string): Pins {
  const log = { ...logPinOf(actor.org, org), witnessPolicy }
  const freshness = { now: actor.now(), maxStaleMs: actor.policy.maxStaleMs }
  return {
    org,
    log,
    vault: (vaultId) => {
      const vaultPin = Object.hasOwn(org.vaults, vaultId) ? org.vaults[vaultId] : undefined
      const { isReviewing } = actor.policy
      return { log, genesis: org.genesis, freshness, isReviewing, ...(vaultPin && { vaultPin }) }
    },
    withoutQuorum: () => pinsWith(actor, org, NO_WITNESSES),
  }
}

export interface Round {
  readonly directory: VerifiedDirectory
  readonly heads: readonly VerifiedHead[]
}
export const roundOf = (head: VerifiedHead): Round => ({ directory: head.vault.directory, heads: [head] })

/** What a check has shown, and what of it is to be remembered before the result is released. */
export interface Checked<T> {
  readonly rounds: readonly Round[]
  readonly result: T
  /** Of a change: it was not made. */
  readonly isConflict?: boolean
}

export interface Question<T> {
  /** For evidence; absent where an answer is about no vault. */
  readonly vaultId?: string
  /** Which answer it is, where others can check a refusal of it without the server. */
  readonly form?: Evidence['form']
  /** Asking makes a change: what is answered is the change's own proof. */
  readonly isWrite?: boolean
  ask(options: CallOptions): Promise<unknown>
  check(answer: unknown, pins: Pins): Promise<Checked<T>>
}

const MAX_TRIES = 8
const LONGEST_PAUSE_MS = 100

/** Asks, verifies, remembers, and releases. Asks again where another read has moved the trust store on meanwhile. */
export async function readVerified<T>(actor: Actor, question: Question<T>, { signal }: CallerOptions = {}): Promise<T> {
  const patience = makePatience(actor.policy.witnessWaitMs)
  for (let tries = 1; ; ) {
    const pins = pinsOf(actor, await actor.trust.read())
    const have = pins.log.seen?.size
    const answer = await question.ask({ ...(have !== undefined && { have }), ...(signal && { signal }) })
    const org = { ...pins.org, tlogPolicy: pins.log.witnessPolicy }
    const refusal = { vaultId: question.vaultId, form: question.form, answer, org }
    const check = async () => {
      const outcome = await checkWitnessed(actor, question, answer, pins, patience)
      if (!outcome.checked || !pins.log.behind) return { ...outcome, link: undefined }
      const { readLink } = await import('./log-link.ts')
      return { ...outcome, link: await readLink(actor, pins.log, { signal }) }
    }
    const outcome = await alarming(actor, refusal, () => orRestored(actor, refusal, check, { signal }))
    if (outcome === RESTORED && tries < MAX_TRIES) {
      tries += 1
      continue
    }
    const { checked, waitMs, link } = outcome === RESTORED ? await alarming(actor, refusal, check) : outcome
    if (waitMs !== undefined) {
      await pause(waitMs, signal)
      continue
    }
    const keeping = async (): Promise<boolean> => {
      if (!question.isWrite) ensurePolicyProven(checked.rounds)
      return keep(actor, checked.rounds, link).catch(async (error: unknown) => {
        if (!question.isWrite || checked.isConflict) throw error
        throw (await import('./trust-failed.ts')).madeAnyway(error)
      })
    }
    if (await alarming(actor, refusal, keeping)) return checked.result
    if (tries >= MAX_TRIES)
      throw new ProtocolError('missing_consistency', 'other reads have moved the trust store on every time', { tries })
    await pause(Math.random() * LONGEST_PAUSE_MS * (tries / MAX_TRIES), signal)
    tries += 1
  }
}

const RESTORED = Symbol('restored')
const REFUSED_BY_RESTORED = new Set(['log_rollback', 'log_fork'])

/** What is refused because the log is not the one that was seen is asked again, if the log was restored and may go on. */
async function orRestored<T>(
  actor: Actor,
  refusal: Refusal,
  check: () => Promise<T>,
  options: CallerOptions,
): Promise<T | typeof RESTORED> {
  try {
    return await check()
  } catch (error) {
    if (!(error instanceof ProtocolError && REFUSED_BY_RESTORED.has(error.code))) throw error
    const keepEvidence = () => evidenceOf(actor, refusal, error)
    // Loaded when it is needed, which is hardly ever; where it cannot be had, what was refused stays refused.
    const recovery = await import('./recovery.ts').catch(() => undefined)
    if (!(await recovery?.goOnAfterRestore(actor, refusal.org, keepEvidence, options))) throw error
    return RESTORED
  }
}

/** Docs/reference/protocol.md 5.4: whoever leaves the policy out keeps a client from remembering it, and from hearing that it was changed. */
function ensurePolicyProven(rounds: readonly Round[]): void {
  for (const { directory } of rounds)
    refuseUnless(directory.view.states.get(POLICY_NAME), 'bad_map_proof', 'the policy is not proven')
}

/** False if the store has moved on since the pins were read, so that nothing links this read to it: it has to be read again. */
async function keep(actor: Actor, rounds: readonly Round[], link: VerifiedView | undefined): Promise<boolean> {
  try {
    await rememberRounds(actor, rounds, link)
    return true
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'missing_consistency') return false
    if (await isConfirmed(actor, error)) return keep(actor, rounds, link)
    throw error
  }
}

/** A person may know better than the log that a key is somebody's new one. Asked once for each key. */
async function isConfirmed(actor: Actor, error: unknown): Promise<boolean> {
  if (!(error instanceof ProtocolError) || error.code !== 'continuity_broken') return false
  const { kid, known } = error.details
  if (typeof kid !== 'string' || !Array.isArray(known) || actor.policy.confirmed.has(kid)) return false
  const isTrusted = (await actor.onNewSigner?.({ keyId: kid, known: known.map(String) })) ?? false
  return isTrusted && actor.policy.confirmed.has(kid)
}

async function rememberRounds(actor: Actor, rounds: readonly Round[], link: VerifiedView | undefined): Promise<void> {
  const notices: Notice[] = []
  if (rounds.length === 0) return
  const remembering = (store: TrustStore): TrustStore => {
    notices.length = 0
    let next = store
    for (const { directory, heads } of rounds) {
      const { confirmed } = actor.policy
      const remembered = remember(next, { directory, heads, now: actor.now(), confirmed, link })
      notices.push(...remembered.notices)
      next = remembered.store
    }
    next = withSeen(next, actor.org, rounds, actor.now())
    return saysTheSame(store, next, actor.org) ? store : next
  }
  // What is known already needs no lock: it was so when the store was read.
  const before = await actor.trust.read()
  const stored = remembering(before) === before ? before : await actor.trust.update(remembering)
  // Where witnesses are asked for, an answer without them is that to one's own change: they come with the next read.
  const isWatched = (actor.policy.witnessPolicy ?? orgTrustOf(stored, actor.org).tlogPolicy) !== NO_WITNESSES
  const isLate = isWatched && actor.policy.mode === 'strict'
  for (const notice of notices) if (!isLate || notice.code !== 'no_witness') actor.onNotice?.(notice)
}

/** A read that shows what is known already is written down only now and then: storing for good is slow. */
export const REFRESH_MS = 60_000

function saysTheSame(before: TrustStore, after: TrustStore, org: string): boolean {
  const [old, next] = [orgTrustOf(before, org), orgTrustOf(after, org)]
  if (next.checkpointAt - old.checkpointAt >= REFRESH_MS || !isSeenLately(old, next)) return false
  return withoutTimes(old) === withoutTimes(next)
}

const withoutTimes = ({ seenAt: _, ...trust }: OrgTrust): string => JSON.stringify({ ...trust, checkpointAt: 0 })

interface Refusal {
  readonly vaultId: string | undefined
  readonly form?: Evidence['form'] | undefined
  readonly answer: unknown
  readonly org: OrgTrust
}

const refused = new WeakMap<ProtocolError, { readonly vaultId?: string }>()
/** What an answer was about that was refused; undefined for a refusal of something that the caller gave. */
export const refusedAnswer = (error: ProtocolError): { readonly vaultId?: string } | undefined => refused.get(error)

/** Whatever is refused in `work` leaves evidence and an alarm, and is refused. */
export async function alarming<T>(actor: Actor, refusal: Refusal, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ProtocolError) {
      refused.set(error, refusal.vaultId === undefined ? {} : { vaultId: refusal.vaultId })
      await raiseAlarm(actor, refusal, error)
    }
    throw error
  }
}

const MAX_PLACE = 1000

/** Where the evidence of a refusal is kept; undefined where it is not. */
async function evidenceOf(
  actor: Actor,
  { vaultId, answer, form, org: trust }: Refusal,
  error: ProtocolError,
): Promise<string | undefined> {
  const { maxStaleMs } = actor.policy
  const shown = evidenceAnswer(error, answer, form)
  const kept = async (): Promise<unknown> =>
    vaultId === undefined
      ? undefined
      : actor.onEvidence?.(
          makeEvidence({ error, org: actor.org, vaultId, trust, ...shown, now: actor.now(), maxStaleMs }),
        )
  const place = await kept().catch(() => undefined)
  return typeof place === 'string' ? place.slice(0, MAX_PLACE) : undefined
}

/** Nothing that fails here may hide the refusal itself. */
async function raiseAlarm(actor: Actor, refusal: Refusal, error: ProtocolError): Promise<void> {
  const evidence = await evidenceOf(actor, refusal, error)
  const { code, message: detail } = error
  const alarm = { at: actor.now(), code, detail, ...(evidence !== undefined && { evidence }) }
  await actor.trust.update((store) => recordAlarm(store, actor.org, alarm)).catch(() => undefined)
}
