import { ensure } from '../errors.ts'
import { isLive, type KidState } from '../log/state.ts'
import { countAdmins, type DirectoryKey, type DirectorySource, isPrivileged } from './caps.ts'

// Section 4.4, carried to those a compromised key vouched for: whoever held it could have endorsed keys of his own. Such a
// key counts again once the quorum has signed a caps.set for it, or for one between the two, after the compromised key ended.

interface Confirmation {
  readonly kid: string
  readonly index: number
  readonly docHash: string
}

/** Walks from a key to the genesis and refuses at a compromised voucher that nobody has confirmed since. */
export async function ensureUntainted(source: DirectorySource, kid: string): Promise<void> {
  const confirmations: Confirmation[] = []
  let found: DirectoryKey | undefined = await source.resolve(kid)
  while (found) {
    const { entry } = found
    confirmations.push(...entry.capSets.map((set) => ({ ...set, kid: entry.kid })))
    const since = await compromisedSince(source, found)
    if (since !== null) await ensureConfirmed(source, confirmations, { kid, since })
    found = await predecessor(source, found)
  }
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

/** The leaf from which on a confirmation counts; null where nobody compromised was needed. */
async function compromisedSince(source: DirectorySource, found: DirectoryKey): Promise<number | null> {
  const ends: number[] = []
  for (const voucher of found.vouchers) {
    const { entry } = await source.resolve(voucher)
    if (entry.status === 'compromised') ends.push(entry.end ?? 0)
  }
  if (ends.length === 0) return null
  const { added } = found.entry
  const quorum = await quorumFor(source, found)
  const sound = quorum !== null && (await countAdmins(source, found.vouchers, added, isSound)) >= quorum
  return sound ? null : Math.max(...ends)
}

/** How many had to vouch; null where it was one key. */
async function quorumFor(source: DirectorySource, { entry, record }: DirectoryKey): Promise<number | null> {
  if (record.t === 'key.recover') return (await source.policyAt(entry.added)).recoverQuorum
  if (record.t === 'key.add' && isPrivileged(record)) return (await source.policyAt(entry.added)).dirQuorum
  return null
}

/** Live then, and not found to be compromised since. */
export const isSound = (entry: KidState, index: number): boolean =>
  isLive(entry, index) && entry.status !== 'compromised'

async function ensureConfirmed(
  source: DirectorySource,
  confirmations: readonly Confirmation[],
  { kid, since }: { kid: string; since: number },
): Promise<void> {
  const confirmed = confirmations.find(({ index }) => index >= since)
  ensure(confirmed, 'signer_compromised', 'a key was vouched for by a compromised key', { kid })
  // The state only names the document; the signatures of the quorum are what confirms.
  await source.capsDocument(confirmed.docHash, confirmed.kid, confirmed.index)
}
