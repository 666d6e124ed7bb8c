import { EMPTY_CONTENT, type VaultContent, type VerifiedHead } from '@strongroom/protocol'
import { rotateVaultKey } from '../engine/access.ts'
import { listOf, membersOf, verifySigned } from '../engine/answers.ts'
import { attestVault, reviewing, reviewVault, type Unsound } from '../engine/attest.ts'
import { loadVault, verifyMaterial } from '../engine/content.ts'
import type { KnownVault } from '../engine/memory.ts'
import { reencrypt } from '../engine/reencrypt.ts'
import { type Round, readVerified, roundOf } from '../engine/verified.ts'
import { archiveVault, createVault, renameVault, restoreVault } from '../engine/write-vaults.ts'
import { ApiError } from '../errors.ts'
import type { KeyedPlace } from './core.ts'
import { ensureReturning, ensureVaultName } from './given-names.ts'
import { archivedVaultId, vaultIdOf } from './names.ts'
import { baseOf, headsAt, keepHeads } from './sync-bases.ts'
import { getVault, roleOf } from './vault-reads.ts'
import type { Classification, NewVault, RotateVaultKey, SyncedVault, SyncPayload, Vault } from './vaults.ts'

// What changes vaults, and what brings them all over.

type Progress = Pick<RotateVaultKey, 'onProgress'>

export async function create(
  place: KeyedPlace,
  { name: given, classification, access = [] }: NewVault,
): Promise<Vault> {
  const name = given.normalize()
  await ensureVaultName(place, name)
  const others = access.map(({ principal, role }) => ({ p: principal, role: roleOf(role) }))
  const made = { name, ...(classification && { classification }), access: others }
  return getVault(place, (await createVault(place.actor, made, place.options)).vaultId)
}

export async function update(
  place: KeyedPlace,
  vault: string,
  wanted: { readonly name?: string; readonly classification?: Classification },
): Promise<Vault> {
  const vaultId = await vaultIdOf(place, vault)
  const change = wanted.name === undefined ? wanted : { ...wanted, name: wanted.name.normalize() }
  if (change.name !== undefined) await ensureVaultName(place, change.name, vaultId)
  const now = await getVault(place, vaultId)
  const { name = now.name, classification = now.classification } = change
  if (name === now.name && classification === now.classification) return now
  await renameVault(place.actor, vaultId, change, place.options)
  return getVault(place, vaultId)
}

export async function archive(place: KeyedPlace, vault: string): Promise<void> {
  await archiveVault(place.actor, await vaultIdOf(place, vault), place.options)
}

export async function restore(place: KeyedPlace, vault: string): Promise<Vault> {
  const vaultId = await archivedVaultId(place, vault)
  await ensureReturning(place, vaultId)
  await restoreVault(place.actor, vaultId, place.options)
  return getVault(place, vaultId)
}

export async function rotateKey(
  place: KeyedPlace,
  vault: string,
  { reason, ...more }: RotateVaultKey = {},
): Promise<{ readonly items: number; readonly fields: number; readonly attachments: number }> {
  const { actor, options } = place
  const vaultId = await vaultIdOf(place, vault)
  await rotateVaultKey(actor, vaultId, { ...options, ...(reason && { reason }) })
  return reencryptAll(place, vaultId, more)
}

export async function reencryptAll(
  place: KeyedPlace,
  vault: string,
  { onProgress }: Progress = {},
): Promise<{ readonly items: number; readonly fields: number; readonly attachments: number }> {
  const more = { ...place.options, ...(onProgress && { onProgress }) }
  const { items, fields, attachments } = await reencrypt(place.actor, await vaultIdOf(place, vault), more)
  return { items, fields, attachments }
}

/** By id or name: a name is that of a vault which nobody else can read now. */
const reviewedId = (place: KeyedPlace, vault: string): Promise<string> =>
  vaultIdOf({ ...place, actor: reviewing(place.actor) }, vault)

export const review = async (place: KeyedPlace, vault: string, { onProgress }: Progress = {}): Promise<Unsound> =>
  reviewVault(place.actor, await reviewedId(place, vault), { ...place.options, onProgress })

export const attest = async (place: KeyedPlace, reviewed: Unsound, { onProgress }: Progress = {}): Promise<Unsound> =>
  attestVault(place.actor, reviewed, { ...place.options, onProgress })

const syncedVault = (head: VerifiedHead, content: VaultContent): SyncedVault => {
  const active = [...content.items.values()].filter(({ status }) => status === 'active')
  const { name, status } = head.payload.meta
  return {
    vaultId: head.vault.vaultId,
    name,
    status,
    headVersion: head.payload.headVersion,
    items: new Map(active.map((row) => [row.itemId, { name: row.name, version: row.itemVersion }])),
  }
}

/** A vault of an answer: verified as a whole, or, where this client has nothing to put the changes on, by its head alone. */
type Brought = KnownVault | { readonly missing: string }

interface Answered {
  readonly payload: Omit<SyncPayload, 'vaults'>
  readonly brought: readonly Brought[]
}

/** Every vault of the answer is verified, on top of what was synced before where it brings only what changed. */
const ask = ({ actor, options }: KeyedPlace, since: string | undefined): Promise<Answered> =>
  readVerified(
    actor,
    {
      ask: (call) => actor.client.sync.sync({ query: since === undefined ? {} : { cursor: since } }, call),
      check: async (answer, pins) => {
        const { cursor, full, removed, vaults } = membersOf(answer, 'answer')
        const heads = headsAt(actor.memory, since)
        const rounds: Round[] = []
        const brought: Brought[] = []
        for (const candidate of listOf(vaults, 'vaults')) {
          const { signed, items, gone, assets, complete } = membersOf(candidate, 'vault')
          const vaultId = String(membersOf(signed, 'signed').vaultId)
          const head = await verifySigned(signed, vaultId, pins.vault(vaultId))
          const content = complete === true ? EMPTY_CONTENT : baseOf(actor.memory, heads, head)
          const material = { signed, changed: items, gone, assets }
          const known = content && (await verifyMaterial(actor, { head, content }, material, pins, new Set()))
          rounds.push(roundOf(known?.head ?? head))
          brought.push(known ?? { missing: vaultId })
        }
        const payload = {
          cursor: String(cursor),
          isFull: full === true,
          removed: listOf(removed, 'removed').map(String),
        }
        return { rounds, result: { payload, brought } }
      },
    },
    options,
  )

/** A caller who may only sync, or whose access has just ended. */
const cannotRead = (error: unknown): boolean => error instanceof ApiError && [403, 404].includes(error.status)

export async function sync(place: KeyedPlace, since: string | undefined): Promise<SyncPayload> {
  const { actor, options } = place
  const { payload, brought } = await ask(place, since)
  const vaults: KnownVault[] = []
  try {
    for (const one of brought) vaults.push('missing' in one ? await loadVault(actor, one.missing, options) : one)
  } catch (error) {
    if (since === undefined || !cannotRead(error)) throw error
    return sync(place, undefined)
  }
  const heads = new Map(payload.isFull ? [] : headsAt(actor.memory, since))
  for (const vaultId of payload.removed) heads.delete(vaultId)
  for (const known of vaults) {
    actor.memory.keepVault(known)
    heads.set(known.head.vault.vaultId, known.head.payload.headVersion)
  }
  keepHeads(actor.memory, payload.cursor, heads)
  return { ...payload, vaults: vaults.map(({ head, content }) => syncedVault(head, content)) }
}
