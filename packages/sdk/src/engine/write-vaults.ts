import {
  type AclEntry,
  buildCommit,
  type CheckedKey,
  type Commit,
  createVault as makeVault,
  termsOf,
  type VaultHeadPayload,
} from '@strongroom/protocol'
import type { CallOptions } from '../client.ts'
import type { Actor, CallerOptions } from './actor.ts'
import { type Committed, checkReceipts, commitWork } from './commit.ts'
import { type KeysOptions, keysOfAll } from './directory.ts'
import type { KnownVault } from './memory.ts'
import { sendUntilAnswered } from './send.ts'
import { readVerified } from './verified.ts'

type Meta = VaultHeadPayload['meta']

export interface NewVault {
  readonly name: string
  readonly classification?: Meta['classification']
  /** Others who get the key at once; the actor is an admin in any case. */
  readonly access?: readonly AclEntry[]
}

export interface CreatedVault extends Committed {
  readonly vaultId: string
}

/** A vault with its first access list and its first key, which everybody on the list gets. */
export async function createVault(
  actor: Actor,
  { name, classification = 'confidential', access = [] }: NewVault,
  options: CallerOptions = {},
): Promise<CreatedVault> {
  const own = actor.identity.key.principal
  const acl: AclEntry[] = [{ p: own, role: 'admin' }, ...access.filter(({ p }) => p !== own)]
  const recipients = await recipientsOf(actor, acl, options)
  const meta: Meta = { name, classification, status: 'active' }
  const made = await makeVault({ org: actor.org, meta, acl, recipients, at: actor.now() }, actor.identity)
  const { vaultId, commit, content, dek } = made
  const idempotencyKey = crypto.randomUUID()
  const send = (sent: CallOptions): Promise<unknown> => actor.client.vaults.create({ body: { commit } }, sent)
  const { committed } = await readVerified(
    actor,
    {
      vaultId,
      isWrite: true,
      ask: (call) => sendUntilAnswered(actor, { vaultIds: [vaultId], idempotencyKey, call, send }),
      check: (answer, pins) => checkReceipts(actor, [vaultId], [made], [answer], pins),
    },
    options,
  )
  const [first] = committed as readonly [Committed]
  actor.memory.keepKeys(vaultId, new Map([[dek.dekVersion, dek]]))
  if (first.head.payload.headVersion === 1) actor.memory.keepVault({ head: first.head, content })
  return { ...first, vaultId }
}

/** Every active key of everybody on the list, the actor's own other devices included. */
export async function recipientsOf(
  actor: Actor,
  acl: readonly AclEntry[],
  options: KeysOptions,
): Promise<readonly CheckedKey[]> {
  const keys = await keysOfAll(
    actor,
    acl.map(({ p }) => p),
    options,
  )
  return [...keys.values()].flat()
}

/** Gives a vault another name or classification. Of two renames at once the later one holds. */
export const renameVault = (
  actor: Actor,
  vaultId: string,
  meta: Partial<Pick<Meta, 'name' | 'classification'>>,
  options: CallerOptions = {},
): Promise<Committed> =>
  changeMeta(actor, vaultId, meta, options, (commit, call) =>
    actor.client.vaults.update({ params: { id: vaultId }, body: { commit } }, call),
  )

/** Puts a vault away: it can be read as before, and not changed until it is restored. */
export const archiveVault = (actor: Actor, vaultId: string, options: CallerOptions = {}): Promise<Committed> =>
  changeMeta(actor, vaultId, { status: 'archived' }, options, (commit, call) =>
    actor.client.vaults.archive({ params: { vaultId }, body: { commit } }, call),
  )

/** Makes an archived vault active again, as it was. */
export const restoreVault = (actor: Actor, vaultId: string, options: CallerOptions = {}): Promise<Committed> =>
  changeMeta(actor, vaultId, { status: 'active' }, options, (commit, call) =>
    actor.client.vaults.restore({ params: { vaultId }, body: { commit } }, call),
  )

async function changeMeta(
  actor: Actor,
  vaultId: string,
  meta: Partial<Meta>,
  options: CallerOptions,
  send: (commit: Commit, call: CallOptions) => Promise<unknown>,
): Promise<Committed> {
  const build = async ([known]: readonly KnownVault[]) => {
    const { head, content } = known as KnownVault
    const terms = { ...termsOf(head.payload), meta: { ...head.payload.meta, ...meta } }
    const input = { org: actor.org, vaultId, base: head, content, terms, at: actor.now() }
    return [await buildCommit(input, actor.identity)]
  }
  const work = { build, send: ([commit]: readonly Commit[], call: CallOptions) => send(commit as Commit, call) }
  const { committed } = await commitWork(actor, [vaultId], work, options)
  return committed[0] as Committed
}
