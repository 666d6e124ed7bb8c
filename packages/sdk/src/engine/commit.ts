import {
  type BuiltCommit,
  type Commit,
  claimedKind,
  documentHash,
  ensureWithinGrace,
  epochNew,
  type ItemBase,
  ProtocolError,
  type VerifiedHead,
} from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import { ApiError } from '../errors.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { indexOf, membersOf, verifySigned } from './answers.ts'
import { loadVault, VaultMoved, verifyMaterial } from './content.ts'
import { proveCommitted } from './inclusion.ts'
import type { KnownVault } from './memory.ts'
import { readPolicy } from './policy.ts'
import { pause } from './queue.ts'
import type { Receipt } from './receipt.ts'
import { sendUntilAnswered } from './send.ts'
import { receiptFor } from './vaults.ts'
import { type Checked, type Pins, readVerified, roundOf } from './verified.ts'

// A change of one vault, or of two in a move: built on verified content, sent, proven to be in the log, remembered. Where somebody
// was quicker, it is built again on top of the newer head.

export interface Built extends BuiltCommit {
  /** The items it writes. */
  readonly items?: readonly ItemBase[]
}

export interface Work {
  /** Builds on what is known, in the order of the vaults; `isFresh` says that it was read for this change. */
  build(known: readonly KnownVault[], isFresh: boolean): Promise<readonly Built[]>
  send(commits: readonly Commit[], options: CallOptions): Promise<unknown>
  /** The receipts in an answer, in the order of the vaults. */
  receiptsIn?(answer: unknown): readonly unknown[]
  /** Items whose details are needed again after a conflict. */
  readonly touched?: ReadonlySet<string>
}

export interface Committed {
  /** The leaf. */
  readonly index: number
  readonly head: VerifiedHead
  readonly receipt: Receipt
}

export interface CommittedWork {
  readonly committed: readonly Committed[]
  readonly rebases: number
}

/** Makes a change; refuses with `head_conflict` if others are quicker every time. */
export const commitWork = (
  actor: Actor,
  vaultIds: readonly string[],
  work: Work,
  options: CallerOptions = {},
): Promise<CommittedWork> =>
  actor.memory.inTurn(vaultIds, () => commitInTurn(actor, vaultIds, work, options), options.signal)

async function commitInTurn(
  actor: Actor,
  vaultIds: readonly string[],
  work: Work,
  options: CallerOptions,
): Promise<CommittedWork> {
  const load = (): Promise<KnownVault[]> => Promise.all(vaultIds.map((vaultId) => loadVault(actor, vaultId, options)))
  let isFresh = vaultIds.some((vaultId) => !actor.memory.vault(vaultId))
  let known = isFresh ? await load() : vaultIds.flatMap((vaultId) => actor.memory.vault(vaultId) ?? [])
  let slowestMs = LEAST_MS
  let turn: string | undefined
  for (let rebases = 0; ; rebases += 1) {
    const started = performance.now()
    const outcome = await attempt(actor, known, work, { ...options, isFresh, turn })
    if (outcome.committed) return { committed: outcome.committed, rebases }
    if (rebases >= actor.policy.maxRebases)
      throw new ProtocolError('head_conflict', 'others changed the vault every time', { vaultIds, rebases })
    slowestMs = Math.max(slowestMs, performance.now() - started)
    turn = outcome.turn
    // With a turn others wait, for a moment.
    const waited = turn === undefined && (await waitForOthers(rebases, slowestMs, options))
    isFresh = waited || !outcome.newer
    known = outcome.newer && !waited ? [...outcome.newer] : await load()
  }
}

const LEAST_MS = 20
const LONGEST_MS = 30_000
/** Wide enough that of many writers who all wait like this few meet, and nobody does so again and again. */
const SPREAD = 3

/**
 * The first time at once, on what the conflict brought. Then writers make room for each other: how long a refused try took tells
 * how many there are.
 */
async function waitForOthers(rebases: number, slowestMs: number, { signal }: CallerOptions): Promise<boolean> {
  if (rebases === 0) return false
  const window = Math.min(slowestMs * SPREAD * 1.5 ** (rebases - 1), LONGEST_MS)
  await pause(Math.random() * window, signal)
  return true
}

type Outcome =
  | { readonly committed: readonly Committed[] }
  | {
      readonly committed?: undefined
      readonly newer: readonly KnownVault[] | undefined
      readonly turn?: string | undefined
    }

interface Attempt extends CallerOptions {
  readonly isFresh: boolean
  readonly turn: string | undefined
}

async function attempt(
  actor: Actor,
  known: readonly KnownVault[],
  work: Work,
  { isFresh, turn, ...options }: Attempt,
): Promise<Outcome> {
  try {
    const built = await work.build(known, isFresh)
    for (const [i, { commit }] of built.entries())
      if (!bringsKey(commit)) await ensureRotated(actor, known[i] as KnownVault, options)
    const outcome = await submit(actor, { known, built, work, turn }, options)
    if (outcome.committed) keepContent(actor, built, outcome.committed)
    return outcome
  } catch (error) {
    // Somebody may have rotated the key since.
    const isOverdue = error instanceof ProtocolError && error.code === 'rotation_due'
    if (error instanceof VaultMoved || (isOverdue && !isFresh)) return { newer: undefined }
    throw error
  }
}

const bringsKey = ({ docs }: Commit): boolean => docs.some((envelope) => claimedKind(envelope) === epochNew.name)

/**
 * Docs/reference/protocol.md 3.6: a server that goes on taking what is under a key that a former reader holds gets nothing from here.
 * Values are refused before they are encrypted, where the key for them is asked for, and any commit before it is sent.
 */
export async function ensureRotated(actor: Actor, { head }: KnownVault, options: CallerOptions): Promise<void> {
  const { state, directory } = head.vault
  if (state.rotationDue === null) return
  // Not every answer proves it; without proof there is no grace to go by.
  const policy = directory.policy ?? (await readPolicy(actor, options)).policy
  ensureWithinGrace(state, policy, actor.now())
}

interface Submission {
  readonly known: readonly KnownVault[]
  readonly built: readonly Built[]
  readonly work: Work
  readonly turn: string | undefined
}

/** Sends commits and verifies what comes back, be it a receipt or a conflict. */
function submit(actor: Actor, submission: Submission, options: CallerOptions): Promise<Outcome> {
  const { known, built, work, turn } = submission
  const vaultIds = known.map(({ head }) => head.vault.vaultId)
  const idempotencyKey = crypto.randomUUID()
  const commits = built.map(({ commit }) => commit)
  return readVerified<Outcome>(
    actor,
    {
      ...(vaultIds[0] !== undefined && { vaultId: vaultIds[0] }),
      isWrite: true,
      ask: (call) =>
        orConflict(() =>
          sendUntilAnswered(actor, {
            vaultIds,
            idempotencyKey,
            call,
            send: (sent) => work.send(commits, { ...sent, turn }),
          }),
        ),
      check: (answer, pins) =>
        answer instanceof Conflict
          ? checkConflict(actor, submission, answer, pins)
          : checkReceipts(actor, vaultIds, built, work.receiptsIn?.(answer) ?? [answer], pins),
    },
    options,
  )
}

const TURN = /^[A-Za-z0-9_-]{1,64}$/

class Conflict {
  readonly current: unknown
  /** Not proven and not needed to be: it says only who is waited for. */
  readonly turn: string | undefined
  constructor(details: unknown) {
    const { current = null, turn } = (details ?? {}) as { current?: unknown; turn?: unknown }
    this.current = current
    this.turn = typeof turn === 'string' && TURN.test(turn) ? turn : undefined
  }
}

async function orConflict(ask: () => Promise<unknown>): Promise<unknown> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === 'vault_head_conflict') return new Conflict(error.details)
    // The item that the route names has left for another vault, or for the one it was to go to.
    const { rule } = (error.details ?? {}) as { rule?: unknown }
    if (error.code === 'invalid_document' && (rule === 'vault_swap' || rule === 'the_same_vault'))
      return new Conflict(undefined)
    throw error
  }
}

/** The vault that the material is about goes on from there; without material everything is read again. */
async function checkConflict(
  actor: Actor,
  { known, work }: Submission,
  { current, turn }: Conflict,
  pins: Pins,
): Promise<Checked<Outcome>> {
  if (current === null) return { rounds: [], result: { newer: undefined, turn } }
  const { vaultId } = membersOf(membersOf(current, 'current').signed, 'signed')
  const stale = known.find(({ head }) => head.vault.vaultId === vaultId)
  if (!stale) return { rounds: [], result: { newer: undefined, turn } }
  const fresh = await verifyMaterial(actor, stale, current, pins, work.touched ?? new Set()).catch(orUnwitnessed(actor))
  if (!fresh) return { rounds: [], result: { newer: undefined, turn } }
  const newer = known.map((one) => (one === stale ? fresh : one))
  return { rounds: [roundOf(fresh.head)], result: { newer, turn }, isConflict: true }
}

/**
 * Somebody else's head is built on as it is read: with the witnesses that are asked for. They come a moment after the log, so it is read
 * when they have; only the proof of a change of one's own can be taken before.
 */
const orUnwitnessed =
  ({ policy }: Actor) =>
  (error: unknown): undefined => {
    const isAwaited = error instanceof ProtocolError && ['witness_quorum', 'stale_view'].includes(error.code)
    if (!isAwaited || policy.mode === 'warn') throw error
  }

/** The own head is in the log, at the leaf the server names: only then was the change made. */
export async function checkReceipts(
  actor: Actor,
  vaultIds: readonly string[],
  built: readonly BuiltCommit[],
  receipts: readonly unknown[],
  pins: Pins,
): Promise<Checked<{ committed: readonly Committed[] }>> {
  const committed: Committed[] = []
  for (const [i, { commit }] of built.entries()) {
    const vaultId = vaultIds[i] as string
    const { index, signed } = membersOf(receipts[i], 'receipt')
    const head = await verifySigned(signed, vaultId, pins.vault(vaultId))
    await proveCommitted(actor, head, { index: indexOf(index), headHash: documentHash(commit.head) })
    committed.push({ index: indexOf(index), head, receipt: receiptFor(actor, head, signed) })
  }
  return { rounds: committed.map(({ head }) => roundOf(head)), result: { committed } }
}

function keepContent(actor: Actor, built: readonly Built[], committed: readonly Committed[]): void {
  for (const [i, { head }] of committed.entries()) {
    const { commit, content, items = [] } = built[i] as Built
    const { vaultId } = head.vault
    for (const { detail, hash } of items) actor.memory.keepDetail(vaultId, { detail, hash })
    // An answer that was repeated may show what others did since: that is read when it is needed.
    if (head.hash === documentHash(commit.head)) actor.memory.keepVault({ head, content })
    else actor.memory.forgetVault(vaultId)
  }
}
