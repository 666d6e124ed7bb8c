import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '../../src/encoding/canonical.ts'
import { documentHash, type Envelope } from '../../src/identity/document.ts'
import type { LeafType } from '../../src/transition/transition.ts'
import type { PatchStep } from '../../test/everywhere/vectors-notation.ts'
import { openWorld, type World } from '../../test/world/world.ts'
import { type Chronicle, openChronicle } from './chronicle.ts'
import { withFixedRandomness } from './fixed-randomness.ts'
import type { Desk } from './vault-desk.ts'

// The small organisation of the tests, the same one however often it is opened.

export const fixedWorld = (): Promise<World> => withFixedRandomness('strongroom world', openWorld)

/** The documents that would come next in the production vault of a world. */
export async function deskOf(world: World, vaultId = world.prod): Promise<Desk> {
  const chronicle: Chronicle = await openChronicle(world.host)
  const dek = world.vaults.get(vaultId)?.dek
  if (!dek) throw new Error('there is no such vault')
  return { ...chronicle, vaultId, dek }
}

export interface Lie {
  readonly t?: LeafType
  readonly docs?: readonly Envelope[]
  readonly updates: readonly { readonly name: string; readonly state: object }[]
}

/** The server logs states that follow from no document, or from documents that nobody was entitled to sign. */
export function lie(world: World, { t = 'vault.commit', docs = [], updates }: Lie): void {
  const applied = {
    t,
    d: docs.map(documentHash).sort(),
    updates: updates.map(({ name, state }) => ({ name, state: state as JsonObject })),
  }
  world.host.appendFalse(applied, docs, world.now)
}

type Container = Readonly<Record<string, unknown>>
const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null
const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

/** RFC 6902: what turns one answer into another. Lists of another length are replaced as a whole. */
export function patchBetween(from: unknown, to: unknown, path = ''): PatchStep[] {
  if (isDeepStrictEqual(from, to)) return []
  const alike = isContainer(from) && isContainer(to) && Array.isArray(from) === Array.isArray(to)
  if (!alike || (Array.isArray(from) && from.length !== (to as unknown as unknown[]).length))
    return [{ op: 'replace', path, value: to }]
  const steps: PatchStep[] = []
  for (const key of [...new Set([...Object.keys(from), ...Object.keys(to)])].sort()) {
    const at = `${path}/${escapeKey(key)}`
    if (!(key in to)) steps.push({ op: 'remove', path: at })
    else if (!(key in from)) steps.push({ op: 'add', path: at, value: to[key] })
    else steps.push(...patchBetween(from[key], to[key], at))
  }
  return steps
}
