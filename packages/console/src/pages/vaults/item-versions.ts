import { documentHash, ProtocolError, peekDocument, type VaultHeadPayload, vaultHead } from '@strongroom/protocol'
import type { Receipt } from '@strongroom/sdk'
import { infiniteQueryOptions } from '@tanstack/react-query'
import type { OpenSession } from '../../session/session.ts'
import { checked } from '../transparency/refusal.ts'

// Every version of a vault names the one before it by its hash. So from the version that was verified the way back is proven, and
// each of them says which items it brought, when, and whose key signed it. What the items held then is in item-version.ts.

export interface ItemVersion {
  readonly version: number
  readonly at: Date
  /** The key that signed it. */
  readonly by: string
  readonly headVersion: number
  /** How many other items changed with it. */
  readonly others: number
  readonly hasFile: boolean
}

interface HistoryPage {
  /** Newest first. */
  readonly versions: readonly ItemVersion[]
  /** The hash to go on from; undefined where the item, or the vault, began. */
  readonly next: string | undefined
}

type Asking = Pick<OpenSession, 'client' | 'person'>

/** The version of a vault that has this hash, or a refusal. */
async function headAt({ client, person }: Asking, hash: string, signal: AbortSignal): Promise<VaultHeadPayload> {
  const { document } = await client.transparency.document({ params: { hash } }, { signal })
  return checked({ orgId: person.orgId, answer: { hash, document } }, () => {
    if (documentHash(document) !== hash)
      throw new ProtocolError('head_mismatch', 'an earlier version of the vault is not the one that the next one names')
    return peekDocument(vaultHead, document).payload
  })
}

function versionIn({ changes, at, by, headVersion }: VaultHeadPayload, itemId: string): ItemVersion | undefined {
  const own = changes.find(({ op, id }) => op === 'put' && id === itemId)
  if (!own) return undefined
  const others = changes.filter(({ op }) => op === 'put').length - 1
  const hasFile = changes.some(({ op }) => op === 'asset')
  return { version: own.version, at: new Date(at), by, headVersion, others, hasFile }
}

/** So many versions of the vault are looked at before the page asks whether to go on. */
const LOOKED_AT = 60

async function readBack(asking: Asking, itemId: string, from: string, signal: AbortSignal): Promise<HistoryPage> {
  const versions: ItemVersion[] = []
  let hash = from
  for (let looked = 0; looked < LOOKED_AT && hash !== ''; looked += 1) {
    const head = await headAt(asking, hash, signal)
    const version = versionIn(head, itemId)
    if (version) versions.push(version)
    hash = version?.version === 1 ? '' : head.prev
  }
  return { versions, next: hash === '' ? undefined : hash }
}

/** The versions of an item, back from the vault as it was verified. */
export const itemHistoryQuery = (asking: Asking, { vaultId, headHash }: Receipt, itemId: string) =>
  infiniteQueryOptions({
    queryKey: ['vault', vaultId, 'items', itemId, 'history', headHash],
    // What has happened does not change.
    staleTime: Number.POSITIVE_INFINITY,
    initialPageParam: headHash,
    queryFn: ({ pageParam, signal }) => readBack(asking, itemId, pageParam, signal),
    getNextPageParam: ({ next }) => next,
  })
