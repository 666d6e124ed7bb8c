import {
  formatTrustAnchor,
  makeVerifierKey,
  NOTE_COSIGNATURE,
  NOTE_SIGNATURE,
  orgTrustOf,
  parseTrustAnchor,
  peekCheckpoint,
  type TrustAnchor,
  textValue,
  toBase64url,
} from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient } from '../../src/client.ts'
import { type Actor, makeActor } from '../../src/engine/actor.ts'
import { readEnvironment } from '../../src/engine/environment.ts'
import { memoryTrust, pinTrust, type TrustKeeper } from '../../src/engine/trust.ts'
import { changeItems } from '../../src/engine/write-items.ts'
import { createVault } from '../../src/engine/write-vaults.ts'
import { type LoginOptions, login } from '../../src/people.ts'
import { recover } from '../../src/people-keys.ts'
import { actorFor, makeWire, startServer, type TestServer, type Wire } from './server.ts'

// Anchors that are given by another way than the server. Catches: a device with an old trust store that a server can take back to
// before its newest anchor was issued, or show another history below it; a kit whose log keys, witnesses or minimum are replaced by
// what the server says.
// Seen red: the larger minimum not taken over; the link to what was read last not verified, or not asked for; the server's anchor kept
// by login and by recovery; log keys not compared.

let server: TestServer
let alice: Actor
let vaultId: string
let given: TrustAnchor
beforeAll(async () => {
  server = await startServer()
  given = parseTrustAnchor(server.founder.trustAnchor)
  alice = await actorFor(server, server.founder)
  vaultId = (await createVault(alice, { name: 'payments' })).vaultId
})
afterAll(() => server.close())

const write = (name: string) =>
  changeItems(alice, vaultId, {
    create: [{ name, fields: [{ label: name.toUpperCase(), env: true, value: textValue('x') }] }],
  })

/** An anchor with today as the least, as an administrator gives it. */
async function anchorOfNow(): Promise<string> {
  const { checkpoint } = await server.founder.client.transparency.checkpoint()
  const { size, root } = peekCheckpoint(checkpoint)
  return formatTrustAnchor({ ...given, minimum: { size, root: toBase64url(root) } })
}

interface Device {
  readonly actor: Actor
  readonly wire: Wire
  readonly trust: TrustKeeper
}

/** A device of the founder with what it remembers, behind somebody who may lie. */
function deviceWith(trust: TrustKeeper): Device {
  const { accessToken, identity, orgId: org } = server.founder
  const { wire, fetch } = makeWire()
  const client = createClient({ baseUrl: server.url, accessToken, fetch })
  return { actor: makeActor({ client, identity, org, trust }), wire, trust }
}

async function readDevice(): Promise<Device> {
  const trust = memoryTrust()
  await pinTrust(trust, server.founder.trustAnchor)
  const device = deviceWith(trust)
  await readEnvironment(device.actor, vaultId)
  return device
}

const trustOf = async ({ trust }: Device) => orgTrustOf(await trust.read(), server.founder.orgId)
const sizeOf = async (device: Device): Promise<number> => peekCheckpoint((await trustOf(device)).checkpoint ?? '').size
const isLink = (asked: string): boolean => asked.includes('/transparency/state')

it('goes on from an old store with a newer anchor, proves both at the next read, and asks for that once', async () => {
  const device = await readDevice()
  const before = await sizeOf(device)
  await write('one')
  await pinTrust(device.trust, await anchorOfNow())
  await write('two')
  expect(await sizeOf(device)).toBe(before)
  expect((await readEnvironment(device.actor, vaultId)).variables).toHaveLength(2)
  expect(await sizeOf(device)).toBe(before + 2)
  expect(device.wire.asked.filter(isLink)).toHaveLength(1)
  await readEnvironment(device.actor, vaultId)
  expect(device.wire.asked.filter(isLink)).toHaveLength(1)
  expect((await trustOf(device)).alarms).toEqual([])
})

it('asks again where the log has grown between an answer and its link', async () => {
  const device = await readDevice()
  await write('three')
  await pinTrust(device.trust, await anchorOfNow())
  let isGrown = false
  device.wire.before = async (asked) => {
    if (!isLink(asked) || isGrown) return
    isGrown = true
    await write('four')
  }
  await readEnvironment(device.actor, vaultId)
  expect(device.wire.asked.filter(isLink)).toHaveLength(2)
  expect((await trustOf(device)).alarms).toEqual([])
})

it('refuses a log from before its newest anchor, although its store knows no better', async () => {
  const old = await readDevice()
  const before = await sizeOf(old)
  let answer: unknown
  old.wire.tamper = (asked, one) => {
    if (asked.includes('environment-fields')) answer = one
  }
  await readEnvironment(old.actor, vaultId)
  await write('five')
  await pinTrust(old.trust, await anchorOfNow())
  old.wire.tamper = (asked) => (asked.includes('environment-fields') ? answer : undefined)
  // A device without that memory in its process, which has to take what it is shown.
  const device = deviceWith(old.trust)
  device.wire.tamper = old.wire.tamper
  await expect(readEnvironment(device.actor, vaultId)).rejects.toMatchObject({ code: 'log_rollback' })
  expect(await sizeOf(device)).toBe(before)
})

it('refuses an anchor whose log does not extend what was read before, and remembers nothing of the read', async () => {
  const device = await readDevice()
  const before = await sizeOf(device)
  await write('six')
  await pinTrust(device.trust, await anchorOfNow())
  await write('seven')
  device.wire.tamper = (asked, answer) => {
    const { consistency, ...rest } = answer as { consistency: { from: number; hashes: readonly string[] } }
    const [first = '', ...more] = isLink(asked) ? consistency.hashes : []
    const altered = [first.startsWith('A') ? `B${first.slice(1)}` : `A${first.slice(1)}`, ...more]
    return isLink(asked) ? { ...rest, consistency: { ...consistency, hashes: altered } } : undefined
  }
  await expect(readEnvironment(device.actor, vaultId)).rejects.toMatchObject({ code: 'log_fork' })
  expect(await sizeOf(device)).toBe(before)
  expect((await trustOf(device)).alarms.map(({ code }) => code)).toEqual(['log_fork'])
})

const EMAIL = 'alice@example.com'
const PASSPHRASE = 'correct horse battery staple'
const publicKey = new Uint8Array(32).fill(3)
/** The anchor of a kit: it asks for a witness, and names a second key that the log once had. */
const kitAnchor = (): string => {
  const witness = makeVerifierKey('witness.example', NOTE_COSIGNATURE, publicKey)
  const former = makeVerifierKey(given.origin, NOTE_SIGNATURE, publicKey)
  return formatTrustAnchor({
    ...given,
    logVkeys: [...given.logVkeys, former.vkey],
    tlogPolicy: `witness w1 ${witness.vkey}\nquorum w1\n`,
  })
}

/** A server that names another anchor than its own. */
const naming = (change: Partial<TrustAnchor>): NonNullable<LoginOptions['fetch']> => {
  const { wire, fetch } = makeWire()
  wire.tamper = (_, answer) => {
    const { trustAnchor } = Object(answer) as { trustAnchor?: string }
    if (trustAnchor === undefined) return undefined
    return { ...Object(answer), trustAnchor: formatTrustAnchor({ ...parseTrustAnchor(trustAnchor), ...change }) }
  }
  return fetch
}
const otherKey = () => ({ logVkeys: [makeVerifierKey(given.origin, NOTE_SIGNATURE, publicKey).vkey] })
const logIn = (more: Partial<LoginOptions>) =>
  login({
    baseUrl: server.url,
    email: EMAIL,
    passphrase: PASSPHRASE,
    deviceSecret: server.founder.codes.deviceSecret,
    ...more,
  })

it('keeps the anchor that was given to a login, and refuses a log with another key', async () => {
  const trustAnchor = kitAnchor()
  expect((await logIn({ trustAnchor })).trustAnchor).toBe(trustAnchor)
  const later = { size: 5_000_000, root: 'A'.repeat(43) }
  expect((await logIn({ trustAnchor, fetch: naming({ minimum: later }) })).trustAnchor).toBe(trustAnchor)
  const { founder } = server
  const foreign = logIn({ trustAnchor: founder.trustAnchor, fetch: naming(otherKey()) })
  await expect(foreign).rejects.toMatchObject({ code: 'log_key', message: expect.stringContaining('administrator') })
  const both = naming({ logVkeys: [...otherKey().logVkeys, ...given.logVkeys] })
  expect((await logIn({ trustAnchor: founder.trustAnchor, fetch: both })).trustAnchor).toBe(founder.trustAnchor)
})

it('believes the server where nothing was given, as at every first login without a kit', async () => {
  const minimum = { size: 7, root: 'A'.repeat(43) }
  const { trustAnchor } = await logIn({ fetch: naming({ minimum }) })
  expect(parseTrustAnchor(trustAnchor)).toEqual({ ...given, minimum })
})

it('keeps it over a recovery, which changes nothing where the log has another key', async () => {
  const { recoveryCode } = server.founder.codes
  const options = { baseUrl: server.url, email: EMAIL, recoveryCode, newPassphrase: 'velvet harbor comet thirteen' }
  const foreign = recover({ ...options, trustAnchor: server.founder.trustAnchor, fetch: naming(otherKey()) })
  await expect(foreign).rejects.toMatchObject({ code: 'log_key' })
  await logIn({})
  const trustAnchor = kitAnchor()
  expect((await recover({ ...options, trustAnchor })).trustAnchor).toBe(trustAnchor)
})
