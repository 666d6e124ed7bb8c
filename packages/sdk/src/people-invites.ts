import {
  acceptInvite as acceptDocument,
  type Cap,
  endorseAcceptance,
  type Identity,
  invite,
  keyRevoke,
  makeDocument,
  makeInvite,
  makeKeys,
  type PrivateKeyMaterial,
  ProtocolError,
  parseInviteLink,
  parseTrustAnchor,
  verifyAcceptance,
  verifyDocument,
} from '@strongroom/protocol'
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
  await client.invites.accept({
    params,
    body: { attemptId: answer.attemptId, acceptance: acceptance, ...sealed },
  })
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

/** Removes a person, and signs off the keys that only a signature can end. */
export async function removeUser(admin: SigningPerson, userId: string): Promise<void> {
  const { liveKeys } = await admin.client.users.remove({ params: { id: userId } })
  for (const kid of liveKeys) {
    const event = await makeDocument(keyRevoke, { org: admin.orgId, at: Date.now(), kid, reason: 'removed' }, [
      admin.identity,
    ])
    await admin.client.userKeys.revoke({ body: { event: event } })
  }
}
