import {
  acceptInvite,
  addSignatures,
  documentHash,
  type Envelope,
  keyRevoke,
  makeDocument,
  makeInvite,
  parseInviteLink,
  parseTrustAnchor,
} from '@strongroom/protocol'
import { ApiError } from '@strongroom/sdk'
import { identityOf } from '../../actors.ts'
import { clientOf, type World } from '../world.ts'
import { type Kind, lost } from './writer.ts'

// People who are invited, accept, are endorsed and sometimes leave: a `key.add` and a `key.revoke` in the log of the organisation.

const WEEK_MS = 7 * 24 * 3_600_000
const LEAVES = 0.7

const mutable = (envelope: Envelope) => ({ ...envelope, signatures: [...envelope.signatures] })

interface Invited {
  readonly invite: Envelope
  readonly link: string
  readonly inviteId: string
  readonly userId: string
}

async function inviteOne({ journal, founder, session }: World, name: string): Promise<Invited> {
  const { orgId: org, tenantId, identity } = founder
  const { genesis } = parseTrustAnchor(founder.trustAnchor)
  const at = Date.now()
  const terms = { org, genesis, caps: ['member' as const], expires: at + WEEK_MS, note: '', at }
  const { envelope, link } = await makeInvite(terms, identity)
  const body = { email: `${name.replaceAll(' ', '-')}@example.com`, name, tenantId, invite: mutable(envelope) }
  const { inviteId, userId } = await journal.submit({
    action: 'invite.create',
    send: (options) => session().invites.create({ body }, options),
    target: (answer) => answer.inviteId,
  })
  return { invite: envelope, link, inviteId, userId }
}

async function accept({ journal, url, joining }: World, invited: Invited): Promise<{ kid: string; half: Envelope }> {
  const { invite, link, inviteId, userId } = invited
  const who = await identityOf('carol', `user:${userId}`)
  const { kid } = who
  const half = await acceptInvite(parseInviteLink(link), invite, who, Date.now())
  const nobody = clientOf(url)
  const params = { id: inviteId }
  const { registrationRequest, secrets } = joining
  await journal.submit({
    action: 'invite.accept',
    send: async () => {
      try {
        const { attemptId } = await nobody.invites.register({ params, body: { registrationRequest } })
        await nobody.invites.accept({ params, body: { attemptId, acceptance: mutable(half), kid, ...secrets } })
      } catch (error) {
        // Whoever is not known yet has no idempotency key: that it was accepted before says that it happened.
        if (!(error instanceof ApiError && error.code === 'invite_used')) throw error
      }
    },
    target: () => inviteId,
  })
  return { kid, half }
}

async function endorse(world: World, { inviteId }: Invited, half: Envelope): Promise<void> {
  const keyAdd = await addSignatures(half, [world.founder.identity])
  await world.journal.submit({
    action: 'invite.endorse',
    send: (options) =>
      world.session().invites.endorse({ params: { id: inviteId }, body: { keyAdd: mutable(keyAdd) } }, options),
    target: () => inviteId,
  })
  world.loggedDocuments.add(documentHash(keyAdd))
}

async function revoke(world: World, { userId }: Invited, kid: string): Promise<void> {
  const { orgId: org, identity } = world.founder
  const event = await makeDocument(keyRevoke, { org, at: Date.now(), kid, reason: 'removed' }, [identity])
  await world.journal.submit({
    action: 'directory.key.revoke',
    send: (options) => world.session().userKeys.revoke({ body: { event: mutable(event) } }, options),
    target: () => `user:${userId}`,
  })
  world.loggedDocuments.add(documentHash(event))
}

export const members: Kind = {
  name: 'members',
  clients: 1,
  open: async (world) => {
    const statuses = new Map<string, string>()
    return {
      round: async (random, name) => {
        const invited = await inviteOne(world, name)
        statuses.set(invited.userId, 'invited')
        const { kid, half } = await accept(world, invited)
        await endorse(world, invited, half)
        statuses.set(invited.userId, 'active')
        if (random.chance(LEAVES)) await revoke(world, invited, kid)
      },
      check: async () => {
        const { users } = await world.session().users.list()
        const there = new Map(users.map((user) => [user.userId, user.status]))
        return [...statuses]
          .filter(([userId, status]) => there.get(userId) !== status)
          .map(([userId, status]) => lost(`${userId} is ${there.get(userId)}, acknowledged was ${status}`))
      },
    }
  },
}
