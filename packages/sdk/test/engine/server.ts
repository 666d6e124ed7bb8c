import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { decodePem, type Identity, openKeys, type PrivateKeyMaterial, registerKey } from '@strongroom/protocol'
import { type Client, createClient } from '../../src/client.ts'
import { type Actor, type ActorOptions, makeActor } from '../../src/engine/actor.ts'
import { memoryTrust, pinTrust } from '../../src/engine/trust.ts'
import { type FirstPerson, setUp } from '../../src/people.ts'

// A real server as an operator runs it, a process of its own with its own PostgreSQL, and people and agents who came in by its API.

const MAIN = fileURLToPath(new URL('../../../server/src/main.ts', import.meta.url))
const KEYS = new URL('../../../protocol/vectors/keys.json', import.meta.url)
const { keys } = JSON.parse(readFileSync(KEYS, 'utf8')) as { readonly keys: Readonly<Record<string, string>> }

export type KeyName = 'alice' | 'bob' | 'carol' | 'dave' | 'deploy' | 'deployNext' | 'worker' | 'hybrid' | 'mallory'
export const keysOf = (name: KeyName): PrivateKeyMaterial => decodePem(keys[name] ?? '')

export interface TestServer {
  readonly url: string
  readonly founder: FirstPerson
  close(): Promise<void>
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    const port = 33_000 + Math.floor(Math.random() * 12_000)
    probe.once('error', () => resolve(freePort()))
    probe.listen(port, '127.0.0.1', () => probe.close((error) => (error ? reject(error) : resolve(port))))
  })
}

function awaitOutput(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = ''
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const [, found] = pattern.exec(text) ?? []
      if (found !== undefined) resolve(found)
    })
    child.once('close', (code) => reject(new Error(`the server ended with ${code}: ${text}`)))
  })
}

export interface ServerOptions {
  /** Settings of the server, in addition to those that every one here has. */
  readonly env?: Readonly<Record<string, string>>
}

export interface NewServer {
  readonly url: string
  readonly setupToken: string
  close(): Promise<void>
}

/** A server that nobody has set up yet. */
export async function startNewServer({ env = {} }: ServerOptions = {}): Promise<NewServer> {
  const data = mkdtempSync(join(tmpdir(), 'sr-sdk-'))
  const port = await freePort()
  const child = spawn(process.execPath, [MAIN, '--data', data, '--port', String(port)], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, STRONGROOM_LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const setupToken = await awaitOutput(child, /setup token\s+(\S+)\n/)
  return {
    url: `http://127.0.0.1:${port}`,
    setupToken,
    close: async () => {
      child.kill('SIGTERM')
      await ended
      rmSync(data, { recursive: true, force: true })
    },
  }
}

export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const { url, setupToken, close } = await startNewServer(options)
  const founder = await setUp({
    baseUrl: url,
    setupToken,
    email: 'alice@example.com',
    passphrase: 'correct horse battery staple',
    orgName: 'acme',
    userName: 'Alice',
    tenantName: 'main',
    keys: keysOf('alice'),
  })
  return { url, founder, close }
}

/** An actor with a memory of its own and the organisation pinned. */
export async function actorFor(
  { founder }: TestServer,
  who: Pick<ActorOptions, 'client' | 'identity'> & Partial<ActorOptions>,
): Promise<Actor> {
  const actor = makeActor({ org: founder.orgId, trust: memoryTrust(), ...who })
  await pinTrust(actor.trust, founder.trustAnchor)
  return actor
}

export interface TestAgent {
  readonly agentId: string
  readonly apiKey: string
  readonly identity: Identity
  readonly client: Client
}

let made = 0

/** An agent with every permission whose key is in the log. */
export async function makeAgent({ url, founder }: TestServer, key: KeyName): Promise<TestAgent> {
  made += 1
  const { agent, apiKey } = await founder.client.agents.create({
    body: { name: `agent ${made}`, permissions: ['machine.all'] },
  })
  const identity = await openKeys(`agent:${agent.agentId}`, keysOf(key))
  const event = await registerKey({ org: founder.orgId, caps: ['agent'], at: Date.now() }, founder.identity, identity)
  await founder.client.keys.register({ body: { event } })
  const credential = String(apiKey)
  return {
    agentId: agent.agentId,
    apiKey: credential,
    identity,
    client: createClient({ baseUrl: url, apiKey: credential }),
  }
}

/** What stands between a client and the server. */
export interface Wire {
  /** Requests that were answered, as `GET /vault/…`. */
  readonly asked: string[]
  /** Changes what comes back; the answer is as the server gave it if it returns undefined. */
  tamper?: ((asked: string, answer: unknown) => unknown) | undefined
  /** Before a request is sent; may throw. */
  before?: ((asked: string) => void | Promise<void>) | undefined
  /** After the server has answered; may throw, and then the answer is lost. */
  after?: ((asked: string) => void | Promise<void>) | undefined
}

/** `fetch` through a wire. */
export function makeWire(): { wire: Wire; fetch: typeof fetch } {
  const wire: Wire = { asked: [] }
  const through: typeof fetch = async (input, init) => {
    const { pathname, search } = new URL(String(input))
    const asked = `${init?.method ?? 'GET'} ${pathname.replace(/^\/api\/v1\/[a-z]+/, '')}${search}`
    await wire.before?.(asked)
    const response = await fetch(input, init)
    wire.asked.push(asked)
    await wire.after?.(asked)
    if (!wire.tamper) return response
    const answer = (await response.json()) as unknown
    const changed = wire.tamper(asked, answer)
    const { status, headers } = response
    if (changed instanceof Response) return changed
    return Response.json(changed === undefined ? answer : changed, {
      status,
      headers: { 'x-request-id': headers.get('x-request-id') ?? '' },
    })
  }
  return { wire, fetch: through }
}
