import { ERRORS } from '@strongroom/contract'
import type { VerifiedHead } from '@strongroom/protocol'
import type { Actor, CallerOptions } from '../engine/actor.ts'
import { NotCachedError } from '../engine/engine-errors.ts'
import { dropVaultHint, keepVaultHint, vaultHint } from '../engine/hints.ts'
import { mapLimited } from '../engine/queue.ts'
import { listVaults, readVault, type VerifiedVaultRead } from '../engine/vaults.ts'
import { ApiError } from '../errors.ts'
import { AmbiguousReferenceError, NotFoundError } from './public-errors.ts'
import type { Session } from './session.ts'

// From names to ids. A list of the server only says where to look: a name counts once the thing itself was verified to have it.

const VAULT_ID = /^v[a-z2-7]{32}$/
export const isVaultId = (text: string): boolean => VAULT_ID.test(text)

// A list and not only a type: what is published brings along the codes that are named in a file which looks codes up.
const ABSENT_CODES = ['vault_not_found', 'vault_item_not_found', 'field_not_found', 'project_not_found'] as const
export type AbsentCode = (typeof ABSENT_CODES)[number]

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
  // Another client may have written it in other code points.
  const named = things.filter((thing) => name(thing).normalize() === asked.normalize())
  const [only] = named
  if (only && named.length === 1) return only
  if (named.length > 1)
    throw new AmbiguousReferenceError(`several ${what}s are called ${JSON.stringify(asked)}`, named.map(id))
  throw absent(code, what, asked, things.map(name))
}

/** Where a name leads to before anything is verified: one vault, or a refusal. */
async function candidateFor({ session, actor, options, isOffline }: Place, asked: string): Promise<string> {
  const known = session.vaultIds.get(asked) ?? (await vaultHint(actor, asked))
  if (known !== undefined) return known
  if (isOffline) throw new NotCachedError(asked)
  const listed = await listVaults(actor, options)
  const claimed = listed.filter(({ claimed }) => claimed.name === asked && claimed.status === 'active')
  const [only] = claimed
  if (only && listed.length === 1) return only.claimed.vaultId
  // Whoever gives the list also says the names in it, and could so hide that another vault has this one: all are asked themselves.
  const asking = listed.length <= MOST_VERIFIED ? listed : claimed
  const verified = await mapLimited(asking, AT_ONCE, (one) => orAbsent(one.verify(options), one.claimed.name !== asked))
  const active = verified.flatMap((one) => (one?.status === 'active' && one.name === asked ? [one] : []))
  if (active.length > 0) return pick(active, asked, VAULTS).vaultId
  const others = listed.flatMap(({ claimed }) => (claimed.name === asked ? [] : claimed.name))
  throw absent('vault_not_found', 'vault', asked, others)
}

/** For who has more vaults than this, only those that the list calls so: use ids there, or believe the list. */
const MOST_VERIFIED = 32
const AT_ONCE = 8

/**
 * Undefined for a vault that is gone, or not the caller's; and where it `isOther` than the one that is looked for, as its list says, for
 * one that nobody can read: who has compromised it shall not keep others from theirs.
 */
export const orAbsent = <T>(read: Promise<T>, isOther?: boolean): Promise<T | undefined> =>
  read.catch((error) => {
    if (isAbsentVault(error) || (isOther && error.code === 'signer_compromised')) return undefined
    throw error
  })

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
  place: Place,
  given: string,
  read: (vaultId: string) => Promise<T>,
): Promise<T> {
  if (VAULT_ID.test(given)) return read(given)
  const { session, actor } = place
  const asked = given.normalize()
  for (let tries = 1; ; tries += 1) {
    const vaultId = await candidateFor(place, asked)
    const result = await read(vaultId).catch((error: unknown) => {
      if (tries < MAX_TRIES && isAbsentVault(error)) return undefined
      throw error
    })
    const { name, status } = result?.head.payload.meta ?? {}
    if (result && name === asked && status === 'active') {
      if (session.vaultIds.get(asked) !== vaultId) await keepVaultHint(actor, asked, vaultId)
      session.vaultIds.set(asked, vaultId)
      return result
    }
    session.vaultIds.delete(asked)
    await dropVaultHint(actor, asked)
    if (tries >= MAX_TRIES) throw absent('vault_not_found', 'vault', asked)
  }
}

/** The vault that a name led to is gone, or no longer the caller's; another one may have the name now. */
const isAbsentVault = (error: unknown): boolean => error instanceof ApiError && error.code === 'vault_not_found'

/** Whose names these are. */
export interface Place {
  readonly session: Session
  readonly actor: Actor
  readonly options?: CallerOptions
  /** Nothing may be asked: names lead where they led last. */
  readonly isOffline?: boolean
}

/** The id of a vault by its id or verified name. */
export async function vaultIdOf(place: Place, asked: string): Promise<string> {
  if (VAULT_ID.test(asked)) return asked
  return (await verifiedVault(place, asked)).vaultId
}

/** The id of an archived vault: names lead to active ones, so the archived ones are asked for theirs. */
export async function archivedVaultId({ actor, options }: Place, given: string): Promise<string> {
  if (VAULT_ID.test(given)) return given
  const asked = given.normalize()
  const listed = await listVaults(actor, options)
  const claimed = listed.filter((one) => one.claimed.status === 'archived' && one.claimed.name === asked)
  const verified = await mapLimited(claimed, AT_ONCE, (one) => orAbsent(one.verify(options)))
  const archived = verified.flatMap((one) => (one?.status === 'archived' ? [one] : []))
  return pick(archived, asked, { ...VAULTS, what: 'archived vault' }).vaultId
}

export const verifiedVault = (place: Place, asked: string): Promise<VerifiedVaultRead> =>
  inVault(place, asked, (vaultId) => readVault(place.actor, vaultId, place.options))
