import {
  appendLeaf,
  EMPTY_FRONTIER,
  type Envelope,
  type Frontier,
  formatTrustAnchor,
  fromBase64,
  frontierRoot,
  leafHash,
  orgTrustOf,
  parseLeaf,
  toBase64url,
  updatesOf,
  type VerifiedDirectory,
  verifyDirectory,
  verifyTransparency,
} from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import type { Actor, CallerOptions } from '../engine/actor.ts'
import { listOf, membersOf, refuseUnless } from '../engine/answers.ts'
import { readVerified } from '../engine/verified.ts'
import type { RequestOptions } from './call.ts'
import type { Core, KeyedPlace } from './core.ts'
import type { Checkpoint, LogEntry, VerifyOptions, VerifyReport, VerifyStep } from './transparency.ts'

// The log as a whole: that its newest checkpoint continues what was seen, and that what it serves is what it signed.

interface VerifiedLog {
  readonly head: Checkpoint
  readonly previous: VerifyReport['previous']
  readonly directory: VerifiedDirectory
}

/** The current policy, proven, and with it the whole chain from the pinned genesis to the newest checkpoint. */
async function verifyHead(actor: Actor, options: CallerOptions): Promise<VerifiedLog> {
  return readVerified(
    actor,
    {
      ask: async (call) => {
        const { genesis } = orgTrustOf(await actor.trust.read(), actor.org)
        const have = call.have === undefined ? {} : { have: call.have }
        const [transparency, { document }] = await Promise.all([
          actor.client.transparency.state({ query: { name: 'policy', ...have } }, call),
          actor.client.transparency.document({ params: { hash: genesis } }, call),
        ])
        return { transparency, genesis: document }
      },
      check: async (answer, pins) => {
        const { transparency, genesis } = membersOf(answer, 'answer')
        const freshness = { now: actor.now(), maxStaleMs: actor.policy.maxStaleMs }
        const view = await verifyTransparency(transparency, pins.log, freshness)
        const response = { genesis: genesis as Envelope, policies: [], records: [], capSets: [] }
        const directory = await verifyDirectory(view, response, pins.org.genesis)
        const { seen } = pins.log
        const previous = seen ? { treeSize: seen.size, rootHash: toBase64url(seen.root) } : undefined
        const { leaf } = membersOf(membersOf(transparency, 'transparency').tip, 'tip')
        const { origin, size, root, note } = view.checkpoint
        const timestamp = new Date(parseLeaf(fromBase64(String(leaf))).at)
        const head = { origin, treeSize: size, rootHash: toBase64url(root), timestamp, note }
        return { rounds: [{ directory, heads: [] }], result: { head, previous, directory } }
      },
    },
    options,
  )
}

export const newestHead = async ({ actor, options }: KeyedPlace): Promise<Checkpoint> =>
  (await verifyHead(actor, options)).head

interface Entry {
  readonly index: number
  readonly leaf: string
  readonly documents?: string
  readonly updates?: string
}

async function* rawEntries(
  { client }: Pick<Actor, 'client'>,
  { from, to }: { readonly from: number; readonly to: number },
  call: CallOptions,
): AsyncGenerator<Entry> {
  for (let start = from; start < to; ) {
    const { entries } = await client.transparency.entries({ query: { start, end: to } }, call)
    const served = listOf(entries, 'entries') as readonly Entry[]
    refuseUnless(served.length > 0 && served.length <= to - start, 'bad_inclusion', 'the log is served with a gap')
    yield* served
    start += served.length
  }
}

/** One state that a leaf has changed. */
export interface LoggedUpdate {
  readonly entry: LogEntry
  readonly name: string
  /** Of the value it was left with. */
  readonly newHash: string
}

function updatesIn({ leaf, updates }: Entry, index: number): readonly [LogEntry, readonly LoggedUpdate[]] {
  const bytes = fromBase64(leaf)
  const parsed = parseLeaf(bytes)
  const named = updatesOf(parsed, updates === undefined ? undefined : fromBase64(updates))
  const entry = {
    index,
    type: parsed.t,
    subjects: named.map(([name]) => name),
    at: new Date(parsed.at),
    leafHash: toBase64url(leafHash(bytes)),
  }
  return [entry, named.map(([name, , newHash]) => ({ entry, name, newHash }))]
}

const entryOf = (entry: Entry, index: number): LogEntry => updatesIn(entry, index)[0]

/** Every leaf that is served, put together, must be the tree that was signed. */
async function recompute(
  actor: Actor,
  { head }: VerifiedLog,
  options: CallerOptions,
  onUpdate: (update: LoggedUpdate) => void,
): Promise<void> {
  let frontier: Frontier = EMPTY_FRONTIER
  let index = 0
  for await (const entry of rawEntries(actor, { from: 0, to: head.treeSize }, options as CallOptions)) {
    frontier = appendLeaf(frontier, leafHash(fromBase64(entry.leaf))).frontier
    for (const update of updatesIn(entry, index)[1]) onUpdate(update)
    index += 1
  }
  const isSame = toBase64url(frontierRoot(frontier)) === head.rootHash
  refuseUnless(isSame, 'bad_inclusion', 'the entries that are served are not the log that is signed')
}

/** Every change of every state, once it is certain that they are all; what was told before counts only when this returns. */
export async function readWholeLog(
  actor: Actor,
  options: CallerOptions,
  onUpdate: (update: LoggedUpdate) => void,
): Promise<Checkpoint> {
  const log = await verifyHead(actor, options)
  await recompute(actor, log, options, onUpdate)
  return log.head
}

const KEY = 'kid/'

export async function verifyLog(
  { actor, options }: KeyedPlace,
  { replay: isReplayed = false, onStep }: VerifyOptions,
): Promise<VerifyReport> {
  const started = performance.now()
  const steps: VerifyStep[] = []
  const done = (step: VerifyStep['step'], detail: string): void => {
    steps.push({ step, detail })
    onStep?.({ step, detail })
  }
  const log = await verifyHead(actor, options)
  const { head, previous } = log
  done('checkpoint-signature', `size ${head.treeSize}, signed by the pinned key of ${head.origin}`)
  done('consistency', previous ? `extends the log of size ${previous.treeSize} seen before` : 'first contact')
  done('signer-directory', 'the organisation is the pinned one')
  const keys: LoggedUpdate[] = []
  await recompute(actor, log, options, (update) => update.name.startsWith(KEY) && keys.push(update))
  done('inclusion', `${head.treeSize} entries make exactly the signed tree`)
  if (isReplayed) {
    const { replay } = await import('./replay.ts')
    await replay(actor, rawEntries(actor, { from: 0, to: head.treeSize }, options as CallOptions), options)
    done('replay', `${head.treeSize} changes follow the rules`)
  }
  const since = previous?.treeSize ?? 0
  const newSigners = keys
    .filter(({ entry: { index, type } }) => index >= since && type.startsWith('key.'))
    .map(({ name, entry: { index, at } }) => ({ keyId: name.slice(KEY.length), logIndex: index, at }))
  return { head, ...(previous && { previous }), steps, newSigners, durationMs: performance.now() - started }
}

export async function* entries(
  core: Core,
  { from = 0, to }: { readonly from?: number; readonly to?: number } = {},
  options: RequestOptions = {},
): AsyncGenerator<LogEntry> {
  for (let start = from; ; ) {
    const { data } = await core.run(options, async ({ client, options: call }) => {
      const end = to ?? (await client.transparency.checkpoint({}, call)).size
      if (start >= end) return []
      const served = await client.transparency.entries({ query: { start, end } }, call)
      return served.entries.map((entry, i) => entryOf(entry as Entry, start + i))
    })
    if (data.length === 0) return
    yield* data
    start += data.length
  }
}

export async function exportAnchor(core: Core): Promise<string> {
  const { data } = await core.run({}, async (scope) => {
    const actor = await scope.actor()
    const { head } = await verifyHead(actor, scope.options)
    const { genesis, origin, logVkeys, tlogPolicy } = orgTrustOf(await actor.trust.read(), actor.org)
    const minimum = { size: head.treeSize, root: head.rootHash }
    return formatTrustAnchor({ org: actor.org, genesis, origin, logVkeys, tlogPolicy, minimum })
  })
  return data
}
