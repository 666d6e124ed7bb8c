import { type OpenedEnvironment, type OrgTrust, ProtocolError, type ReaderTrust } from '@strongroom/protocol'
import type { Actor } from './actor.ts'
import { membersOf, refuseUnless } from './answers.ts'
import { type CachedAnswer, cacheKey, getAnswer } from './cache.ts'
import { openAnswer } from './environment-answer.ts'
import { type Receipt, receiptOf } from './receipt.ts'
import { latestFetch } from './seen.ts'
import { alarming, type Pins, pinsOf, REFRESH_MS } from './verified.ts'

// Reading without the server: the cached answer goes through the whole verification again, against the trust store of now.

export interface CachedRead {
  readonly opened: OpenedEnvironment
  readonly receipt: Receipt
}

/** Undefined where nothing is cached, or only what was overtaken by something newer that was seen since. Refuses with `stale_view` what is too old. */
export async function readCached(actor: Actor, vaultId: string, maxAgeMs: number): Promise<CachedRead | undefined> {
  const found = await getAnswer(actor.cache, cacheKey(actor.org, vaultId, actor.identity.kid))
  if (!found) return undefined
  const pins = pinsOf(actor, await actor.trust.read())
  const { answer } = found
  const fetchedAt = Math.min(found.fetchedAt, latestFetch(pins.org, pins.org.vaults[vaultId]?.headHash))
  const cached = { answer, fetchedAt }
  if (isGivenUp(cached, pins.org)) return undefined
  ensureYoung(cached, pins.org, actor.now(), maxAgeMs)
  const open = () => openCached(actor, vaultId, cached, pins, maxAgeMs)
  const read = await alarmingUnlessOld(actor, { vaultId, form: 'environment', answer, org: pins.org }, open)
  if (!read) return undefined
  actor.memory.keepKeys(vaultId, read.opened.keys)
  return { ...read, receipt: { ...read.receipt, fetchedAt } }
}

/** What is cached says itself when it was fetched; the trust store knows when the server was last heard, at all and of a project. */
export function ensureYoung({ answer, fetchedAt }: CachedAnswer, trust: OrgTrust, now: number, maxAgeMs: number): void {
  // Which project an answer claims to be of, if any, is verified with the rest.
  const { projectId } = (answer ?? {}) as { projectId?: unknown }
  const latest = latestFetch(trust, trust.projects[String(projectId)]?.docHash)
  const ageMs = now - Math.min(fetchedAt, trust.checkpointAt + REFRESH_MS, latest)
  refuseUnless(ageMs <= maxAgeMs, 'stale_view', 'the cached answer is older than allowed', { ageMs, maxAgeMs })
  refuseUnless(ageMs >= 0, 'stale_view', 'the cached answer is of a time to come', { ageMs })
}

async function openCached(
  actor: Actor,
  vaultId: string,
  { answer, fetchedAt }: CachedAnswer,
  pins: Pins,
  maxAgeMs: number,
): Promise<CachedRead | undefined> {
  const trust = cachedTrust(pins, vaultId, answer, maxAgeMs)
  const opened = await openAnswer(actor, vaultId, answer, trust)
  const isNewest = trust.log.seen !== null || opened.head.hash === (trust.vaultPin?.headHash ?? opened.head.hash)
  if (!isNewest) return undefined
  ensureSound(opened, pins.org)
  const { transparency } = membersOf(answer, 'answer')
  return { opened, receipt: receiptOf(opened.head, transparency, { source: 'cache', fetchedAt }) }
}

/**
 * Reading other vaults moves the pinned log past a cached answer without making it wrong. Such an answer cannot be held against
 * the newer log without the server; it is taken if its head is exactly the newest one the trust store has seen of this vault.
 */
function cachedTrust(pins: Pins, vaultId: string, answer: unknown, maxAgeMs: number): ReaderTrust {
  const trust = pins.vault(vaultId)
  const { seen } = trust.log
  const isBehind = seen !== null && trust.vaultPin !== undefined && sizeOf(answer) < seen.size
  const log = isBehind ? { ...trust.log, seen: null } : trust.log
  return { ...trust, log, freshness: { ...trust.freshness, maxStaleMs: maxAgeMs } }
}

/** What the checkpoint of an answer claims; verified with the rest. */
export function sizeOf(answer: unknown): number {
  const { checkpoint } = membersOf(membersOf(answer, 'answer').transparency, 'transparency')
  const [, size] = String(checkpoint).split('\n')
  return Number(size)
}

/** It is of a log that was restored since, from the part that is gone (docs/reference/protocol.md 9.4). */
export function isGivenUp({ answer, fetchedAt }: CachedAnswer, { recoveries = [] }: OrgTrust): boolean {
  const accepted = recoveries.filter(({ at }) => at !== undefined && fetchedAt <= at)
  return accepted.length > 0 && accepted.some(({ index }) => !(sizeOf(answer) <= index))
}

/** A key that was seen to be compromised since the answer was fetched makes it worthless. */
function ensureSound({ head }: OpenedEnvironment, { signers }: OrgTrust): void {
  for (const { entry } of head.vault.directory.resolved()) {
    const seen = Object.hasOwn(signers, entry.kid) ? signers[entry.kid] : undefined
    const isSound = seen?.status !== 'compromised' || entry.status === 'compromised'
    refuseUnless(isSound, 'signer_compromised', 'a signer of the cached answer is known to be compromised since', {
      kid: entry.kid,
    })
  }
}

const OVERTAKEN = new Set(['vault_rollback', 'log_rollback', 'missing_consistency', 'project_rollback'])

/** A cache that was overtaken is no alarm, and nothing to answer from: undefined. One that was tampered with is refused, with an alarm. */
export async function alarmingUnlessOld<T>(
  actor: Actor,
  refusal: Parameters<typeof alarming>[1],
  work: () => Promise<T>,
): Promise<T | undefined> {
  const outcome = await alarming(actor, refusal, () =>
    work().then(
      (value) => ({ value }),
      (error: unknown) => {
        if (error instanceof ProtocolError && OVERTAKEN.has(error.code)) return { value: undefined }
        if (error instanceof ProtocolError && error.code === 'stale_view') return { error }
        throw error
      },
    ),
  )
  if ('error' in outcome) throw outcome.error
  return outcome.value
}
