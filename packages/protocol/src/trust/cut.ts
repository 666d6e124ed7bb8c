import type { OrgTrust, ProjectPinned, SignerPin, VaultPinned } from './store.ts'

// Section 9.4: what a store still knows when the log is cut at a size. What was committed before is in the part that is kept and
// stays pinned; what was committed after is forgotten, but for keys that ended and caps that were set: those are not given back.

/** The pins as they hold for the log of `keptSize` leaves and whatever follows it. There is no checkpoint among them yet. */
export function cutTrust({ policyHash, ...old }: OrgTrust, keptSize: number): OrgTrust {
  const isKept = ({ index }: { readonly index: number }): boolean => index < keptSize
  const policyIndexes = old.policyIndexes?.filter((index) => index < keptSize)
  return {
    ...old,
    checkpoint: null,
    minimum: old.minimum && old.minimum.size > keptSize ? null : old.minimum,
    policyVersion: Math.min(old.policyVersion, policyIndexes?.length ?? 0),
    ...(policyIndexes && { policyIndexes }),
    ...(policyHash && policyIndexes?.length === old.policyIndexes?.length && { policyHash }),
    ...(old.recoveries && { recoveries: old.recoveries.filter(isKept) }),
    signers: mapKept(old.signers, (pin) => cutSigner(pin, keptSize)),
    vaults: mapKept(old.vaults, (pin) => cutVault(pin, keptSize)),
    projects: mapKept(old.projects, (pin) => cutProject(pin, keptSize)),
  }
}

function mapKept<T>(pins: Readonly<Record<string, T>>, cut: (pin: T) => T | undefined): Readonly<Record<string, T>> {
  const kept: Record<string, T> = {}
  for (const [name, pin] of Object.entries(pins)) {
    const left = cut(pin)
    if (left) kept[name] = left
  }
  return kept
}

/** An active key of the part that is gone is learned anew, should it come again; the principal remembers its kid. */
function cutSigner(pin: SignerPin, keptSize: number): SignerPin | undefined {
  if (pin.lastIndex < keptSize) return pin
  if (pin.status === 'active' && pin.firstIndex >= keptSize) return undefined
  return { ...pin, lastIndex: keptSize - 1, cut: Math.min(pin.cut ?? keptSize, keptSize) }
}

/** The admin chain as far as it is kept; undefined for what was created later. */
function cutChain<T extends VaultPinned | ProjectPinned>(pin: T, keptSize: number): T | undefined {
  const chain = pin.chain?.filter(({ index }) => index < keptSize) ?? []
  const last = chain.at(-1)
  return last && { ...pin, chain, adminsHash: last.hash, size: keptSize }
}

function cutVault(pin: VaultPinned, keptSize: number): VaultPinned | undefined {
  const left = pin.size > keptSize ? cutChain(pin, keptSize) : pin
  const { at } = pin
  if (left === pin || !left || !at) return left === pin ? pin : undefined
  const { aclHash, ...parts } = left
  return {
    ...parts,
    ...(aclHash && at.acl < keptSize && { aclHash }),
    admins: left.adminsHash === pin.adminsHash ? pin.admins : [],
    ...(at.head >= keptSize && { headVersion: 0, headHash: '' }),
    ...(at.epoch >= keptSize && { dekVersion: 0, dekCommit: '' }),
    ...(at.acl >= keptSize && { aclVersion: 0 }),
  }
}

function cutProject(pin: ProjectPinned, keptSize: number): ProjectPinned | undefined {
  if (pin.size <= keptSize) return pin
  const left = cutChain(pin, keptSize)
  return left && (pin.at ?? keptSize) >= keptSize ? { ...left, projectVersion: 0, docHash: '' } : left
}
