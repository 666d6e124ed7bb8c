import { ensure } from '../errors.ts'
import { isLive, type KidState } from '../log/state.ts'
import { countAdmins, type DirectoryKey, type DirectorySource, isPrivileged } from './caps.ts'

// Section 4.3, step 6: what 4.4 says of a compromised key, carried to those it vouched for. Whoever held it could have endorsed keys of
// his own. Such a key counts again once the quorum has signed a caps.set for it, or for one between the two, after the compromised key
// ended.

interface Confirmation {
  readonly kid: string
  readonly index: number
  readonly docHash: string
}

/** The end of the compromised key that stands behind a key unconfirmed, by key; null where none does. */
type Known = Map<string, Promise<number | null>>

/** Walks from a key to the genesis and stops at a compromised voucher that nobody has confirmed since. */
export const isUntainted = async (source: DirectorySource, kid: string): Promise<boolean> =>
  (await taintedSince(source, kid, new Map())) === null

export async function ensureUntainted(source: DirectorySource, kid: string): Promise<void> {
  ensure(await isUntainted(source, kid), 'signer_compromised', 'a key was vouched for by a compromised key', { kid })
}

function taintedSince(source: DirectorySource, kid: string, known: Known): Promise<number | null> {
  const found = known.get(kid) ?? walk(source, kid, known)
  known.set(kid, found)
  return found
}

async function walk(source: DirectorySource, kid: string, known: Known): Promise<number | null> {
  const confirmations: Confirmation[] = []
  let found: DirectoryKey | undefined = await source.resolve(kid)
  while (found) {
    const { entry } = found
    confirmations.push(...entry.capSets.map((set) => ({ ...set, kid: entry.kid })))
    const since = await unsoundSince(source, found, known)
    if (since !== null && !(await isConfirmed(source, confirmations, since))) return since
    found = await predecessor(source, found)
  }
  return null
}

/** Strictly older than the key itself, so the walk ends. A recovery is vouched for by a quorum and not by one key. */
async function predecessor(source: DirectorySource, { record }: DirectoryKey): Promise<DirectoryKey | undefined> {
  switch (record.t) {
    case 'key.add':
      return source.resolve(record.by)
    case 'key.rotate':
      return source.resolve(record.oldKid)
    default:
      return undefined
  }
}

/** The leaf from which on a confirmation counts; null where nobody unsound was needed. */
async function unsoundSince(source: DirectorySource, found: DirectoryKey, known: Known): Promise<number | null> {
  const { record, entry, vouchers } = found
  // Where one key vouched, the walk goes on to it; of a quorum each is looked at here, or it could be made of keys that do not count.
  const isByQuorum = record.t === 'key.recover' || (record.t === 'key.add' && isPrivileged(record))
  const ends: number[] = []
  const sound: string[] = []
  for (const voucher of vouchers) {
    const { status, end } = (await source.resolve(voucher)).entry
    const behind = () => (isByQuorum ? taintedSince(source, voucher, known) : null)
    const since = status === 'compromised' ? (end ?? 0) : await behind()
    if (since === null) sound.push(voucher)
    else ends.push(since)
  }
  if (ends.length === 0) return null
  if (isByQuorum) {
    const { recoverQuorum, dirQuorum } = await source.policyAt(entry.added)
    const needed = record.t === 'key.recover' ? recoverQuorum : dirQuorum
    if ((await countAdmins(source, sound, entry.added, isLive)) >= needed) return null
  }
  return Math.max(...ends)
}

/** Live then, and not found to be compromised since. */
export const isSound = (entry: KidState, index: number): boolean =>
  isLive(entry, index) && entry.status !== 'compromised'

async function isConfirmed(
  source: DirectorySource,
  confirmations: readonly Confirmation[],
  since: number,
): Promise<boolean> {
  const confirmed = confirmations.find(({ index }) => index >= since)
  // The state only names the document; the signatures of the quorum are what confirms.
  if (confirmed) await source.capsDocument(confirmed.docHash, confirmed.kid, confirmed.index)
  return confirmed !== undefined
}
