import {
  endorseKey,
  keyRevoke,
  makeDocument,
  principalOf,
  requestEndorsement,
  verifyPendingKey,
} from '@strongroom/protocol'
import { membersOf, refuseUnless } from '../engine/answers.ts'
import { bodyOf, ensureUnknown, giveVaults, vaultsFor } from './agent-keys.ts'
import { agentOf, shownOnce } from './agent-rows.ts'
import type { EnrolledAgent, NewAgent, PendingKey, RevokedKey } from './agents.ts'
import type { KeyedPlace } from './core.ts'
import { keysOf, vaultsDueBy } from './exposure.ts'
import type { Config } from './options.ts'
import { ConfigError, NotFoundError } from './public-errors.ts'

// Keys that are made where they are used: the agent asks for them to be endorsed, a person compares the key and signs. And how a
// key ends.

export async function enrolAgent(
  { trustAnchor = '' }: Config,
  place: KeyedPlace,
  given: Omit<NewAgent, 'vaults' | 'keys'>,
): Promise<EnrolledAgent> {
  const { actor, options } = place
  const { agent, apiKey } = await actor.client.agents.create({ body: bodyOf(given) }, options)
  await ensureUnknown(place, `agent:${agent.agentId}`)
  const shown = shownOnce(apiKey, agent.agentId)
  return { agent: agentOf(agent), apiKey: shown, trustAnchor, endorser: actor.identity.kid }
}

/** The agent's own half. */
export async function requestOwn(
  { actor, options }: KeyedPlace,
  endorser: string,
): Promise<{ readonly keyId: string }> {
  const { identity, org } = actor
  if (!identity.kid.startsWith('agent:'))
    throw new ConfigError('only the key of an agent is endorsed like this', { code: 'config_invalid' })
  const event = await requestEndorsement({ org, caps: ['agent'], at: actor.now(), endorser }, identity)
  await actor.client.keys.register({ body: { event } }, options)
  return { keyId: identity.kid }
}

interface Waiting {
  readonly pending: Awaited<ReturnType<typeof verifyPendingKey>>
  readonly createdAt: string
}

/** Each has signed with the key it names, and names the caller as its endorser. */
async function waitingFor({ actor, options }: KeyedPlace): Promise<readonly Waiting[]> {
  const { data } = await actor.client.keys.pending({}, options)
  const waiting: Waiting[] = []
  for (const { kid, event, createdAt } of data) {
    const pending = await verifyPendingKey(actor.org, event)
    refuseUnless(pending.kid === kid, 'key_substitution', 'a registration is of another key than the server says', {
      kid,
    })
    if (pending.endorser === actor.identity.kid) waiting.push({ pending, createdAt })
  }
  return waiting
}

const fingerprintOf = (kid: string): string => kid.slice(kid.lastIndexOf(':') + 1)

export async function pendingKeys(place: KeyedPlace): Promise<readonly PendingKey[]> {
  return (await waitingFor(place)).map(({ pending: { kid }, createdAt }) => ({
    keyId: kid,
    agentId: principalOf(kid).slice('agent:'.length),
    fingerprint: fingerprintOf(kid),
    requestedAt: new Date(createdAt),
  }))
}

/** The key id is the fingerprint: whoever names it has compared it, or believes the server. */
export async function endorse(
  place: KeyedPlace,
  keyId: string,
  vaults: NonNullable<NewAgent['vaults']>,
): Promise<{ readonly keyId: string }> {
  const { actor, options } = place
  const found = (await waitingFor(place)).find(({ pending }) => pending.kid === keyId)
  if (!found)
    throw new NotFoundError({ code: 'document_not_found', message: 'no key of this id waits for your signature' }, 404)
  const granted = await vaultsFor(place, vaults)
  await ensureWithoutKey(place, keyId)
  const event = await endorseKey(found.pending, actor.identity)
  await actor.client.keys.register({ body: { event } }, options)
  await giveVaults(place, keyId, granted)
  return { keyId }
}

/**
 * A fingerprint does not say whose key it is: the server gave the agent its id. Under that of one that has a key it would be a further key
 * of theirs, for all they can read. Asked of the whole log, since who endorses may remember nothing of that agent.
 */
async function ensureWithoutKey(place: KeyedPlace, kid: string): Promise<void> {
  const active = (await keysOf(place, principalOf(kid))).filter(
    ({ keyId, status }) => status === 'active' && keyId !== kid,
  )
  refuseUnless(active.length === 0, 'key_substitution', 'the agent whose key this is said to be has one already', {
    kid,
  })
}

/** Ends a key, and reads in the log that it has ended, and which vaults need another key now. */
export async function revokeKey(
  place: KeyedPlace,
  kid: string,
  reason: 'removed' | 'compromised' | 'superseded',
): Promise<RevokedKey> {
  const { actor, options } = place
  const event = await makeDocument(keyRevoke, { org: actor.org, at: actor.now(), kid, reason }, [actor.identity])
  const answer: unknown = await actor.client.userKeys.revoke({ body: { event } }, options)
  refuseUnless(membersOf(answer, 'answer').kid === kid, 'key_substitution', 'another key was ended than asked for', {
    kid,
  })
  // What is remembered may have been signed by it: to write on top of that would sign it unseen.
  actor.memory.forgetAll()
  const { status, rotationDue } = await vaultsDueBy(place, kid)
  refuseUnless(status === reason, 'bad_inclusion', 'the log does not say that the key has ended', { kid, status })
  return { keyId: kid, rotationDue }
}
