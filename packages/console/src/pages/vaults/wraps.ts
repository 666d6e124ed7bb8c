import { documentHash, ProtocolError, peekDocument, wrappedDek } from '@strongroom/protocol'
import type { Strongroom } from '@strongroom/sdk'
import { isNoAccess } from '../../queries.ts'
import type { OpenSession } from '../../session/session.ts'
import { type ProvenEntry, wholeLog } from '../transparency/queries.ts'
import { checked } from '../transparency/refusal.ts'

// Since when each key opens a vault, and who wrapped the vault key for it. The log says when and names the wrap by its hash; the wrap
// says who made it. To read one takes the permission for ciphertexts and leaves a trace, so that is done when somebody asks.

export interface Wrap {
  readonly since: Date | undefined
  /** The key of whoever wrapped it; undefined for who may not read wraps. */
  readonly by: string | undefined
}

type Asking = Pick<OpenSession, 'client' | 'person'> & { readonly strongroom: Strongroom }

/** Who made a wrap that an entry of the log names. */
async function maker({ client, person }: Asking, hash: string, entry: ProvenEntry | undefined, signal: AbortSignal) {
  try {
    const { document } = await client.transparency.document({ params: { hash } }, { signal })
    return await checked({ orgId: person.orgId, answer: { hash, document } }, () => {
      if (documentHash(document) !== hash || !entry?.documents.includes(hash))
        throw new ProtocolError('stale_wrapped_dek', 'a wrapped key is not the one that the log names')
      return peekDocument(wrappedDek, document).payload.by
    })
  } catch (error) {
    if (isNoAccess(error)) return undefined
    throw error
  }
}

/** By key id: from the whole log, which is verified for it, so that nobody can leave a grant out. */
export async function wrapsOf(
  asking: Asking,
  vaultId: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Wrap>> {
  const [{ entries }, { data }] = await Promise.all([
    wholeLog(asking, signal),
    asking.client.keys.wrapped({ params: { vaultId } }, { signal }),
  ])
  const newest = new Map<string, (typeof data)[number]>()
  for (const one of data) {
    const known = newest.get(one.kid)
    if (!known || known.dekVersion < one.dekVersion) newest.set(one.kid, one)
  }
  const wraps = new Map<string, Wrap>()
  for (const [kid, { dekVersion, wrapHash }] of newest) {
    const first = entries.find(({ subjects }) => subjects.some((name) => name.startsWith(`grant/${vaultId}/${kid}/`)))
    const current = entries.findLast(({ subjects }) => subjects.includes(`grant/${vaultId}/${kid}/${dekVersion}`))
    wraps.set(kid, { since: first?.at, by: await maker(asking, wrapHash, current, signal) })
  }
  return wraps
}
