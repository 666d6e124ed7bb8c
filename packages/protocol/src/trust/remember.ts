import type { DirectoryKey } from '../directory/caps.ts'
import type { VerifiedDirectory } from '../directory/resolve.ts'
import { equalBytes } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'
import { principalOf } from '../identity/identifiers.ts'
import { peekCheckpoint } from '../log/checkpoint.ts'
import { POLICY_NAME, policyState } from '../log/state.ts'
import { stateOf } from '../log/transparency.ts'
import { currentAdmins } from '../vault/authority.ts'
import type { VerifiedProject } from '../vault/project.ts'
import type { VerifiedHead } from '../vault/vault.ts'
import { MAX_KIDS, type OrgTrust, orgTrustOf, type PrincipalPin, type SignerPin, type TrustStore } from './store.ts'

// Section 9.1: old store + verified read → new store, or a refusal that leaves the old one as it is.

/** Legitimate, but people should hear of it. */
export interface Notice {
  readonly code:
    | 'recovery_discontinuity'
    | 'new_admin'
    | 'new_endorser'
    | 'policy_changed'
    | 'rotation_due'
    | 'no_witness'
  readonly subject: string
}

export interface VerifiedRound {
  readonly directory: VerifiedDirectory
  readonly heads: readonly VerifiedHead[]
  readonly projects?: readonly VerifiedProject[]
  readonly now: number
  /** New keys of known principals that a person has confirmed out of band. */
  readonly confirmed?: ReadonlySet<string>
}

export interface Remembered {
  readonly store: TrustStore
  readonly notices: readonly Notice[]
}

/** Takes over what a read has verified. Nothing is remembered of a read that is not remembered whole. */
export function remember(store: TrustStore, round: VerifiedRound): Remembered {
  const { directory, now } = round
  const old = orgTrustOf(store, directory.org)
  ensure(
    old.genesis === directory.genesisHash,
    'genesis_mismatch',
    'the read was verified against another organisation',
    { org: directory.org },
  )
  const notices: Notice[] = []
  const isNewest = compareCheckpoints(old, directory)
  const next: OrgTrust = {
    ...old,
    ...pinSigners(old, round, isNewest, notices),
    policyVersion: pinPolicy(old, directory, isNewest, notices),
    ...(isNewest && { checkpoint: directory.view.checkpoint.note, checkpointAt: now }),
    vaults: pinVaults(old, round.heads, notices),
    projects: pinProjects(old, round.projects ?? []),
  }
  if (!directory.view.witnessed) notices.push({ code: 'no_witness', subject: directory.org })
  return { store: { ...store, orgs: { ...store.orgs, [directory.org]: next } }, notices }
}

/**
 * Two reads may end in another order than they began: the store keeps the longer log and never goes back. False if the
 * read is the older one. Each checkpoint a store takes is proven to extend the one it has, or a fork could slip between.
 */
function compareCheckpoints(old: OrgTrust, { view }: VerifiedDirectory): boolean {
  const seen = old.checkpoint === null ? null : peekCheckpoint(old.checkpoint)
  if (!seen) return true
  const { size, root } = view.checkpoint
  if (size < seen.size) return false
  if (size === seen.size) {
    ensure(equalBytes(seen.root, root), 'log_fork', 'two reads saw different logs of one size', { size })
    return true
  }
  const isLinked = view.since?.size === seen.size && equalBytes(view.since.root, seen.root)
  ensure(isLinked, 'missing_consistency', 'another read has moved the store on: read again from there', {
    seen: seen.size,
    now: size,
  })
  return true
}

/** A new key of a known principal is accepted silently only through key.rotate; anything else is seen. */
function pinSigners(
  old: OrgTrust,
  { directory, confirmed }: VerifiedRound,
  isNewest: boolean,
  notices: Notice[],
): Pick<OrgTrust, 'signers' | 'principals'> {
  const signers: Record<string, SignerPin> = { ...old.signers }
  const principals: Record<string, PrincipalPin> = { ...old.principals }
  const firstContact = Object.keys(old.signers).length === 0
  // In the order they were added, so that a chain of rotations is walked from its known end.
  for (const found of [...directory.resolved()].sort((a, b) => a.entry.added - b.entry.added)) {
    const { entry, record } = found
    const principal = principalOf(entry.kid)
    const seen = signers[entry.kid]
    const known = principals[principal]
    if (seen) ensureSameKey(found, seen, isNewest)
    else if (known) ensureContinuity(found, known, { confirmed, signers })
    if (!seen && record.t === 'key.recover') notices.push({ code: 'recovery_discontinuity', subject: entry.kid })
    if (!seen && !firstContact && record.t === 'key.add' && !old.signers[record.by])
      notices.push({ code: 'new_endorser', subject: record.by })
    const isOlder = seen !== undefined && !isNewest
    signers[entry.kid] = {
      firstIndex: entry.added,
      lastIndex: isOlder ? seen.lastIndex : directory.view.checkpoint.size - 1,
      status: isOlder ? seen.status : entry.status,
      capSets: isOlder ? seen.capSets : entry.capSets.length,
      via: record.t,
      verified: seen?.verified ?? (confirmed?.has(entry.kid) ? 'oob' : old.mode === 'tofu' ? 'tofu' : 'endorsed'),
    }
    const broken = known?.continuity === 'broken' || record.t === 'key.recover'
    principals[principal] = {
      // The newest ones: whoever rotates for years must not outgrow the store.
      kids: [...new Set([...(known?.kids ?? []), entry.kid])].slice(-MAX_KIDS),
      continuity: broken ? 'broken' : 'ok',
    }
  }
  return { signers, principals }
}

/** A key comes once; one that has ended stays so and can only turn out to be worse; caps that were taken stay taken. */
function ensureSameKey({ entry, record }: DirectoryKey, seen: SignerPin, isNewest: boolean): void {
  const { kid, added, end, status } = entry
  const isSame = seen.firstIndex === added && seen.via === record.t
  ensure(isSame, 'log_fork', 'a known key came into the directory in another way', { kid })
  if (!isNewest) return
  const isWorse = status === seen.status || status === 'compromised'
  const hasEnded = isWorse && end !== null && end <= seen.lastIndex + 1
  ensure(seen.status === 'active' || hasEnded, 'log_rollback', 'a key that had ended is back', { kid })
  const capSets = entry.capSets.filter(({ index }) => index <= seen.lastIndex).length
  ensure(capSets === seen.capSets, 'log_rollback', 'the caps of a key are older than ones already seen', { kid })
}

function ensureContinuity(
  { entry, record }: DirectoryKey,
  known: PrincipalPin,
  { confirmed, signers }: { confirmed: ReadonlySet<string> | undefined; signers: OrgTrust['signers'] },
): void {
  // A leaf rotates one key: a second key that says it came by it was made with a stolen one.
  const isTwin = known.kids.some((kid) => signers[kid]?.via === 'key.rotate' && signers[kid].firstIndex === entry.added)
  const rotated = record.t === 'key.rotate' && known.kids.includes(record.oldKid) && !isTwin
  const continuous = rotated || record.t === 'key.recover' || confirmed?.has(entry.kid)
  ensure(continuous, 'continuity_broken', 'a known principal has a new key that nothing links to the old one', {
    kid: entry.kid,
    known: known.kids,
  })
}

function pinPolicy(old: OrgTrust, { view }: VerifiedDirectory, isNewest: boolean, notices: Notice[]): number {
  const version = stateOf(view, POLICY_NAME, policyState)?.policyVersion ?? old.policyVersion
  ensure(!isNewest || version >= old.policyVersion, 'log_rollback', 'the policy is older than one already seen', {
    seen: old.policyVersion,
    now: version,
  })
  if (old.policyVersion > 0 && version > old.policyVersion)
    notices.push({ code: 'policy_changed', subject: String(version) })
  return Math.max(version, old.policyVersion)
}

function pinVaults(old: OrgTrust, heads: readonly VerifiedHead[], notices: Notice[]): OrgTrust['vaults'] {
  const vaults = { ...old.vaults }
  for (const { vault, hash, payload } of heads) {
    const { vaultId, state, directory } = vault
    const { headVersion } = payload
    const before = old.vaults[vaultId]
    if (before && before.headVersion > headVersion) {
      const isEarlier = directory.view.checkpoint.size < before.size
      ensure(isEarlier, 'vault_rollback', 'the vault is older than in an earlier read', { vaultId, headVersion })
      continue
    }
    const isSame = before?.headVersion !== headVersion || before.headHash === hash
    ensure(isSame, 'vault_fork', 'two reads saw different vaults of one version', { vaultId, headVersion })
    const admins = [...currentAdmins(vault.chain)].sort()
    for (const admin of admins)
      if (before && !before.admins.includes(admin)) notices.push({ code: 'new_admin', subject: `${vaultId} ${admin}` })
    if (state.rotationDue) notices.push({ code: 'rotation_due', subject: vaultId })
    const { dekVersion, dekCommit, aclVersion, adminsHash } = state
    const size = Math.max(directory.view.checkpoint.size, before?.size ?? 0)
    vaults[vaultId] = { headVersion, headHash: hash, dekVersion, dekCommit, aclVersion, admins, adminsHash, size }
  }
  return vaults
}

function pinProjects(old: OrgTrust, projects: readonly VerifiedProject[]): OrgTrust['projects'] {
  const pinned = { ...old.projects }
  for (const { projectId, pin } of projects) {
    const { projectVersion, docHash } = pin
    const before = old.projects[projectId]
    if (before && before.projectVersion > projectVersion) {
      ensure(pin.size < before.size, 'project_rollback', 'the project is older than in an earlier read', { projectId })
      continue
    }
    const isSame = before?.projectVersion !== projectVersion || before.docHash === docHash
    ensure(isSame, 'project_mismatch', 'two reads saw different projects of one version', { projectId })
    pinned[projectId] = { ...pin, size: Math.max(pin.size, before?.size ?? 0) }
  }
  return pinned
}
