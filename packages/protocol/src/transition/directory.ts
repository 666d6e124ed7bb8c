import { checkCaps, checkEndorser, countAdmins, type Liveness } from '../directory/caps.ts'
import {
  capsSet,
  type GenesisPayload,
  keyAdd,
  keyRecover,
  keyRevoke,
  keyRotate,
  MAX_ACTIVE_KEYS,
  policySet,
  recoveryEnrol,
  replacementKey,
} from '../directory/documents.ts'
import { verifyGenesis } from '../directory/resolve.ts'
import { ensure } from '../errors.ts'
import { documentHash, type Envelope, peekDocument } from '../identity/document.ts'
import { parseKid, principalOf } from '../identity/identifiers.ts'
import { type CheckedKey, checkKey } from '../identity/key-bundle.ts'
import {
  inviteName,
  inviteState,
  type KidState,
  kidName,
  kidState,
  POLICY_NAME,
  policyState,
  recoveryName,
} from '../log/state.ts'
import { accept, activeKids, activeSigner, capsNow, currentPolicy, type Draft, untaintedSigner } from './draft.ts'
import { dropGrants, markRotationDue, readVault, writeReplacements } from './grants.ts'

// Section 5.7, the rows of the directory. Each function verifies one document under the state before the leaf and writes
// what follows from it.

const isActive: Liveness = (entry) => entry.status === 'active'

const newEntry = (kid: string, index: number, rec: string): KidState => ({
  kid,
  status: 'active',
  added: index,
  end: null,
  rec,
  capSets: [],
})

export async function applyGenesis(draft: Draft, envelope: Envelope): Promise<void> {
  ensure(
    draft.index === 0 && (await draft.read(POLICY_NAME, policyState)) === undefined,
    'bad_transition',
    'a log begins with one genesis',
  )
  const { hash, payload } = await verifyGenesis(envelope, documentHash(envelope), draft.before.org)
  ensureFounders(payload)
  draft.write(POLICY_NAME, { policyVersion: 1, policyHash: hash, indexes: [0] })
  for (const { kid } of payload.admins) draft.write(kidName(kid), newEntry(kid, 0, hash))
}

function ensureFounders({ admins, policy }: GenesisPayload): void {
  const principals = new Set(admins.map(({ kid }) => principalOf(kid)))
  ensure(
    admins.length > 0 && principals.size === admins.length,
    'bad_transition',
    'founders are one key each of at least one person',
  )
  const reachable = policy.dirQuorum <= admins.length && policy.recoverQuorum <= admins.length
  ensure(reachable, 'bad_transition', 'a quorum is larger than the number of founders')
}

async function freshKey(draft: Draft, payload: { readonly kid: string; readonly key: unknown }): Promise<CheckedKey> {
  ensure(
    (await draft.read(kidName(payload.kid), kidState)) === undefined,
    'bad_transition',
    'a key is already in the directory',
    { kid: payload.kid },
  )
  return checkKey(payload.kid, payload.key, (await currentPolicy(draft.before)).minRsaBits)
}

export async function applyKeyAdd(draft: Draft, envelope: Envelope): Promise<void> {
  const key = await freshKey(draft, peekDocument(keyAdd, envelope).payload)
  const { payload, hash, signers } = await accept(draft, keyAdd, envelope, key)
  ensure(signers.has(payload.kid), 'missing_signature', 'a key did not sign its own registration', { kid: payload.kid })
  ensure(payload.by !== payload.kid, 'endorser_not_admin', 'a key cannot endorse itself', { kid: payload.kid })
  await activeSigner(draft, payload.by)
  const vouchers = [...signers].filter((kid) => kid !== payload.kid)
  await checkEndorser(draft.directory, { record: payload, vouchers, index: draft.index }, isActive)
  checkCaps(key, payload.caps)
  // Access lists name agents and not keys: with a second key for an agent, an agent-manager would be that agent.
  const isFirst = (await draft.before.kidsOf(key.principal)).length === 0
  const isAdmin = (await capsNow(draft, payload.by)).has('dir-admin')
  ensure(isFirst || isAdmin, 'endorser_not_admin', 'only a directory admin gives an agent a further key', {
    kid: key.kid,
  })
  const others = await activeKids(draft, key.principal)
  // A recovery names every active key of a principal, and a new vault key is wrapped for each.
  ensure(others.length < MAX_ACTIVE_KEYS, 'limit_exceeded', 'a principal has too many active keys', {
    kid: key.kid,
  })
  if (payload.invite !== undefined) await useInvite(draft, payload.invite, payload.kid)
  draft.write(kidName(payload.kid), newEntry(payload.kid, draft.index, hash))
}

/** 4.6: an invite brings one key into the directory, not two. */
async function useInvite(draft: Draft, docHash: string, kid: string): Promise<void> {
  ensure(
    (await draft.read(inviteName(docHash), inviteState)) === undefined,
    'bad_transition',
    'an invite was used before',
    { docHash },
  )
  draft.write(inviteName(docHash), { kid, index: draft.index })
}

/** 11: the old key hands over to the new one, with every vault key it still holds. */
export async function applyKeyRotate(draft: Draft, envelope: Envelope, wraps: readonly Envelope[]): Promise<void> {
  const claimed = peekDocument(keyRotate, envelope).payload
  const key = await freshKey(draft, claimed)
  ensure(principalOf(claimed.oldKid) === key.principal, 'key_substitution', 'a rotation changes the principal', {
    kid: key.kid,
  })
  const { payload, hash, signers } = await accept(draft, keyRotate, envelope, key)
  ensure(
    payload.by === payload.oldKid && signers.has(payload.kid),
    'missing_signature',
    'a rotation needs the old and the new key',
    { kid: key.kid },
  )
  await activeSigner(draft, payload.oldKid)
  checkCaps(key, [...(await capsNow(draft, payload.oldKid))])
  await ensureExactBatch(draft, payload.oldKid, payload.batch)
  await writeReplacements(draft, { from: payload.oldKid, to: key, batch: payload.batch, wraps })
  await endKey(draft, payload.oldKid, 'superseded')
  draft.write(kidName(key.kid), newEntry(key.kid, draft.index, hash))
}

async function ensureExactBatch(
  draft: Draft,
  oldKid: string,
  batch: readonly { vaultId: string; dekVersion: number }[],
): Promise<void> {
  const live = new Set((await draft.before.grantsOfKid(oldKid)).map(replacementKey))
  const offered = new Set(batch.map(replacementKey))
  const missing = [...live].filter((entry) => !offered.has(entry))
  const extra = [...offered].filter((entry) => !live.has(entry))
  ensure(
    missing.length === 0 && extra.length === 0,
    'incomplete_batch',
    'a rotation must replace exactly the live grants of the old key',
    { missing, extra },
  )
}

export async function applyKeyRecover(draft: Draft, envelope: Envelope): Promise<void> {
  const key = await freshKey(draft, peekDocument(keyRecover, envelope).payload)
  const { payload, hash, signers } = await accept(draft, keyRecover, envelope, key)
  ensure(payload.principal === key.principal, 'key_substitution', 'a recovery changes the principal', { kid: key.kid })
  ensure(signers.has(key.kid), 'missing_signature', 'the new key did not sign its recovery', { kid: key.kid })
  await ensureQuorum(
    draft,
    [...signers].filter((kid) => kid !== key.kid),
    'recoverQuorum',
  )
  const active = await activeKids(draft, payload.principal)
  ensure(
    active.length === payload.oldKids.length && active.every((kid) => payload.oldKids.includes(kid)),
    'bad_transition',
    'a recovery must name exactly the active keys',
  )
  for (const kid of payload.oldKids)
    await endKey(draft, kid, payload.reason === 'compromised' ? 'compromised' : 'removed')
  draft.write(kidName(key.kid), newEntry(key.kid, draft.index, hash))
}

export async function applyKeyRevoke(draft: Draft, envelope: Envelope): Promise<void> {
  const { payload } = await accept(draft, keyRevoke, envelope)
  await activeSigner(draft, payload.by)
  const entitled = payload.by === payload.kid || (await capsNow(draft, payload.by)).has('dir-admin')
  ensure(entitled, 'not_authorised', 'only a directory admin or the key itself can revoke it', { kid: payload.kid })
  await endKey(draft, payload.kid, payload.reason)
}

/** Ends a key and its grants. An ended key can still be found to be compromised, but it never comes back. */
async function endKey(draft: Draft, kid: string, status: 'superseded' | 'removed' | 'compromised'): Promise<void> {
  const entry = await draft.read(kidName(kid), kidState)
  ensure(entry, 'unknown_signer', 'there is no such key', { kid })
  const worsens = entry.status === 'active' || (status === 'compromised' && entry.status !== 'compromised')
  ensure(worsens, 'bad_transition', 'a key has ended already', { kid })
  draft.write(kidName(kid), { ...entry, status, end: entry.end ?? draft.index + 1 })
  const vaults = await dropGrants(draft, await draft.before.grantsOfKid(kid))
  if (status !== 'superseded') for (const vaultId of vaults) await markRotationDue(draft, vaultId)
  if (status === 'compromised') await markFormerVaults(draft, kid)
}

/** Whoever has the private key can open what it was granted once, so a vault key it knew and that is still in use must go. */
async function markFormerVaults(draft: Draft, kid: string): Promise<void> {
  for (const { vaultId, dekVersion } of await draft.before.endedGrantsOfKid(kid))
    if ((await readVault(draft, vaultId)).dekVersion === dekVersion) await markRotationDue(draft, vaultId)
}

/** Different people with the cap `dir-admin`, all of them active, as many as the policy in force asks for. */
export async function ensureQuorum(
  draft: Draft,
  signers: Iterable<string>,
  quorum: 'dirQuorum' | 'recoverQuorum',
): Promise<void> {
  const policy = await currentPolicy(draft.before)
  const admins = await countAdmins(draft.directory, signers, draft.index, isActive)
  ensure(admins >= policy[quorum], 'endorser_not_admin', 'too few directory admins signed', {
    needed: policy[quorum],
    found: admins,
  })
}

export async function applyCapsSet(draft: Draft, envelope: Envelope): Promise<void> {
  const { payload, hash, signers } = await accept(draft, capsSet, envelope)
  await ensureQuorum(draft, signers, 'dirQuorum')
  const key = await activeSigner(draft, payload.kid)
  checkCaps(key, payload.caps)
  const { entry } = await draft.directory.resolve(payload.kid)
  ensure(
    payload.prev === (entry.capSets.at(-1)?.docHash ?? ''),
    'bad_transition',
    'a caps.set does not follow its predecessor',
    { kid: payload.kid },
  )
  draft.write(kidName(payload.kid), { ...entry, capSets: [...entry.capSets, { index: draft.index, docHash: hash }] })
}

export async function applyPolicySet(draft: Draft, envelope: Envelope): Promise<void> {
  const { payload, hash, signers } = await accept(draft, policySet, envelope)
  await ensureQuorum(draft, signers, 'dirQuorum')
  const state = await draft.read(POLICY_NAME, policyState)
  ensure(
    state && payload.policyVersion === state.policyVersion + 1 && payload.prev === state.policyHash,
    'bad_transition',
    'a policy does not follow its predecessor',
  )
  const { policyVersion } = payload
  draft.write(POLICY_NAME, { ...state, policyVersion, policyHash: hash, indexes: [...state.indexes, draft.index] })
}

/** Section 8: only the user enrols the user, and only to a key that holds the cap. */
export async function applyRecoveryEnrol(draft: Draft, envelope: Envelope): Promise<void> {
  const { payload, hash } = await accept(draft, recoveryEnrol, envelope)
  await activeSigner(draft, payload.by)
  // No version orders consents, so an old one must not come back after a newer one.
  const isNew = (await draft.before.document(hash)) === undefined
  ensure(isNew, 'bad_transition', 'a consent to recovery was logged before', { docHash: hash })
  ensure(parseKid(payload.by).type === 'user', 'not_authorised', 'only users enrol in recovery', { by: payload.by })
  await untaintedSigner(draft, payload.recoveryKid)
  ensure(
    (await capsNow(draft, payload.recoveryKid)).has('recovery'),
    'not_authorised',
    'the recovery key does not hold the cap',
    { kid: payload.recoveryKid },
  )
  draft.write(recoveryName(principalOf(payload.by)), {
    recoveryKid: payload.recoveryKid,
    docHash: hash,
    index: draft.index,
  })
}
