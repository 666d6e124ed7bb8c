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
import { type OrgTrust, orgTrustOf, type PrincipalPin, type SignerPin, type TrustStore } from './store.ts'

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
  const pinned = pinSigners(old, round, notices)
  const next: OrgTrust = {
    ...old,
    ...pinned,
    policyVersion: pinPolicy(old, directory, notices),
    ...newerCheckpoint(old, directory, now),
    vaults: pinVaults(old, round.heads, notices),
    projects: {
      ...old.projects,
      ...Object.fromEntries(
        (round.projects ?? []).map(({ projectId, docHash, payload }) => [
          projectId,
          { projectVersion: payload.projectVersion, docHash },
        ]),
      ),
    },
  }
  if (!directory.view.witnessed) notices.push({ code: 'no_witness', subject: directory.org })
  return { store: { ...store, orgs: { ...store.orgs, [directory.org]: next } }, notices }
}

/** Two reads may end in another order than they began: the store keeps the longer log and never goes back. */
function newerCheckpoint(
  old: OrgTrust,
  { view }: VerifiedDirectory,
  now: number,
): Pick<OrgTrust, 'checkpoint' | 'checkpointAt'> {
  const { checkpoint, checkpointAt } = old
  const seen = checkpoint === null ? null : peekCheckpoint(checkpoint)
  if (seen && seen.size > view.checkpoint.size) return { checkpoint, checkpointAt }
  const same = seen?.size !== view.checkpoint.size || equalBytes(seen.root, view.checkpoint.root)
  ensure(same, 'log_fork', 'two reads saw different logs of one size', { size: view.checkpoint.size })
  return { checkpoint: view.checkpoint.note, checkpointAt: now }
}

/** A new key of a known principal is accepted silently only through key.rotate; anything else is seen. */
function pinSigners(
  old: OrgTrust,
  { directory, confirmed }: VerifiedRound,
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
    if (!seen && known) ensureContinuity(found, known, confirmed)
    if (!seen && record.t === 'key.recover') notices.push({ code: 'recovery_discontinuity', subject: entry.kid })
    if (!seen && !firstContact && record.t === 'key.add' && !old.signers[record.by])
      notices.push({ code: 'new_endorser', subject: record.by })
    signers[entry.kid] = {
      firstIndex: seen?.firstIndex ?? entry.added,
      lastIndex: directory.view.checkpoint.size - 1,
      status: entry.status,
      via: record.t,
      verified: seen?.verified ?? (confirmed?.has(entry.kid) ? 'oob' : old.mode === 'tofu' ? 'tofu' : 'endorsed'),
    }
    const broken = known?.continuity === 'broken' || record.t === 'key.recover'
    principals[principal] = {
      kids: [...new Set([...(known?.kids ?? []), entry.kid])],
      continuity: broken ? 'broken' : 'ok',
    }
  }
  return { signers, principals }
}

function ensureContinuity(
  { entry, record }: DirectoryKey,
  known: PrincipalPin,
  confirmed: ReadonlySet<string> | undefined,
): void {
  const rotated = record.t === 'key.rotate' && known.kids.includes(record.oldKid)
  const continuous = rotated || record.t === 'key.recover' || confirmed?.has(entry.kid)
  ensure(continuous, 'continuity_broken', 'a known principal has a new key that nothing links to the old one', {
    kid: entry.kid,
    known: known.kids,
  })
}

function pinPolicy(old: OrgTrust, { view }: VerifiedDirectory, notices: Notice[]): number {
  const version = stateOf(view, POLICY_NAME, policyState)?.policyVersion ?? old.policyVersion
  ensure(version >= old.policyVersion, 'log_rollback', 'the policy is older than one already seen', {
    seen: old.policyVersion,
    now: version,
  })
  if (old.policyVersion > 0 && version > old.policyVersion)
    notices.push({ code: 'policy_changed', subject: String(version) })
  return version
}

function pinVaults(old: OrgTrust, heads: readonly VerifiedHead[], notices: Notice[]): OrgTrust['vaults'] {
  const vaults = { ...old.vaults }
  for (const { vault, hash, payload } of heads) {
    const { vaultId, state } = vault
    const admins = [...currentAdmins(vault.chain)].sort()
    const before = old.vaults[vaultId]?.admins
    for (const admin of admins)
      if (before && !before.includes(admin)) notices.push({ code: 'new_admin', subject: `${vaultId} ${admin}` })
    if (state.rotationDue) notices.push({ code: 'rotation_due', subject: vaultId })
    const { dekVersion, dekCommit, aclVersion } = state
    if ((old.vaults[vaultId]?.headVersion ?? 0) > payload.headVersion) continue
    vaults[vaultId] = { headVersion: payload.headVersion, headHash: hash, dekVersion, dekCommit, aclVersion, admins }
  }
  return vaults
}
