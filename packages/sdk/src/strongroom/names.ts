import { ERRORS } from '@strongroom/contract'
import type { VerifiedHead } from '@strongroom/protocol'
import type { Actor, CallerOptions } from '../engine/actor.ts'
import { listVaults, readVault, type VerifiedVaultRead } from '../engine/vaults.ts'
import { AmbiguousReferenceError, NotFoundError } from './public-errors.ts'
import type { Session } from './session.ts'

// From names to ids. A list of the server only says where to look: a name counts once the thing itself was verified to have it.

const VAULT_ID = /^v[a-z2-7]{32}$/
export const isVaultId = (text: string): boolean => VAULT_ID.test(text)

export type AbsentCode = 'vault_not_found' | 'vault_item_not_found' | 'field_not_found' | 'project_not_found'

/** Absent, with names that are close to the one that was asked for. */
export function absent(code: AbsentCode, what: string, asked: string, known: readonly string[] = []): NotFoundError {
  const close = closest(asked, known)
  const hint = close.length > 0 ? `Did you mean ${close.join(', ')}?` : ERRORS[code].hint
  const body = { code, message: `there is no ${what} ${JSON.stringify(asked)}, or you are not given it`, hint }
  return new NotFoundError(body, ERRORS[code].status, undefined, {}, close)
}

const MOST_SUGGESTED = 3

function closest(asked: string, known: readonly string[]): readonly string[] {
  const wanted = asked.toLowerCase()
  return [...new Set(known)]
    .map((name) => ({ name, distance: distanceOf(wanted, name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(name.length / 3)))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MOST_SUGGESTED)
    .map(({ name }) => name)
}

/** How many letters to add, drop or change. */
function distanceOf(a: string, b: string): number {
  let before = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const change = (before[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(change, (before[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    before = row
  }
  return before[b.length] ?? 0
}

/** The one of several things that has this id or name. */
export function pick<T>(
  things: readonly T[],
  asked: string,
  { id, name, what, code }: { id(thing: T): string; name(thing: T): string; what: string; code: AbsentCode },
): T {
  const byId = things.find((thing) => id(thing) === asked)
  if (byId) return byId
  const named = things.filter((thing) => name(thing) === asked)
  const [only] = named
  if (only && named.length === 1) return only
  if (named.length > 1)
    throw new AmbiguousReferenceError(`several ${what}s are called ${JSON.stringify(asked)}`, named.map(id))
  throw absent(code, what, asked, things.map(name))
}

/** Where a name leads to before anything is verified: one vault, or a refusal. */
async function candidateFor(session: Session, actor: Actor, asked: string, options: CallerOptions): Promise<string> {
  const known = session.vaultIds.get(asked)
  if (known !== undefined) return known
  const listed = await listVaults(actor, options)
  const claimed = listed.filter((one) => one.claimed.name === asked && one.claimed.status === 'active')
  const [only] = claimed
  if (only && claimed.length === 1) return only.claimed.vaultId
  const verified: VerifiedVaultRead[] = []
  for (const one of claimed) verified.push(await one.verify(options))
  const active = verified.filter(({ status }) => status === 'active')
  if (active.length > 0) return pick(active, asked, VAULTS).vaultId
  const names = listed.map((one) => one.claimed.name)
  throw absent(
    'vault_not_found',
    'vault',
    asked,
    names.filter((name) => name !== asked),
  )
}

const VAULTS = {
  id: ({ vaultId }: VerifiedVaultRead) => vaultId,
  name: ({ name }: VerifiedVaultRead) => name,
  what: 'vault',
  code: 'vault_not_found',
} as const

const MAX_TRIES = 2

/**
 * Reads in the vault of this id or name. By name, what was read must be verified to be of an active vault with that name: a
 * name that has moved on since is looked up once more.
 */
export async function inVault<T extends { readonly head: VerifiedHead }>(
  { session, actor, options = {} }: Place,
  asked: string,
  read: (vaultId: string) => Promise<T>,
): Promise<T> {
  if (VAULT_ID.test(asked)) return read(asked)
  for (let tries = 1; ; tries += 1) {
    const vaultId = await candidateFor(session, actor, asked, options)
    const result = await read(vaultId)
    const { name, status } = result.head.payload.meta
    if (name === asked && status === 'active') {
      session.vaultIds.set(asked, vaultId)
      return result
    }
    session.vaultIds.delete(asked)
    if (tries >= MAX_TRIES) throw absent('vault_not_found', 'vault', asked)
  }
}

/** Whose names these are. */
export interface Place {
  readonly session: Session
  readonly actor: Actor
  readonly options?: CallerOptions
}

/** The id of a vault by its id or verified name. */
export async function vaultIdOf(place: Place, asked: string): Promise<string> {
  if (VAULT_ID.test(asked)) return asked
  return (await verifiedVault(place, asked)).vaultId
}

export const verifiedVault = (place: Place, asked: string): Promise<VerifiedVaultRead> =>
  inVault(place, asked, (vaultId) => readVault(place.actor, vaultId, place.options))
