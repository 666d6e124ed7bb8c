import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { INSIDE_ADDRESSES, REFUSED_URLS } from '../../test/egress-cases.ts'
import { type NameServer, startNameServer } from '../../test/name-server.ts'
import { parseNetwork } from './addresses.ts'
import { checkUrl, type EgressPolicy, EgressRefused, sendOut } from './egress.ts'

// What can be connected to, judged by the connections that a listener on this machine sees, with names that a name server of our own
// resolves as it likes. Catches: an address inside in whatever spelling, a name that leads inside now or at the second look, a redirect
// that is followed, an answer without end.
// Seen red: addresses behind names not looked at, one good address of several enough, a connection that looks the name up by itself, host
// names inside let through, ports not looked at, answers read to their end.

let names: NameServer
let inside: Server
let port: number
let seen = 0
const open = new Set<Socket>()
let answer: (socket: Socket) => void = (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')

beforeAll(async () => {
  names = await startNameServer()
  inside = createServer((socket) => {
    seen += 1
    open.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => open.delete(socket))
    answer(socket)
  })
  inside.listen(0, '::')
  await once(inside, 'listening')
  port = (inside.address() as { port: number }).port
})
afterAll(() => {
  names.close()
  for (const socket of open) socket.destroy()
  inside.close()
})

const policy = (): EgressPolicy => ({ allowed: [], ownHosts: ['vault.acme.dev'], nameServers: [names.address] })
const LOOPBACK = [parseNetwork('127.0.0.1/32')].filter((network) => network !== undefined)
const toInside = (): EgressPolicy => ({ ...policy(), allowed: LOOPBACK })
const post = (url: string, more: { policy?: EgressPolicy; timeoutMs?: number; maxBytes?: number } = {}) =>
  sendOut(
    {
      url,
      method: 'POST',
      headers: {},
      body: '{}',
      timeoutMs: more.timeoutMs ?? 3000,
      maxBytes: more.maxBytes ?? 1000,
    },
    more.policy ?? policy(),
  )
const reasonOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'sent',
    (error: Error) => (error instanceof EgressRefused ? error.reason : error.name),
  )

it.each(INSIDE_ADDRESSES)('does not go to %s, written out or behind a name', async (address) => {
  const before = seen
  const literal = address.includes(':') ? `[${address}]` : address
  expect(await reasonOf(post(`https://${literal}:${port}/`))).toBe('address')
  names.tell('away.acme.dev', [address])
  expect(await reasonOf(post(`https://away.acme.dev:${port}/`))).toBe('address')
  // One of several is enough.
  names.tell('mixed.acme.dev', ['93.184.216.34', address])
  expect(await reasonOf(post(`https://mixed.acme.dev:${port}/`))).toBe('address')
  expect(seen).toBe(before)
})

it.each(REFUSED_URLS)('refuses %j at sight', async (url, reason) => {
  const before = seen
  expect(() => checkUrl(url, policy())).toThrow(expect.objectContaining({ reason }))
  expect(await reasonOf(post(url))).toBe(reason)
  expect(seen).toBe(before)
})

it('takes what anybody could mean', () => {
  for (const url of [
    'https://acme.dev/hooks?x=1#@127.0.0.1',
    'https://acme.dev:8443/',
    'https://93.184.216.34/',
    'https://[2606:4700::1111]/',
  ])
    expect(checkUrl(url, policy()).hostname).not.toBe('')
})

it('looks a name up again for every connection, and goes where it looked', async () => {
  const before = seen
  // Outside when it was set up, inside at delivery.
  names.tell('rebind.acme.dev', ['127.0.0.1'])
  checkUrl('https://rebind.acme.dev/', policy())
  expect(await reasonOf(post(`https://rebind.acme.dev:${port}/`))).toBe('address')
  expect(seen).toBe(before)
  // Allowed at the first look, another at the second: the connection goes to the first, and nobody looks twice.
  names.tell('twice.acme.dev', ['127.0.0.1'], ['10.0.0.1'])
  await reasonOf(post(`https://twice.acme.dev:${port}/`, { policy: toInside() }))
  expect(names.asked('twice.acme.dev')).toBe(1)
  expect(seen).toBe(before + 1)
  expect(await reasonOf(post(`https://nobody.acme.dev:${port}/`))).toBe('name')
})

const local = () => `http://127.0.0.1:${port}/`

it('goes to networks that the operator allows, and to no other', async () => {
  const { status, body } = await post(local(), { policy: toInside() })
  expect([status, body.toString()]).toEqual([200, 'ok'])
  expect(await reasonOf(post(`http://127.0.0.2:${port}/`, { policy: toInside() }))).toBe('scheme')
  expect(await reasonOf(post(`https://127.0.0.2:${port}/`, { policy: toInside() }))).toBe('address')
})

it.each([301, 302, 303, 307, 308])('follows no %i', async (status) => {
  const before = seen
  answer = (socket) =>
    socket.end(`HTTP/1.1 ${status} Elsewhere\r\nlocation: http://127.0.0.1:${port}/secret\r\ncontent-length: 0\r\n\r\n`)
  expect((await post(local(), { policy: toInside() })).status).toBe(status)
  expect(seen).toBe(before + 1)
})

it('cuts an answer that is too large, too slow, or has headers without end', async () => {
  answer = (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10000000000\r\n\r\n')
    const fill = (): void => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65_536, 'x')));
    }
    socket.on('drain', fill)
    fill()
  }
  const large = await post(local(), { policy: toInside() })
  expect([large.isCut, large.body.length]).toEqual([true, 1000])
  answer = (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nx')
  expect(await reasonOf(post(local(), { policy: toInside(), timeoutMs: 300 }))).toBe('TimeoutError')
  answer = (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    for (let i = 0; i < 2000 && !socket.destroyed; i++) socket.write(`x-${i}: ${'y'.repeat(100)}\r\n`)
  }
  expect(await reasonOf(post(local(), { policy: toInside() }))).toBe('Error')
  answer = (socket) => socket.destroy()
  expect(await reasonOf(post(local(), { policy: toInside() }))).toBe('Error')
})

it('says nothing of where a name leads', async () => {
  names.tell('inside.acme.dev', ['10.20.30.40'])
  const error = await post('https://inside.acme.dev/').catch((cause: Error) => cause)
  expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('10.20')
})
