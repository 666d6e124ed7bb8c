import {
  type CheckedKey,
  type DirectoryResponse,
  parseKid,
  principalOf,
  type VerifiedDirectory,
  verifyDirectory,
  verifyTransparency,
} from '@strongroom/protocol'
import type { Actor, CallerOptions } from './actor.ts'
import { listOf, membersOf, refuseUnless } from './answers.ts'
import { type Pins, readVerified } from './verified.ts'

// The keys of others. A vault key is wrapped for a key only after its chain of endorsements was walked to the pinned genesis: a
// server that names a key of its own is refused, and one that hides a key has its own log refuse the incomplete batch.

export type KeysByPrincipal = ReadonlyMap<string, readonly CheckedKey[]>

export interface KeysOptions extends CallerOptions {
  /** The vault whose key is to be wrapped for them: what is refused is evidence about it. */
  readonly vaultId?: string
  /**
   * Takes it that somebody has no key now, such as after a compromise, be it theirs or that of whoever vouched for them: the log takes no grant
   * for such a key either. A key that is hidden makes the log refuse the batch.
   */
  readonly mayLack?: boolean
  /** The one key they may have: it was made here, or compared, and the server chose the id that it stands under. */
  readonly only?: string | undefined
}

/** As many as one request names. */
const AT_ONCE = 40

/** The active keys of each principal, verified. Refuses with `unknown_signer` a principal without any, unless told. */
export async function keysOfAll(
  actor: Actor,
  principals: readonly string[],
  options: KeysOptions = {},
): Promise<KeysByPrincipal> {
  const wanted = [...new Set(principals)]
  const found = new Map<string, readonly CheckedKey[]>()
  for (let from = 0; from < wanted.length; from += AT_ONCE)
    for (const entry of await keysOf(actor, wanted.slice(from, from + AT_ONCE), options)) found.set(...entry)
  return found
}

const keysOf = (
  actor: Actor,
  principals: readonly string[],
  { vaultId, mayLack = false, only, ...options }: KeysOptions,
): Promise<KeysByPrincipal> =>
  readVerified(
    actor,
    {
      ...(vaultId !== undefined && { vaultId }),
      ask: (call) => actor.client.keys.directory({ query: { principals: principals.join() } }, call),
      check: async (answer, pins) => {
        const directory = await verifyDirectoryAnswer(actor, answer, pins)
        const kids = listOf(membersOf(answer, 'answer').kids, 'kids').map(String)
        const result = await activeKeys(directory, mayLack ? await soundIn(directory, kids) : kids, principals)
        if (!mayLack) ensureKeys(result)
        if (only !== undefined) ensureOnly(result, only)
        return { rounds: [{ directory, heads: [] }], result }
      },
    },
    options,
  )

/** Who of these people holds the cap `dir-admin` with an active key, by the verified log; nobody who has it, or their key, from a compromised one. */
export async function adminsAmong(
  actor: Actor,
  principals: readonly string[],
  options: CallerOptions = {},
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (let from = 0; from < principals.length; from += AT_ONCE)
    for (const admin of await adminsOf(actor, principals.slice(from, from + AT_ONCE), options)) found.add(admin)
  return found
}

const adminsOf = (actor: Actor, principals: readonly string[], options: CallerOptions): Promise<ReadonlySet<string>> =>
  readVerified(
    actor,
    {
      ask: (call) => actor.client.keys.directory({ query: { principals: principals.join() } }, call),
      check: async (answer, pins) => {
        // Read as by whoever reviews: one key that is in doubt keeps nobody from counting the others.
        const directory = await verifyDirectoryAnswer(asReviewer(actor), answer, pins)
        const kids = listOf(membersOf(answer, 'answer').kids, 'kids').map(String)
        const result = new Set<string>()
        for (const [principal, keys] of await activeKeys(directory, await soundIn(directory, kids), principals))
          for (const { kid } of keys) if (await isAdmin(directory, kid)) result.add(principal)
        return { rounds: [{ directory, heads: [] }], result }
      },
    },
    options,
  )

const isAdmin = async (directory: VerifiedDirectory, kid: string): Promise<boolean> =>
  (await directory.hasSoundCaps(kid)) && (await directory.capsAt(kid, directory.view.checkpoint.size)).has('dir-admin')

/** For an answer about the directory alone, of which nothing is kept that others read. */
export const asReviewer = (actor: Actor): Actor => ({ ...actor, policy: { ...actor.policy, isReviewing: true } })

export async function verifyDirectoryAnswer(actor: Actor, answer: unknown, pins: Pins): Promise<VerifiedDirectory> {
  const { genesis, policies, records, capSets, transparency } = membersOf(answer, 'answer')
  for (const [name, list] of Object.entries({ policies, records, capSets })) listOf(list, name)
  const freshness = { now: actor.now(), maxStaleMs: actor.policy.maxStaleMs }
  const view = await verifyTransparency(transparency, pins.log, freshness)
  const response = { genesis, policies, records, capSets } as DirectoryResponse
  return verifyDirectory(view, response, pins.org.genesis, actor.policy.isReviewing)
}

/** Without those that a compromised key vouched for and nobody has confirmed since (docs/reference/protocol.md 4.3). */
async function soundIn(directory: VerifiedDirectory, kids: readonly string[]): Promise<readonly string[]> {
  const sound: string[] = []
  for (const kid of kids) if (await directory.isUntainted(kid)) sound.push(kid)
  return sound
}

async function activeKeys(
  directory: VerifiedDirectory,
  kids: readonly string[],
  principals: readonly string[],
): Promise<KeysByPrincipal> {
  const keys = new Map<string, CheckedKey[]>(principals.map((principal) => [principal, []]))
  for (const kid of new Set(kids)) {
    parseKid(kid)
    const own = keys.get(principalOf(kid))
    refuseUnless(own, 'unknown_signer', 'the answer names a key of somebody who was not asked for', { kid })
    const { entry, key } = await directory.resolve(kid)
    if (entry.status === 'active') own.push(key)
  }
  return keys
}

function ensureKeys(keys: KeysByPrincipal): void {
  for (const [principal, own] of keys)
    refuseUnless(own.length > 0, 'unknown_signer', `${principal} has no active key in the directory`, { principal })
}

function ensureOnly(keys: KeysByPrincipal, only: string): void {
  for (const { kid } of [...keys.values()].flat())
    refuseUnless(kid === only, 'key_substitution', 'somebody has another key than the one that was introduced', { kid })
}
