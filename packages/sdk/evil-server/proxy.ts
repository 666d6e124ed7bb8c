import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Accomplice, type Answer, type Attack, CannotAttack, type Power } from './attack.ts'
import { ATTACKS, attackNamed } from './attacks/all.ts'
import { answerControl, CONTROL } from './control.ts'
import type { OwnKeys } from './keys.ts'
import { MAX_RECORDED_BYTES, paramsOf, type Records } from './records.ts'
import { makeScore, type Score } from './score.ts'

// Stands before a real server. Everything goes through as it is, but for the answers of the attack that is on.

export interface EvilOptions {
  readonly upstream: string
  readonly host?: string
  readonly port?: number
  readonly keys: OwnKeys
  readonly accomplices: readonly Accomplice[]
  readonly logKey: Power['logKey']
  readonly records: Records
  readonly say?: (line: string) => void
}

export interface Evil {
  readonly url: string
  readonly score: Score
  /** Nobody until an attack is chosen. `after` honest answers of its route go first. */
  choose(name: string | undefined, after?: number): void
  close(): Promise<void>
}

const API = /^\/api\/v[0-9]+\/[a-z]+/
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'proxy-connection',
])

interface Turn {
  readonly attack: Attack | undefined
  /** Honest answers of its route before it begins. */
  after: number
}

export async function startEvil(options: EvilOptions): Promise<Evil> {
  const score = makeScore(ATTACKS)
  let turn: Turn = { attack: undefined, after: 0 }
  const choose = (name: string | undefined, after?: number): void => {
    const attack = name === undefined ? undefined : attackNamed(name)
    if (name !== undefined && !attack) throw new Error(`there is no attack ${JSON.stringify(name)}: see --list`)
    turn = { attack, after: after ?? (attack?.second ? 1 : 0) }
  }
  const elsewhere = await listen(
    createServer((request, response) => {
      score.strayed(turn.attack)
      options.say?.(`strayed ${turn.attack?.name ?? 'honest'} ${request.method} ${request.url}`)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    }),
    '127.0.0.1',
  )
  const server = createServer((request, response) => {
    const handled = request.url?.startsWith(CONTROL)
      ? answerControl({ score, choose, attacks: ATTACKS }, request, response)
      : forward(options, { score, turn: () => turn, elsewhere: elsewhere.url }, request, response)
    handled.catch((error: unknown) => {
      options.say?.(`failed ${request.method} ${request.url} ${String(error)}`)
      response.destroy()
    })
  })
  const { url } = await listen(server, options.host ?? '127.0.0.1', options.port)
  return {
    url,
    score,
    choose,
    close: async () => {
      for (const one of [server, elsewhere.server]) {
        one.closeAllConnections()
        one.close()
        await once(one, 'close')
      }
    },
  }
}

async function listen(server: Server, host: string, port = 0): Promise<{ server: Server; url: string }> {
  server.listen(port, host)
  await once(server, 'listening')
  const { address, port: chosen } = server.address() as AddressInfo
  return { server, url: `http://${address.includes(':') ? `[${address}]` : address}:${chosen}` }
}

interface Stage {
  readonly score: Score
  turn(): Turn
  readonly elsewhere: string
}

function ask(upstream: string, { method, url, headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>) {
  const target = new URL(upstream)
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest
  const own = Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)))
  const { 'accept-encoding': _, ...rest } = own
  return send(new URL(url ?? '/', target), { method, headers: { ...rest, host: target.host } })
}

async function answerOf(outgoing: ReturnType<typeof ask>): Promise<IncomingMessage> {
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  return incoming
}

async function bytesOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const isJson = ({ headers }: IncomingMessage): boolean => headers['content-type']?.includes('json') ?? false

async function forward(
  options: EvilOptions,
  stage: Stage,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const outgoing = ask(options.upstream, request)
  request.pipe(outgoing)
  const incoming = await answerOf(outgoing)
  const method = request.method ?? 'GET'
  const path = (request.url ?? '/').replace(API, '')
  const turn = stage.turn()
  const change = changeFor(turn, method, path)
  if (!change && turn.attack && paramsOf(turn.attack.route, method, path)) turn.after -= 1
  if (change) {
    const answer = await readAnswer(incoming)
    return send(response, await alter(options, stage, turn, change, answer, { request, method, path }))
  }
  response.writeHead(incoming.statusCode ?? 502, forwarded(incoming))
  if (method === 'GET' && incoming.statusCode === 200 && isJson(incoming))
    tee(incoming, (body) => options.records.add({ method, path, body }))
  incoming.pipe(response)
}

/** The answer goes on while it is written down. */
function tee(incoming: IncomingMessage, keep: (body: unknown) => void): void {
  const chunks: Buffer[] = []
  let size = 0
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= MAX_RECORDED_BYTES) chunks.push(chunk)
  })
  incoming.on('end', () => {
    if (size <= MAX_RECORDED_BYTES) keep(JSON.parse(Buffer.concat(chunks).toString()))
  })
}

type Change = { readonly kind: 'attack'; readonly params: Record<string, string> } | { readonly kind: 'also' }

function changeFor({ attack, after }: Turn, method: string, path: string): Change | undefined {
  if (!attack) return undefined
  const params = paramsOf(attack.route, method, path)
  if (params && after === 0) return { kind: 'attack', params }
  return attack.also && paramsOf(attack.also.route, method, path) ? { kind: 'also' } : undefined
}

const forwarded = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !HOP_BY_HOP.has(name))
      .map(([name, value]) => [name, String(value)]),
  )

async function readAnswer(incoming: IncomingMessage): Promise<Answer> {
  const bytes = await bytesOf(incoming)
  const { 'content-length': _, ...headers } = forwarded(incoming)
  return { status: incoming.statusCode ?? 502, headers, body: isJson(incoming) ? JSON.parse(bytes.toString()) : bytes }
}

interface Place {
  readonly request: IncomingMessage
  readonly method: string
  readonly path: string
}

async function alter(
  options: EvilOptions,
  { score, elsewhere }: Stage,
  { attack }: Turn,
  change: Change,
  answer: Answer,
  { request, method, path }: Place,
): Promise<Answer> {
  if (!attack) return answer
  if (change.kind === 'also') return attack.also?.alter(answer) ?? answer
  if (answer.status >= 400) return answer
  const have = Number(request.headers['tlog-have'] ?? Number.NaN)
  const power: Power = {
    asked: { method, path, params: change.params, have: Number.isFinite(have) ? have : undefined },
    recorded: (route) => options.records.of(route),
    ask: (wanted) => askJson(options.upstream, request, wanted),
    keysAs: options.keys.as,
    accomplices: options.accomplices,
    logKey: options.logKey,
    elsewhere,
  }
  try {
    const altered = await attack.alter(copyOf(answer), power)
    score.delivered(attack)
    options.say?.(`delivered ${attack.name} ${method} ${path}`)
    return altered
  } catch (error) {
    if (!(error instanceof CannotAttack)) throw error
    score.lacking(attack, error.message)
    options.say?.(`not run ${attack.name}: needs ${error.message}`)
    return answer
  }
}

const copyOf = (answer: Answer): Answer => ({
  ...answer,
  body: Buffer.isBuffer(answer.body) ? answer.body : structuredClone(answer.body),
})

/** In the name of the client: with its credential, and nothing of its cache. */
async function askJson(upstream: string, { url = '', headers }: IncomingMessage, wanted: string): Promise<unknown> {
  const [prefix = ''] = API.exec(url) ?? []
  const { 'content-length': _, 'content-type': __, 'if-none-match': ___, 'tlog-have': ____, ...rest } = headers
  const outgoing = ask(upstream, { method: 'GET', url: prefix + wanted, headers: rest })
  outgoing.end()
  const incoming = await answerOf(outgoing)
  const bytes = await bytesOf(incoming)
  if (incoming.statusCode !== 200) throw new CannotAttack(`a client that may ask for ${wanted.split('?')[0]}`)
  return JSON.parse(bytes.toString())
}

function send(response: ServerResponse, { status, headers, body, raw, isEndless }: Answer): void {
  const bytes = raw ?? (Buffer.isBuffer(body) ? body : JSON.stringify(body))
  // Whatever is said of the honest answer is no longer true of this one.
  const { etag: _, ...rest } = headers
  response.writeHead(status, rest)
  if (isEndless) response.write(bytes)
  else response.end(bytes)
}
