import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  acceptInvite,
  changePassphrase,
  connect,
  endorseInvite,
  login,
  makeUserInvite,
  recover,
  setUp,
} from '../../src/index.ts'
import { keysOf, type NewServer, startNewServer } from './server.ts'

// What can be sent once, whose answer was lost. Catches: an organisation that nobody can enter, since the only codes to it were never
// shown; an invite that was accepted with keys that nobody has; a recovery that used up the code and gave no other; a refusal that is taken for
// a loss and sent again. Seen red: each ended in `connection_failed`, and what was taken was as good as gone.

let server: NewServer
beforeAll(async () => {
  server = await startNewServer()
})
afterAll(() => server.close())

const PASSPHRASE = 'correct horse battery staple'

type Fate = 'lost' | 'not sent'

/** The first request that goes there has this fate. */
function losing(end: string, fate: Fate) {
  const seen: string[] = []
  const network: typeof fetch = async (input, init) => {
    const asked = `${init?.method} ${new URL(String(input)).pathname}`
    const isFirst = asked.endsWith(end) && !seen.some((one) => one.endsWith(end))
    seen.push(asked)
    if (isFirst && fate === 'not sent') throw new TypeError('no route to host')
    const response = await fetch(input, init)
    if (!isFirst) return response
    await response.arrayBuffer()
    throw new TypeError('socket closed')
  }
  return { network, times: () => seen.filter((one) => one.endsWith(end)).length }
}

const setUpWith = (network: typeof fetch, setupToken = server.setupToken) =>
  setUp({
    baseUrl: server.url,
    fetch: network,
    setupToken,
    email: 'alice@example.com',
    passphrase: PASSPHRASE,
    orgName: 'Northwind',
    userName: 'Alice',
    tenantName: 'main',
    keys: keysOf('alice'),
  })

it('gives the first person of an organisation their codes, and those of whom the invite and the recovery were taken', async () => {
  const baseUrl = server.url
  const first = losing('/setup/finish', 'lost')
  const alice = await setUpWith(first.network)
  expect(first.times()).toBe(1)
  const { deviceSecret, recoveryCode } = alice.codes
  const who = { baseUrl, email: alice.email, deviceSecret }
  expect((await login({ ...who, passphrase: PASSPHRASE })).tenantId).toBe(alice.tenantId)
  // What was refused was not lost: it is told as it is.
  const refused = losing('/setup/finish', 'lost')
  await expect(setUpWith(refused.network)).rejects.toMatchObject({ code: 'already_set_up' })

  const invite = await makeUserInvite(alice, { email: 'bob@example.com', name: 'Bob', tenantId: alice.tenantId })
  const accepting = losing('/accept', 'lost')
  const { link } = invite
  const bob = await acceptInvite({
    baseUrl,
    link,
    passphrase: PASSPHRASE,
    keys: keysOf('bob'),
    fetch: accepting.network,
  })
  expect(accepting.times()).toBe(1)
  await endorseInvite(alice, invite)
  const entered = await login({ baseUrl, email: 'bob@example.com', passphrase: PASSPHRASE, ...bob.codes })
  expect(entered.identity.kid).toBe(bob.identity.kid)

  const changing = losing('PUT /api/v1/platform/user-key', 'lost')
  const there = { baseUrl, fetch: changing.network }
  const client = connect(there, { accessToken: alice.accessToken })
  const own = { passphrase: PASSPHRASE, deviceSecret }
  const changed = await changePassphrase({ ...alice, client }, there, own, 'another passphrase')
  expect(changing.times()).toBe(1)
  expect((await changed.client.sessions.list()).data.some(({ current }) => current)).toBe(true)

  const recovering = losing('/recovery/finish', 'lost')
  const back = await recover({
    baseUrl,
    email: alice.email,
    recoveryCode,
    newPassphrase: 'found again',
    fetch: recovering.network,
  })
  expect(recovering.times()).toBe(1)
  await login({ ...who, deviceSecret: back.codes.deviceSecret, passphrase: 'found again' })

  // What never arrived is sent again.
  const away = losing('/recovery/finish', 'not sent')
  const again = await recover({
    baseUrl,
    email: alice.email,
    recoveryCode: back.codes.recoveryCode,
    newPassphrase: 'once more',
    fetch: away.network,
  })
  expect(away.times()).toBe(2)
  expect(again.codes.recoveryCode).not.toBe(back.codes.recoveryCode)
})
