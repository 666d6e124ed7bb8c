import {
  buildCommit,
  type Commit,
  type CommitInput,
  type Dek,
  type ItemDetailPayload,
  ProtocolError,
  type SignedItem,
  signItem,
  termsOf,
  type VaultContent,
} from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { refuseUnless } from './answers.ts'
import { type Built, type Committed, commitWork, ensureRotated, type Work } from './commit.ts'
import {
  changesOf,
  type NewItem,
  newItem,
  type PlanContext,
  type PlannedItem,
  planChange,
  planEdit,
  rebasePlan,
  type VaultEdits,
} from './item-changes.ts'
import type { KnownVault } from './memory.ts'
import { keysFor } from './vaults.ts'

/** An item as this change left it. */
export interface WrittenItem {
  readonly itemId: string
  readonly itemVersion: number
  readonly name: string
  readonly status: 'active' | 'archived'
  readonly fields: readonly {
    readonly fieldId: string
    readonly label: string
    readonly env: boolean
    readonly rev: number
  }[]
}

export interface Written extends Committed {
  /** Created ones first, in the order they were given, then the changed ones. */
  readonly items: readonly WrittenItem[]
  /** How often somebody else was quicker. */
  readonly rebases: number
}

/** How planned items become one commit. */
export interface ItemWork {
  plan(context: PlanContext): Promise<readonly PlannedItem[]>
  /** Throws where the head it is to be built on does not allow it. */
  check?(context: PlanContext): void
  /** Throws where what is planned on this head shall not be written. */
  approve?(context: PlanContext, planned: readonly PlannedItem[]): void
  send(commit: Commit, options: CallOptions, items: readonly SignedItem[]): Promise<unknown>
  readonly overwrites?: boolean
  /** Planned anew on every newer head: what it is about was found by name, and a name may mean something else by now. */
  readonly replans?: boolean
}

export interface ChangeOptions extends CallerOptions, Pick<ItemWork, 'check' | 'approve'> {
  /** `refuse`, the default, or `overwrite`: the own change wins over what others did to the same thing. */
  readonly collisions?: 'refuse' | 'overwrite'
}

/**
 * Creates, edits and archives items of one vault in one commit, at most 500 of them. An edit starts from what this actor has last
 * seen of the item; if somebody else has changed the same thing since, it is refused with `rebase_conflict`, which names it.
 */
export function changeItems(
  actor: Actor,
  vaultId: string,
  edits: VaultEdits,
  { collisions = 'refuse', check, approve, ...options }: ChangeOptions = {},
): Promise<Written> {
  const created = (edits.create ?? []).map(newItem)
  const changes = changesOf(edits)
  const archives = edits.archive?.length === 1
  return commitItems(
    actor,
    vaultId,
    {
      plan: async (context) => {
        const planned: PlannedItem[] = []
        for (const edit of created) planned.push(await planEdit(context.dek, undefined, edit))
        for (const change of changes) planned.push(await planChange(context, change))
        return planned
      },
      send: (commit, call, items) => sendItems(actor, vaultId, { commit, items, archives }, call),
      overwrites: collisions === 'overwrite',
      ...(check && { check }),
      ...(approve && { approve }),
    },
    options,
  )
}

/** One commit of items: planned once, then carried over from head to head until it is in, unless it is to be planned anew. */
export async function commitItems(
  actor: Actor,
  vaultId: string,
  work: ItemWork,
  options: CallerOptions,
): Promise<Written> {
  let planned: readonly PlannedItem[] | undefined
  let signed: readonly SignedItem[] = []
  const signedPlans = new Map<PlannedItem, SignedItem>()
  const touched = new Set<string>()
  const build = async ([known]: readonly KnownVault[], isFresh: boolean): Promise<readonly Built[]> => {
    if (!known) throw new Error('a commit of items is about one vault')
    const dek = await currentDek(actor, known, options)
    const context = { actor, known, isFresh, dek, options }
    work.check?.(context)
    const next = planned && !work.replans ? await rebaseAll(context, planned, work) : await work.plan(context)
    ensureOnce(next)
    work.approve?.(context, next)
    // What was not approved is not carried over: it was planned on what may be old.
    planned = next
    for (const { edit } of planned) touched.add(edit.itemId)
    const place = { org: actor.org, vaultId, at: actor.now() }
    signed = await inOrder(planned, async (one) => {
      // An item nobody else touched keeps its signed detail.
      const item = signedPlans.get(one) ?? (await signItem(one.plan, place, actor.identity))
      signedPlans.set(one, item)
      return item
    })
    return [await buildItems(actor, known, { items: signed })]
  }
  const send: Work['send'] = ([commit], call) => work.send(commit as Commit, call, signed)
  const { committed, rebases } = await commitWork(actor, [vaultId], { build, send, touched }, options)
  return { ...(committed[0] as Committed), items: signed.map(({ detail }) => writtenItem(detail)), rebases }
}

async function rebaseAll(
  context: PlanContext,
  planned: readonly PlannedItem[],
  work: ItemWork,
): Promise<readonly PlannedItem[]> {
  try {
    return await inOrder(planned, (one) => rebasePlan(context, one))
  } catch (error) {
    const collided = error instanceof ProtocolError && error.code === 'rebase_conflict'
    if (!collided || !work.overwrites) throw error
    return work.plan(context)
  }
}

/** The key that is written under. Refuses with `rotation_due` one that a former reader has held for longer than the grace. */
export async function currentDek(actor: Actor, known: KnownVault, options: CallerOptions): Promise<Dek> {
  await ensureRotated(actor, known, options)
  const dek = (await keysFor(actor, known.head, options)).get(known.head.payload.dekVersion)
  if (!dek) throw new ProtocolError('unwrapped_key_missing', 'there is no wrapped key for the current version')
  return dek
}

export async function inOrder<A, B>(inputs: readonly A[], work: (input: A) => Promise<B>): Promise<readonly B[]> {
  const outputs: B[] = []
  for (const input of inputs) outputs.push(await work(input))
  return outputs
}

function ensureOnce(planned: readonly PlannedItem[]): void {
  const isOnce = new Set(planned.map(({ edit }) => edit.itemId)).size === planned.length
  refuseUnless(isOnce, 'malformed', 'a change names an item twice')
}

export interface BuildInput {
  readonly items: readonly SignedItem[]
  readonly assets?: CommitInput['assets']
}

export async function buildItems(
  actor: Actor,
  { head, content }: KnownVault,
  { items, assets = [] }: BuildInput,
): Promise<Built> {
  const place = { org: actor.org, vaultId: head.vault.vaultId, at: actor.now() }
  const input = { ...place, base: head, content, terms: termsOf(head.payload), items, assets }
  const built = await buildCommit(input, actor.identity)
  ensureLabels(built.content)
  return { ...built, items }
}

/** Told before it is sent, with the name of the label. */
function ensureLabels({ env }: VaultContent): void {
  const labels = new Set<string>()
  for (const { label } of env.values()) {
    refuseUnless(!labels.has(label), 'duplicate_label', 'two environment fields of the vault have one label', { label })
    labels.add(label)
  }
}

const writtenItem = ({ itemId, itemVersion, name, status, fields }: ItemDetailPayload): WrittenItem => ({
  itemId,
  itemVersion,
  name,
  status,
  fields: fields.map(({ fieldId, label, env, rev }) => ({ fieldId, label, env, rev })),
})

/** The routes for one item take less than the one for commits. */
const ONE_ITEM_BYTES = 3_000_000

export const sizeOf = (items: readonly SignedItem[]): number =>
  items
    .flatMap(({ envelope, values }) => [envelope.payload, ...values.values()])
    .reduce((sum, text) => sum + text.length, 0)

/** One item goes by the route of its own, which says in the audit log what was done. */
function sendItems(
  { client }: Actor,
  vaultId: string,
  { commit, items, archives }: { commit: Commit; items: readonly SignedItem[]; archives: boolean },
  call: CallOptions,
): Promise<unknown> {
  const [only] = items
  const body = { commit }
  if (!only || items.length > 1 || sizeOf(items) > ONE_ITEM_BYTES)
    return client.vaults.commit({ params: { vaultId }, body }, call)
  const { itemId, itemVersion, status } = only.detail
  if (archives) return client.items.archive({ params: { vaultId, itemId }, body }, call)
  if (status === 'archived') return client.vaults.commit({ params: { vaultId }, body }, call)
  if (itemVersion === 1) return client.items.create({ params: { vaultId }, body }, call)
  return client.items.update({ params: { id: itemId }, body }, call)
}

const BATCH_ITEMS = 500
const BATCH_BYTES = 10_000_000

export interface ImportOptions extends CallerOptions {
  /** After each batch: what is in for good. */
  readonly onProgress?: (done: number, total: number) => void
  /** Throws where the head a batch is to be built on does not allow the names that are not in yet. */
  check?(context: PlanContext, left: readonly string[]): void
}

export interface Imported {
  readonly items: readonly WrittenItem[]
  readonly commits: readonly Committed[]
}

/** Creates any number of items, 500 in a commit. What `onProgress` has told of is in, also if a later batch fails. */
export async function importItems(
  actor: Actor,
  vaultId: string,
  items: readonly NewItem[],
  { onProgress, check, ...options }: ImportOptions = {},
): Promise<Imported> {
  const written: WrittenItem[] = []
  const commits: Committed[] = []
  for (const batch of batchesOf(items)) {
    const edits = batch.map(newItem)
    const left = items.slice(written.length).map(({ name }) => name)
    const done = await commitItems(
      actor,
      vaultId,
      {
        check: (context) => check?.(context, left),
        plan: ({ dek }) => inOrder(edits, (edit) => planEdit(dek, undefined, edit)),
        send: (commit, call) => actor.client.items.import({ params: { vaultId }, body: { commit } }, call),
      },
      options,
    )
    written.push(...done.items)
    commits.push(done)
    onProgress?.(written.length, items.length)
  }
  return { items: written, commits }
}

function batchesOf(items: readonly NewItem[]): readonly (readonly NewItem[])[] {
  const batches: NewItem[][] = []
  let bytes = 0
  for (const item of items) {
    // A value travels as base64 of its padded form.
    const size = item.fields.reduce((sum, { value }) => sum + value.value.length * 1.5 + 600, 1000)
    const last = batches.at(-1)
    if (!last || last.length >= BATCH_ITEMS || bytes + size > BATCH_BYTES) {
      batches.push([item])
      bytes = size
    } else {
      last.push(item)
      bytes += size
    }
  }
  return batches
}
