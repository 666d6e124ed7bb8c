import { lookup, Resolver } from 'node:dns/promises'
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as overHttp } from 'node:http'
import { Agent as HttpsAgent, request as overHttps } from 'node:https'
import { isIP } from 'node:net'
import { isInNetworks, isPublicAddress, type Network } from './addresses.ts'

// The only way out. Whoever lets others name an address that this server connects to goes through here: the name is looked up by us,
// every address it has must be one that anybody may be sent to, and the connection goes to exactly those, however often the name
// changes its mind. Nothing is followed, nothing is pooled, and an answer is as large and as slow as we allow.

export interface EgressPolicy {
  /** Networks that may be reached besides, also without TLS: for development, and for providers inside. */
  readonly allowed: readonly Network[]
  /** Names of this server itself. */
  readonly ownHosts: readonly string[]
  /** Name servers; those of the machine if there are none. */
  readonly nameServers: readonly string[]
}

export type RefusalReason = 'url' | 'scheme' | 'credentials' | 'host' | 'port' | 'address' | 'name'

export class EgressRefused extends Error {
  override name = 'EgressRefused'
  readonly reason: RefusalReason
  constructor(reason: RefusalReason) {
    // Not the address: what a name leads to inside is nobody's to learn.
    super(`this address is not one that can be connected to (${reason})`)
    this.reason = reason
  }
}

const refuse = (reason: RefusalReason): never => {
  throw new EgressRefused(reason)
}

/** What speaks another protocol and would take a request for commands. */
const SERVICE_PORTS: ReadonlySet<number> = new Set([
  1433, 1521, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 5432, 5672, 5900, 5984, 6379, 6443, 9042, 9092, 9200, 9300,
  10250, 11211, 27017,
])
const INSIDE = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home|corp|arpa|onion|test|invalid|example)$/

const isOpenPort = (port: number): boolean => port === 443 || (port >= 1024 && !SERVICE_PORTS.has(port))

/** As it is written: what a parser would silently put right is somebody's attempt. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ODD = /[\u0000-\u0020\u007f\\]|^[a-z]+:(?!\/\/[^/])/i

const isNamed = (hostname: string): boolean => isIP(bare(hostname)) === 0
/** Without the brackets of an IPv6 address. */
const bare = (hostname: string): string => hostname.replace(/^\[|\]$/g, '')

/** Checks what can be told without asking anybody. Gives the address as it will be used. */
export function checkUrl(text: string, policy: EgressPolicy): URL {
  if (ODD.test(text) || !URL.canParse(text)) refuse('url')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') refuse('scheme')
  if (url.username !== '' || url.password !== '') refuse('credentials')
  const host = bare(url.hostname).toLowerCase()
  const isAllowed = !isNamed(url.hostname) && isInNetworks(host, policy.allowed)
  if (isAllowed) return url
  if (url.protocol !== 'https:') refuse('scheme')
  if (!isOpenPort(Number(url.port || 443))) refuse('port')
  if (!isNamed(url.hostname)) return isPublicAddress(host) ? url : refuse('address')
  const name = host.replace(/\.$/, '')
  if (name !== host || !name.includes('.') || INSIDE.test(name) || policy.ownHosts.includes(name)) refuse('host')
  return url
}

interface Found {
  readonly address: string
  readonly family: 4 | 6
}

async function addressesOf(name: string, { nameServers }: EgressPolicy): Promise<Found[]> {
  const found = (addresses: readonly string[], family: 4 | 6) => addresses.map((address) => ({ address, family }))
  if (nameServers.length === 0) return (await lookup(name, { all: true, verbatim: true })) as Found[]
  const resolver = new Resolver({ timeout: 2000, tries: 2 })
  resolver.setServers([...nameServers])
  const none = (): string[] => []
  const [four, six] = await Promise.all([resolver.resolve4(name).catch(none), resolver.resolve6(name).catch(none)])
  return [...found(four, 4), ...found(six, 6)]
}

/** Every address of the name, once each of them was looked at: one that is inside spoils all. */
async function vetted(url: URL, policy: EgressPolicy): Promise<Found[]> {
  const host = bare(url.hostname)
  const literal = isIP(host) as 0 | 4 | 6
  if (literal !== 0) return [{ address: host, family: literal }]
  const addresses = await addressesOf(host, policy).catch((): Found[] => [])
  if (addresses.length === 0) refuse('name')
  if (!addresses.every(({ address }) => isPublicAddress(address) || isInNetworks(address, policy.allowed)))
    refuse('address')
  return addresses
}

const LOOKUP_MS = 4_000

/**
 * What a connection would be refused for now, found out without connecting. A name that leads nowhere is let through: it may lead
 * somewhere tomorrow, and every connection looks again.
 */
export async function checkDestination(text: string, policy: EgressPolicy): Promise<void> {
  const url = checkUrl(text, policy)
  try {
    await Promise.race([vetted(url, policy), whenAborted(AbortSignal.timeout(LOOKUP_MS))])
  } catch (error) {
    if (error instanceof EgressRefused && error.reason !== 'name') throw error
  }
}

export interface Outgoing {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly timeoutMs: number
  /** Of the answer; more is cut off, and the connection with it. */
  readonly maxBytes: number
  readonly signal?: AbortSignal
  /** Told of each step that has come to its end, and how long it took. */
  readonly onStep?: OnStep
}

/** In their order. A name is looked up, unless the address is written out; a connection is never used again, so each has all of the others. */
export type Step = 'lookup' | 'connect' | 'tls' | 'wait'
type OnStep = (step: Step, ms: number) => void

export interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Buffer
  readonly isCut: boolean
}

type Lookup = (
  name: string,
  options: { all?: boolean },
  done: (error: Error | null, found: Found[] | string, family?: number) => void,
) => void

/** The connection is made to what was vetted, whatever the name means by now. */
const lookupOf =
  (addresses: readonly Found[]): Lookup =>
  (_, { all }, done) => {
    const [first] = addresses
    if (all || !first) done(null, [...addresses])
    else done(null, first.address, first.family)
  }

/** How long each step took, from the end of the one before. */
function stopwatch(onStep: OnStep = () => undefined): (ended: Step) => void {
  let since = performance.now()
  return (ended) => {
    const at = performance.now()
    onStep(ended, at - since)
    since = at
  }
}

/** What is sent besides what the caller gives, and besides the host. */
export const framed = <H extends Readonly<Record<string, string>>>(headers: H, body: string | Uint8Array) => ({
  ...headers,
  'content-length': String(Buffer.byteLength(body)),
  connection: 'close',
})

/** The answer to one request. Throws `EgressRefused`, or what the network has to say. */
export async function sendOut(outgoing: Outgoing, policy: EgressPolicy): Promise<Answered> {
  const { timeoutMs, signal } = outgoing
  const url = checkUrl(outgoing.url, policy)
  const late = AbortSignal.timeout(timeoutMs)
  const ended = signal ? AbortSignal.any([late, signal]) : late
  const lap = stopwatch(outgoing.onStep)
  const addresses = await Promise.race([vetted(url, policy), whenAborted(ended)])
  if (isNamed(url.hostname)) lap('lookup')
  return exchange(url, addresses, outgoing, { signal: ended, lap }).catch((error: unknown) => {
    // A socket that is ended says so in many ways.
    throw ended.aborted ? ended.reason : error
  })
}

const whenAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

interface Exchange {
  readonly signal: AbortSignal
  lap(ended: Step): void
}

function exchange(
  url: URL,
  addresses: readonly Found[],
  outgoing: Outgoing,
  { signal, lap }: Exchange,
): Promise<Answered> {
  const { method, headers, body = '', maxBytes } = outgoing
  const isPlain = url.protocol === 'http:'
  const agent = isPlain ? new HttpAgent({ keepAlive: false }) : new HttpsAgent({ keepAlive: false })
  const options = {
    method,
    agent,
    signal,
    lookup: lookupOf(addresses) as never,
    maxHeaderSize: 16_384,
    headers: framed(headers, body),
  }
  return new Promise((resolve, reject) => {
    const call: ClientRequest = (isPlain ? overHttp : overHttps)(url, options)
    call.once('error', reject)
    call.once('socket', (socket) => {
      socket.once('connect', () => lap('connect'))
      socket.once('secureConnect', () => lap('tls'))
    })
    call.once('response', (answer) => {
      lap('wait')
      readAnswer(answer, maxBytes, () => call.destroy()).then(resolve, reject)
    })
    call.end(body)
  })
}

function readAnswer(answer: IncomingMessage, maxBytes: number, cut: () => void): Promise<Answered> {
  const { statusCode: status = 0, headers } = answer
  const chunks: Buffer[] = []
  let size = 0
  return new Promise((resolve, reject) => {
    const done = (isCut: boolean): void =>
      resolve({ status, headers, body: Buffer.concat(chunks).subarray(0, maxBytes), isCut })
    answer.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= maxBytes) return
      done(true)
      cut()
    })
    answer.once('end', () => done(false))
    answer.once('error', reject)
    answer.once('close', () => reject(new Error('the answer was cut off')))
  })
}
