import { ProtocolError } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { memoryTrust } from '../../src/engine/trust.ts'
import { connect } from '../../src/people.ts'
import { acceptInvite, endorseInvite, makeUserInvite, removeUser, type UserInvite } from '../../src/people-invites.ts'
import { keysOf, makeWire } from '../engine/server.ts'
import { errorOf, startWorld, unique, type World } from './world.ts'

// A person is removed by a server that lies about their keys. Catches: a key that ends because the server names it, a key that lives on
// because the server does not, a removal that cannot be done again once it was interrupted, an invitee without keys who cannot be removed.
// Seen red: revocations signed for what the server names; the owner of a named key not compared; the end of a key believed without the
// log; the refusal of somebody who is gone already passed on although their keys live; an administrator removed without whom a quorum is out
// of reach, where the client does not ask, where the server does not, and by two who are removed at once; keys of people who are gone
// counted by the server, and an administrator of whom the server says nothing not counted by the client.

const REVOKE = 'POST /user-key/revoke'
let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const invited = (...caps: readonly 'dir-admin'[]): Promise<UserInvite> => {
  const { tenantId } = world.founder
  const email = `${unique('bob')}@example.com`
  return makeUserInvite(world.founder, { email, name: 'Bob', tenantId, caps: [...caps, 'member'] })
}

async function member(...caps: readonly 'dir-admin'[]): Promise<{ readonly userId: string; readonly kid: string }> {
  const made = await invited(...caps)
  const passphrase = 'a passphrase of an invitee'
  const { identity } = await acceptInvite({ baseUrl: world.url, link: made.link, passphrase, keys: keysOf('bob') })
  await endorseInvite(world.founder, made)
  return { userId: made.userId, kid: identity.kid }
}

/** The founder as an admin, with somebody between both of their clients and the server. */
function admin() {
  const { wire, fetch } = makeWire()
  const { client } = world.device({ fetch, maxRetries: 0, trustStore: memoryTrust() })
  const platform = connect({ baseUrl: world.url, fetch }, { accessToken: world.founder.accessToken })
  const remove = (userId: string) => removeUser({ client: platform }, userId, client)
  return { wire, remove, revocations: () => wire.asked.filter((asked) => asked === REVOKE) }
}

const statusOf = async (userId: string) => (await world.alice.transparency.keys(`user:${userId}`)).map((k) => k.status)

/** Answers a removal with these keys. */
const naming = (liveKeys: readonly unknown[]) => (asked: string, answer: unknown) =>
  asked.startsWith('DELETE /user/') && Object.hasOwn(answer as object, 'userId')
    ? { ...(answer as object), liveKeys }
    : undefined

it('ends the keys that the log has for a person, and says which', async () => {
  const { userId, kid } = await member()
  const { remove } = admin()
  expect(await remove(userId)).toEqual([kid])
  expect(await statusOf(userId)).toEqual(['removed'])
  expect(await errorOf(remove(userId))).toMatchObject({ code: 'user_not_found' })
})

it('signs nothing when the server names a key of the admin, of another person or of an agent, and can be done again', async () => {
  const [other, bot] = [await member(), await world.agent('worker')]
  const [botKey] = await world.alice.transparency.keys(bot.principal)
  for (const named of [world.founder.identity.kid, other.kid, botKey?.keyId, 'no key id']) {
    const { userId, kid } = await member()
    const { wire, remove, revocations } = admin()
    wire.tamper = naming([kid, named])
    const refusal = await errorOf(remove(userId))
    expect(refusal).toBeInstanceOf(ProtocolError)
    expect(refusal).toMatchObject({ code: named === 'no key id' ? 'malformed' : 'key_substitution' })
    expect(revocations()).toEqual([])
    expect(await statusOf(userId)).toEqual(['active'])
    expect(await remove(userId)).toEqual([kid])
    expect(await statusOf(userId)).toEqual(['removed'])
  }
  expect(await statusOf(other.userId)).toEqual(['active'])
  expect(await statusOf(world.founder.userId)).toEqual(['active'])
})

it('ends the keys of the log also when the server names none', async () => {
  const { userId, kid } = await member()
  const { wire, remove } = admin()
  wire.tamper = naming([])
  expect(await remove(userId)).toEqual([kid])
  expect(await statusOf(userId)).toEqual(['removed'])
})

it('refuses a server that calls a key ended which the log calls active', async () => {
  const { userId, kid } = await member()
  const { wire, fetch } = makeWire()
  const forgetful: typeof fetch = async (input, init) =>
    String(input).endsWith('/user-key/revoke') ? Response.json({ kid }) : fetch(input, init)
  const { client } = world.device({ fetch: forgetful, trustStore: memoryTrust() })
  expect(await errorOf(removeUser(world.founder, userId, client))).toMatchObject({ code: 'bad_inclusion' })
  expect(wire.asked).not.toContain(REVOKE)
  expect(await removeUser(world.founder, userId, world.alice)).toEqual([kid])
})

it('goes on after an interruption between the removal and the end of the keys', async () => {
  const { userId, kid } = await member()
  const { wire, remove } = admin()
  wire.before = (asked) => {
    if (asked === REVOKE) throw new TypeError('the connection is gone')
  }
  expect(await errorOf(remove(userId))).toMatchObject({ code: 'outcome_unknown' })
  expect(await statusOf(userId)).toEqual(['active'])
  wire.before = undefined
  expect(await remove(userId)).toEqual([kid])
  expect(await statusOf(userId)).toEqual(['removed'])
})

it('removes an invitee who has no key, and nobody whom neither server nor log knows', async () => {
  const { userId } = await invited()
  const { remove, revocations } = admin()
  expect(await remove(userId)).toEqual([])
  expect(await errorOf(remove('usr_nobody'))).toMatchObject({ code: 'user_not_found' })
  expect(revocations()).toEqual([])
})

it('ends no key where the server refuses the removal, as of the last owner', async () => {
  const { remove, revocations } = admin()
  expect(await errorOf(remove(world.founder.userId))).toMatchObject({ code: 'last_owner' })
  expect(revocations()).toEqual([])
})

it('removes no administrator without whom the directory could never be changed again', async () => {
  const admins = [await member('dir-admin'), await member('dir-admin'), await member('dir-admin')]
  const { quorums } = world.alice.transparency
  const { statement } = (await quorums.propose({ directory: 2 })) ?? {}
  await quorums.send(statement)
  const { wire, remove, revocations } = admin()
  const atServer = ({ userId }: { readonly userId: string }) =>
    connect({ baseUrl: world.url }, { accessToken: world.founder.accessToken }).users.remove({ params: { id: userId } })
  const ended = await Promise.allSettled(admins.map(atServer))
  const refused = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  expect(refused).toMatchObject([{ code: 'quorum_unreachable', status: 409, details: { administratorsLeft: 1 } }])
  // Of those who are gone, the log has active keys: the client counts them until they have ended.
  const kept = admins.find((_, i) => ended[i]?.status === 'rejected')
  const gone = admins.filter((one) => one !== kept)
  for (const { userId, kid } of gone) expect(await remove(userId)).toEqual([kid])
  wire.asked.length = 0
  wire.tamper = (asked, answer) => (asked.startsWith('GET /user?') ? { ...(answer as object), users: [] } : undefined)
  const refusal = await errorOf(remove(kept?.userId ?? ''))
  expect(refusal).toMatchObject({
    name: 'ConflictError',
    code: 'quorum_unreachable',
    hint: 'Lower the quorum first: strongroom log quorum --directory N --recovery N',
  })
  expect([revocations(), wire.asked.filter((asked) => !asked.startsWith('GET'))]).toEqual([[], []])
  expect(await statusOf(kept?.userId ?? '')).toEqual(['active'])
})
