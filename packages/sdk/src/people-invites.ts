import {
  acceptInvite as acceptDocument,
  type Cap,
  endorseAcceptance,
  type Identity,
  invite,
  makeInvite,
  makeKeys,
  type PrivateKeyMaterial,
  ProtocolError,
  parseInviteLink,
  parseTrustAnchor,
  principalOf,
  verifyAcceptance,
  verifyDocument,
} from '@strongroom/protocol'
import type { Client } from './client.ts'
import { listOf, membersOf, refuseUnless } from './engine/answers.ts'
import { ApiError } from './errors.ts'
import { registerPassphrase } from './passphrase.ts'
import {
  type Codes,
  connect,
  ensureAnchor,
  type Owner,
  type Person,
  type Server,
  type SigningPerson,
  sealNewKeys,
} from './people.ts'
import { sendOnce } from './send-once.ts'
import type { Agents } from './strongroom/agents.ts'
import type { RequestOptions } from './strongroom/call.ts'
import type { Transparency } from './strongroom/transparency.ts'

// Invites without trusting the server (docs/reference/protocol.md 4.6): three steps, by the admin, the invitee, and the admin again.

const WEEK_MS = 7 * 24 * 3_600_000

export interface InviteOptions {
  readonly email: string
  readonly name: string
  readonly tenantId: string
  readonly caps?: readonly Cap[]
  readonly expiresInMs?: number
  readonly note?: string
}

export interface UserInvite {
  readonly inviteId: string
  readonly userId: string
  /** `vin1.…`: for the invitee alone, in the fragment of a link. Whoever has it can become the invitee. */
  readonly link: string
}

/** The admin's first step: a signed invite for the server, and a link that must not pass through it. */
export async function makeUserInvite(admin: SigningPerson, options: InviteOptions): Promise<UserInvite> {
  const { email, name, tenantId, caps = ['member'], expiresInMs = WEEK_MS, note = '' } = options
  const { genesis } = parseTrustAnchor(admin.trustAnchor)
  const at = Date.now()
  const { envelope, link } = await makeInvite(
    { org: admin.orgId, genesis, caps, expires: at + expiresInMs, note, at },
    admin.identity,
  )
  const { inviteId, userId } = await admin.client.invites.create({
    body: { email, name, tenantId, invite: envelope },
  })
  return { inviteId, userId, link }
}

export interface AcceptOptions extends Server {
  readonly link: string
  readonly passphrase: string
  readonly keys?: PrivateKeyMaterial | undefined
}

export interface Accepted extends Owner {
  readonly email: string
  readonly identity: Identity
  readonly exportPem: Person['exportPem']
  readonly codes: Codes
  /** Of the organisation the link names. */
  readonly trustAnchor: string
}

/**
 * It was not used a moment ago. Whoever else had the link and used it since is noticed by the admin, who compares the words of the key
 * before it is endorsed.
 */
async function ensureUsed(asked: Promise<unknown>): Promise<void> {
  const refusal = await asked.then(
    () => new Error('nobody has accepted this invite yet'),
    (error: unknown) => error,
  )
  if (!(refusal instanceof ApiError && refusal.code === 'invite_used')) throw refusal
}

/** The invitee's step. The link says which organisation and which invite; the server cannot put others in their place. */
export async function acceptInvite(options: AcceptOptions): Promise<Accepted> {
  const link = parseInviteLink(options.link)
  const client = connect(options)
  const params = { id: link.inviteId }
  const { userId, email, trustAnchor, invite: document } = await client.invites.show({ params })
  ensureAnchor(trustAnchor, link)
  const owner = { orgId: link.org, userId }
  const { answer, registration } = await registerPassphrase(options.passphrase, (registrationRequest) =>
    client.invites.register({ params, body: { registrationRequest } }),
  )
  const keys = options.keys ?? (await makeKeys())
  const { identity, exportPem, codes, sealed } = await sealNewKeys(owner, registration, keys)
  const acceptance = await acceptDocument(link, document, identity, Date.now())
  const body = { attemptId: answer.attemptId, acceptance: acceptance, ...sealed }
  await sendOnce<unknown>(
    () => client.invites.accept({ params, body }),
    () => ensureUsed(client.invites.show({ params })),
  )
  return { ...owner, email, identity, exportPem, codes, trustAnchor }
}

/** Whether somebody is in the directory already, from what this client has verified before. */
export type IsKnown = (principal: string) => boolean | Promise<boolean>

/** The admin's second step: verifies that link and key were the invitee's, signs, and brings the key into the log. */
export async function endorseInvite(
  admin: SigningPerson,
  { inviteId, userId }: Pick<UserInvite, 'inviteId' | 'userId'>,
  isKnown: IsKnown = () => false,
): Promise<void> {
  const { data } = await admin.client.invites.list()
  const row = data.find((one) => one.inviteId === inviteId)
  if (!row?.acceptance)
    throw new ProtocolError('missing_signature', 'nobody has accepted this invite yet', { inviteId })
  const { identity, orgId } = admin
  const own = await verifyDocument(invite, row.invite, orgId, (kid) =>
    kid === identity.kid ? identity.key : undefined,
  )
  const acceptance = await verifyAcceptance({
    invite: own,
    candidate: row.acceptance,
    now: Date.now(),
    // The server minted the id of the invitee when the invite was made: any other one is somebody else's.
    isKnown: async (principal) => principal !== `user:${userId}` || (await isKnown(principal)),
  })
  const keyAdd = await endorseAcceptance(acceptance, identity)
  await admin.client.invites.endorse({ params: { id: inviteId }, body: { keyAdd: keyAdd } })
}

/** A `Strongroom` of the admin: it reads in the log which keys somebody has, what is left without them, and that a key has ended. */
export interface VerifyingClient {
  readonly transparency: Pick<Transparency, 'keys' | 'quorums'>
  readonly agents: Pick<Agents, 'revokeKey'>
}

/**
 * Removes a person, and ends the keys that the verified log has for them; gives their ids. The server goes first: it knows who must
 * not go, and a key that has ended never comes back. Done again after an interruption, it goes on with the keys that are left.
 */
export async function removeUser(
  { client }: Pick<SigningPerson, 'client'>,
  userId: string,
  { transparency, agents }: VerifyingClient,
  options: Pick<RequestOptions, 'signal'> = {},
): Promise<readonly string[]> {
  const principal = `user:${userId}`
  // Not left to the server: it is the signatures made here, under the end of their keys, that could lock everybody out.
  await transparency.quorums.ensureWithout(principal, options)
  const { named, absent } = await removeAtServer(client, userId)
  ensureOwnedBy(principal, named)
  const active = (await transparency.keys(principal, options)).filter(({ status }) => status === 'active')
  const kids = active.map(({ keyId }) => keyId)
  ensureOwnedBy(principal, kids)
  if (absent && kids.length === 0) throw absent
  for (const kid of kids) await agents.revokeKey(kid, 'removed', options)
  return kids
}

interface ServerRemoval {
  /** Keys that the server calls theirs: only its say, so nothing is signed by it. */
  readonly named: readonly unknown[]
  /** The server has nobody of this id, maybe since they were removed before. */
  readonly absent?: ApiError
}

async function removeAtServer(client: Client, userId: string): Promise<ServerRemoval> {
  try {
    const answer: unknown = await client.users.remove({ params: { id: userId } })
    return { named: listOf(membersOf(answer, 'answer').liveKeys, 'liveKeys') }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'user_not_found') return { named: [], absent: error }
    throw error
  }
}

/** Before anything is signed: a server that names a key of somebody else wants it to end. */
function ensureOwnedBy(principal: string, kids: readonly unknown[]): void {
  for (const kid of kids)
    refuseUnless(
      principalOf(String(kid)) === principal,
      'key_substitution',
      'a key of somebody else was named as theirs; no key has ended, so remove them again',
      { kid, principal },
    )
}
