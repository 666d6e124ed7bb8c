import type { DirectoryKey } from '../directory/caps.ts'
import type { VerifiedDirectory } from '../directory/resolve.ts'
import { equalBytes } from '../encoding/bytes.ts'
import { ensure } from '../errors.ts'
import { principalOf } from '../identity/identifiers.ts'
import { type KidState, POLICY_NAME, type PolicyState, policyState, type Recoveries } from '../log/state.ts'
import { type LogPin, stateOf, type VerifiedView } from '../log/transparency.ts'
import { currentAdmins } from '../vault/authority.ts'
import type { VerifiedProject } from '../vault/project.ts'
import type { VerifiedHead } from '../vault/vault.ts'
import {
  logPinOf,
  MAX_KIDS,
  newestRecovery,
  type OrgTrust,
  orgTrustOf,
  type PrincipalPin,
  type SignerPin,
  type TrustStore,
} from './store.ts'

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
    | 'log_recovered'
  readonly subject: string
}

export interface VerifiedRound {
  readonly directory: VerifiedDirectory
  readonly heads: readonly VerifiedHead[]
  readonly projects?: readonly VerifiedProject[]
  readonly now: number
  /** The log of this read, proven from the newest checkpoint, where the read itself was held against a larger minimum. */
  readonly link?: VerifiedView | undefined
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
  const isNewest = compareCheckpoints(old, round)
  const next: OrgTrust = {
    ...old,
    ...pinSigners(old, round, isNewest, notices),
    ...pinPolicy(old, directory, isNewest, notices),
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
function compareCheckpoints(old: OrgTrust, { directory: { org, view }, link }: VerifiedRound): boolean {
  const isOfThisLog = view.recovered === newestRecovery(old)
  ensure(isOfThisLog, 'missing_consistency', 'a recovery was accepted while this was read: read again from there')
  const { seen, behind } = logPinOf(org, old)
  if (!seen) return true
  const { size, root } = view.checkpoint
  if (size < seen.size) return false
  const isSame = size !== seen.size || equalBytes(seen.root, root)
  ensure(isSame, 'log_fork', 'two reads saw different logs of one size', { size })
  const isLinked = size === seen.size || isSince(view, seen)
  ensure(isLinked, 'missing_consistency', 'another read has moved the store on: read again from there', {
    seen: seen.size,
    now: size,
  })
  const isOneLog = link?.checkpoint.size === size && equalBytes(link.checkpoint.root, root)
  const reachesBack = !behind || (isOneLog && isSince(link, behind))
  ensure(reachesBack, 'missing_consistency', 'nothing links this read to the newest checkpoint of the store')
  return true
}

const isSince = ({ since }: VerifiedView, seen: NonNullable<LogPin['seen']>): boolean =>
  since?.size === seen.size && equalBytes(since.root, seen.root)

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
    const fresh: SignerPin = {
      firstIndex: seen?.firstIndex ?? entry.added,
      lastIndex: directory.view.checkpoint.size - 1,
      status: entry.status,
      capSets: entry.capSets.length,
      via: seen?.via ?? record.t,
      verified: seen?.verified ?? (confirmed?.has(entry.kid) ? 'oob' : old.mode === 'tofu' ? 'tofu' : 'endorsed'),
      rec: seen?.rec ?? entry.rec,
      ...given({ cut: entry.status === 'active' ? undefined : seen?.cut, capSet: entry.capSets.at(-1) }),
    }
    signers[entry.kid] = seen && !isNewest ? seen : fresh
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
function ensureSameKey(found: DirectoryKey, seen: SignerPin, isNewest: boolean): void {
  const { kid } = found.entry
  ensureCameOnce(found, seen)
  if (!isNewest) return
  ensureStillEnded(found, seen)
  ensure(hasSeenCaps(found.entry, seen), 'log_rollback', 'the caps of a key are older than ones already seen', { kid })
}

export function ensureCameOnce({ entry, record }: DirectoryKey, seen: SignerPin): void {
  const { kid, added, rec } = entry
  // It came in a part of the log that is gone. It may come again, in another way, and counts as ended all the same.
  const isGone = seen.cut !== undefined && seen.firstIndex >= seen.cut
  // By its document too: a former admin could sign another one for the same key, with other caps.
  const isSame = isGone || (seen.firstIndex === added && seen.via === record.t && rec === (seen.rec ?? rec))
  ensure(isSame, 'log_fork', 'a known key came into the directory in another way', { kid })
}

export function ensureStillEnded({ entry: { kid, end, status } }: DirectoryKey, seen: SignerPin): void {
  const isWorse = status === seen.status || status === 'compromised'
  const hasEnded = isWorse && end !== null && end <= seen.lastIndex + 1
  ensure(seen.status === 'active' || hasEnded, 'log_rollback', 'a key that had ended is back', { kid })
}

/** Caps that were set in a part of the log that is gone have to be set again, or a recovery would give back what was taken. */
export function hasSeenCaps(entry: KidState, { lastIndex, capSets, capSet, cut, status }: SignerPin): boolean {
  const before = entry.capSets.filter(({ index }) => index <= lastIndex)
  const last = before.at(-1)
  // By its leaf too: what was taken later would have been there in between.
  const isLast = !capSet || (last?.index === capSet.index && last.docHash === capSet.docHash)
  const isSame = before.length === capSets && isLast
  if (cut === undefined || isSame) return isSame
  const isSetAgain = before.length < capSets && entry.capSets.some(({ index }) => index >= cut)
  return isSetAgain || status !== 'active'
}

function ensureContinuity(
  { entry, record }: DirectoryKey,
  known: PrincipalPin,
  { confirmed, signers }: { confirmed: ReadonlySet<string> | undefined; signers: OrgTrust['signers'] },
): void {
  // A leaf rotates one key: a second key that says it came by it was made with a stolen one.
  const isTwin = known.kids.some((kid) => signers[kid]?.via === 'key.rotate' && signers[kid].firstIndex === entry.added)
  const rotated = record.t === 'key.rotate' && known.kids.includes(record.oldKid) && !isTwin
  // The very key, which names itself: a recovery had taken it out of the log.
  const isBack = known.kids.includes(entry.kid)
  const continuous = rotated || isBack || record.t === 'key.recover' || confirmed?.has(entry.kid)
  ensure(continuous, 'continuity_broken', 'a known principal has a new key that nothing links to the old one', {
    kid: entry.kid,
    known: known.kids,
  })
}

type PolicyPins = Pick<OrgTrust, 'policyVersion' | 'policyIndexes' | 'policyHash' | 'recoverQuorum' | 'recoveries'>

function pinPolicy(
  old: OrgTrust,
  { view, policy }: VerifiedDirectory,
  isNewest: boolean,
  notices: Notice[],
): PolicyPins {
  const state = stateOf(view, POLICY_NAME, policyState)
  const version = state?.policyVersion ?? old.policyVersion
  ensure(!isNewest || version >= old.policyVersion, 'log_rollback', 'the policy is older than one already seen', {
    seen: old.policyVersion,
    now: version,
  })
  if (old.policyVersion > 0 && version > old.policyVersion)
    notices.push({ code: 'policy_changed', subject: String(version) })
  const { policyVersion, policyIndexes, policyHash, recoverQuorum, recoveries } = old
  if (!state || !isNewest) {
    const newest = Math.max(version, policyVersion)
    return { policyVersion: newest, ...given({ policyIndexes, policyHash, recoverQuorum, recoveries }) }
  }
  // A policy counts from its leaf on: dated back, it would be one by admins who are none any more.
  const { indexes, policyHash: now } = state
  const isKnown = version > policyVersion || now === (policyHash ?? now)
  const isContinued = isKnown && goesOn(policyIndexes ?? indexes, indexes, readBefore(old, view))
  ensure(isContinued, 'log_fork', 'the policies are not those seen')
  return {
    policyVersion: version,
    policyIndexes: indexes,
    ...given({
      policyHash: version > 1 ? now : undefined,
      recoverQuorum: policy?.recoverQuorum ?? recoverQuorum,
      recoveries: pinRecoveries(old, view, state, notices),
    }),
  }
}

/** The members that are there; a store holds no others. */
const given = <T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never

/** How long the log was that was read before. A minimum says nothing of what is below it: only what was read does. */
const readBefore = (old: OrgTrust, { org, since }: VerifiedView): number =>
  old.checkpoint === null ? 0 : ((logPinOf(org, old).behind ?? since)?.size ?? 0)

/** A list of leaves only grows, with the log. */
export const goesOn = (known: readonly number[], now: readonly number[], size: number): boolean =>
  known.every((index, i) => index === now[i]) && now.slice(known.length).every((index) => index >= size)

/** Whoever reads learns that the log was restored, also who has lost nothing by it. */
function pinRecoveries(
  old: OrgTrust,
  view: VerifiedView,
  { recoveries: now = [] }: PolicyState,
  notices: Notice[],
): OrgTrust['recoveries'] {
  const { recoveries: known = [], checkpoint } = old
  const indexesOf = (list: Recoveries): number[] => list.map(({ index }) => index)
  const isContinued =
    known.every(({ docHash }, i) => now[i]?.docHash === docHash) &&
    goesOn(indexesOf(known), indexesOf(now), readBefore(old, view))
  ensure(isContinued, 'log_rollback', 'the recoveries of the log are not those already seen')
  const added = now.slice(known.length)
  for (const { index, docHash } of checkpoint === null ? [] : added)
    notices.push({ code: 'log_recovered', subject: `${index} ${docHash}` })
  return now.length > 0 ? [...known, ...added] : undefined
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
    const { dekVersion, dekCommit, aclVersion, aclHash, adminsHash } = state
    const size = Math.max(directory.view.checkpoint.size, before?.size ?? 0)
    const chain = vault.chain.sets.map((set) => ({ index: set.index, hash: set.hash }))
    const at = { head: state.headIndex, epoch: state.epochIndex, acl: state.aclIndex }
    const versions = { headVersion, headHash: hash, dekVersion, dekCommit, aclVersion, aclHash }
    vaults[vaultId] = { ...versions, admins, adminsHash, size, chain, at }
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
