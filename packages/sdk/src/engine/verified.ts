import {
  logPinOf,
  makeEvidence,
  type Notice,
  type OrgTrust,
  orgTrustOf,
  ProtocolError,
  type ReaderTrust,
  recordAlarm,
  remember,
  type TrustStore,
  type VerifiedDirectory,
  type VerifiedHead,
} from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { evidenceAnswer } from './answers.ts'
import { pause } from './queue.ts'

// The one way an answer becomes a result: asked for with the pinned size, verified against the pins, remembered, and only then
// released. A refusal changes nothing in the trust store but for the alarm.

/** The pins of one moment. */
export interface Pins {
  readonly org: OrgTrust
  readonly log: ReaderTrust['log']
  vault(vaultId: string): ReaderTrust
}

export function pinsOf(actor: Actor, store: TrustStore): Pins {
  const org = orgTrustOf(store, actor.org)
  const log = logPinOf(actor.org, org)
  const freshness = { now: actor.now(), maxStaleMs: actor.policy.maxStaleMs }
  return {
    org,
    log,
    vault: (vaultId) => {
      const vaultPin = Object.hasOwn(org.vaults, vaultId) ? org.vaults[vaultId] : undefined
      return { log, genesis: org.genesis, freshness, ...(vaultPin && { vaultPin }) }
    },
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
}

export interface Question<T> {
  /** For evidence; absent where an answer is about no vault. */
  readonly vaultId?: string
  ask(options: CallOptions): Promise<unknown>
  check(answer: unknown, pins: Pins): Promise<Checked<T>>
}

const MAX_TRIES = 8
const LONGEST_PAUSE_MS = 100

/** Asks, verifies, remembers, and releases. Asks again where another read has moved the trust store on meanwhile. */
export async function readVerified<T>(actor: Actor, question: Question<T>, { signal }: CallerOptions = {}): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const pins = pinsOf(actor, await actor.trust.read())
    const have = pins.log.seen?.size
    const answer = await question.ask({ ...(have !== undefined && { have }), ...(signal && { signal }) })
    const refusal = { vaultId: question.vaultId, answer, org: pins.org }
    const { rounds, result } = await alarming(actor, refusal, () => question.check(answer, pins))
    if (await alarming(actor, refusal, () => keep(actor, rounds))) return result
    if (tries >= MAX_TRIES)
      throw new ProtocolError('missing_consistency', 'other reads have moved the trust store on every time', { tries })
    await pause(Math.random() * LONGEST_PAUSE_MS * (tries / MAX_TRIES), signal)
  }
}

/** False if the store has moved on since the pins were read, so that nothing links this read to it: it has to be read again. */
async function keep(actor: Actor, rounds: readonly Round[]): Promise<boolean> {
  try {
    await rememberRounds(actor, rounds)
    return true
  } catch (error) {
    if (error instanceof ProtocolError && error.code === 'missing_consistency') return false
    throw error
  }
}

async function rememberRounds(actor: Actor, rounds: readonly Round[]): Promise<void> {
  const notices: Notice[] = []
  if (rounds.length === 0) return
  await actor.trust.update((store) => {
    notices.length = 0
    let next = store
    for (const { directory, heads } of rounds) {
      const { confirmed } = actor.policy
      const remembered = remember(next, { directory, heads, now: actor.now(), confirmed })
      notices.push(...remembered.notices)
      next = remembered.store
    }
    return saysTheSame(store, next, actor.org) ? store : next
  })
  for (const notice of notices) actor.onNotice?.(notice)
}

/** A read that shows what is known already is written down only now and then: storing for good is slow. */
export const REFRESH_MS = 60_000

function saysTheSame(before: TrustStore, after: TrustStore, org: string): boolean {
  const [old, next] = [orgTrustOf(before, org), orgTrustOf(after, org)]
  if (next.checkpointAt - old.checkpointAt >= REFRESH_MS) return false
  return JSON.stringify({ ...old, checkpointAt: 0 }) === JSON.stringify({ ...next, checkpointAt: 0 })
}

interface Refusal {
  readonly vaultId: string | undefined
  readonly answer: unknown
  readonly org: OrgTrust
}

/** Whatever is refused in `work` leaves evidence and an alarm, and is refused. */
export async function alarming<T>(actor: Actor, refusal: Refusal, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ProtocolError) await raiseAlarm(actor, refusal, error)
    throw error
  }
}

const MAX_PLACE = 1000

/** Nothing that fails here may hide the refusal itself. */
async function raiseAlarm(actor: Actor, { vaultId, answer, org }: Refusal, error: ProtocolError): Promise<void> {
  const now = actor.now()
  const { maxStaleMs } = actor.policy
  const kept = async (): Promise<unknown> => {
    if (vaultId === undefined) return undefined
    const shown = evidenceAnswer(error, answer)
    return actor.onEvidence?.(
      makeEvidence({ error, org: actor.org, vaultId, trust: org, answer: shown, now, maxStaleMs }),
    )
  }
  const evidence = await kept().catch(() => undefined)
  const alarm = {
    at: now,
    code: error.code,
    detail: error.message,
    ...(typeof evidence === 'string' && { evidence: evidence.slice(0, MAX_PLACE) }),
  }
  await actor.trust.update((store) => recordAlarm(store, actor.org, alarm)).catch(() => undefined)
}
