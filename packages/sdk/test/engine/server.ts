import { readFileSync, rmSync } from 'node:fs'
import { decodePem, type Identity, openKeys, type PrivateKeyMaterial, registerKey } from '@strongroom/protocol'
import { freePort, runServer } from '../../../server/test/process.ts'
import {
  dropRunDatabase,
  isTestRun,
  makeRunDatabase,
  type ServerHere,
  startServerHere,
} from '../../../server/test/server-here.ts'
import { type Client, createClient } from '../../src/client.ts'
import { type Actor, type ActorOptions, makeActor } from '../../src/engine/actor.ts'
import { memoryTrust, pinTrust } from '../../src/engine/trust.ts'
import { type FirstPerson, setUp } from '../../src/people.ts'
import { copyData, keep, keptPerson, newData } from './kept-server.ts'

// A real server as an operator runs it, with a database of its own, and people and agents who came in by its API.

const KEYS = new URL('../../../protocol/vectors/keys.json', import.meta.url)
const { keys } = JSON.parse(readFileSync(KEYS, 'utf8')) as { readonly keys: Readonly<Record<string, string>> }

export type KeyName = 'alice' | 'bob' | 'carol' | 'dave' | 'deploy' | 'deployNext' | 'worker' | 'hybrid' | 'mallory'
export const keysOf = (name: KeyName): PrivateKeyMaterial => decodePem(keys[name] ?? '')

export interface TestServer {
  readonly url: string
  readonly founder: FirstPerson
  close(): Promise<void>
}

type ServerEnv = Readonly<Record<string, string>>

export interface ServerOptions {
  /** Settings of the server, in addition to those that every one here has. */
  readonly env?: ServerEnv
  /** In a process of its own, also in a test run: for tests that wait for a program and let nothing else happen meanwhile. */
  readonly apart?: boolean
  /** The data of a server that was set up before, to start a copy of; not of one that is apart. */
  readonly like?: string
}

interface Started extends ServerHere {
  close(): Promise<void>
}

/** A process of its own, as an operator starts it. */
async function startProcess(data: string, env: ServerEnv): Promise<ServerHere> {
  const { url, output, end } = await runServer({ data, port: await freePort(), env })
  const [, setupToken] = /setup token\s+(\S+)\n/.exec(output()) ?? []
  return { url, setupToken, stop: async () => void (await end('SIGTERM')) }
}

async function startOn(data: string, { env = {}, apart = !isTestRun() }: ServerOptions): Promise<Started> {
  const server = await (apart ? startProcess : startServerHere)(data, env)
  const close = async (): Promise<void> => {
    await server.stop()
    if (!apart) await dropRunDatabase(data)
    rmSync(data, { recursive: true, force: true })
  }
  return { ...server, close }
}

export interface NewServer extends Started {
  readonly data: string
  readonly setupToken: string
}

/** A server that nobody has set up yet. */
export async function startNewServer(options: ServerOptions = {}): Promise<NewServer> {
  const data = newData()
  const server = await startOn(data, options)
  return { ...server, data, setupToken: server.setupToken ?? '' }
}

const FOUNDER = {
  email: 'alice@example.com',
  passphrase: 'correct horse battery staple',
  orgName: 'acme',
  userName: 'Alice',
  tenantName: 'main',
}

const setUpFirst = ({ url, setupToken }: NewServer): Promise<FirstPerson> =>
  setUp({ baseUrl: url, setupToken, keys: keysOf('alice'), ...FOUNDER })

/** The data of a server that Alice has set up, with whatever else there shall be, for others to be like. */
export async function keepServer(
  options: ServerOptions = {},
  fill: (server: TestServer) => Promise<object> = async () => ({}),
): Promise<string> {
  const { data, stop, ...server } = await startNewServer(options)
  const founder = await setUpFirst({ data, stop, ...server })
  keep(data, founder, await fill({ ...server, founder }))
  await stop()
  return data
}

/** Made once in a worker of a test run: its files all want the same first minute. */
let first: Promise<string> | undefined

/** A server that Alice has set up. */
export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const { apart = !isTestRun() } = options
  if (apart) {
    const server = await startNewServer(options)
    return { ...server, founder: await setUpFirst(server) }
  }
  if (options.like === undefined) first ??= keepServer()
  const like = options.like ?? (await first) ?? ''
  const data = copyData(like)
  await makeRunDatabase(data, like)
  const { url, close } = await startOn(data, options)
  return { url, founder: await keptPerson(data, url), close }
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
