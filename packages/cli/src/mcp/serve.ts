import type { Cli } from '../cli.ts'
import type { Io } from '../place/io.ts'
import { cutLines } from './lines.ts'
import { type Id, type Incoming, type Params, RPC, type RpcError, readMessage, TOO_LONG } from './message.ts'
import { callTool, type Tool } from './tool.ts'

// The Model Context Protocol over standard input and output. Nothing is remembered between two requests but those under way, so
// there is no order in which they have to come.

/** The newest first: what is offered to a client that asks for one we do not know. Those before could send several messages a line. */
const PROTOCOL_VERSIONS = ['2025-11-25', '2025-06-18'] as const

const LONGEST_MESSAGE = 1_048_576
const MOST_AT_ONCE = 8
/** Whoever closes its end still reads what is answered soon. */
const LAST_ANSWERS_MS = 5000

export interface Served {
  readonly io: Pick<Io, 'stdin' | 'stdout'>
  readonly version: string
  readonly tools: readonly Tool[]
  /** What a tool works with; made anew for each call. */
  cliFor(signal: AbortSignal): Cli
  /** Ends everything at once. */
  readonly signal: AbortSignal
}

const INSTRUCTIONS =
  'Strongroom lets you use secrets without seeing them: no tool returns a value. list_secrets says what there is. run_task runs a task of strongroom.toml with its variables, once a person has allowed it; what it prints is masked. A refusal has a code and a hint: where the hint is a command for a person, ask for it.'

const initialized = ({ protocolVersion: asked }: Params, version: string): object => ({
  protocolVersion: PROTOCOL_VERSIONS.find((one) => one === asked) ?? PROTOCOL_VERSIONS[0],
  capabilities: { tools: {} },
  serverInfo: { name: 'strongroom', title: 'Strongroom', version },
  instructions: INSTRUCTIONS,
})

const listed = (tools: readonly Tool[]): object => ({
  tools: tools.map(({ name, title, description, input, output, annotations }) => ({
    name,
    title,
    description,
    inputSchema: input,
    outputSchema: output,
    annotations,
  })),
})

type Request = Extract<Incoming, { kind: 'request' }>
type Answer = { readonly result: object } | { readonly error: RpcError }

const refused = (code: number, message: string): Answer => ({ error: { code, message } })

async function called({ tools, cliFor }: Served, params: Params, signal: AbortSignal): Promise<Answer> {
  const { name, arguments: args = {} } = params
  const tool = tools.find((one) => one.name === name)
  if (tool) return { result: await callTool(tool, cliFor(signal), args) }
  return refused(RPC.invalidParams, `there is no such tool; there are: ${tools.map((one) => one.name).join(', ')}`)
}

async function answerTo(served: Served, { method, params }: Request, signal: AbortSignal): Promise<Answer> {
  if (method === 'initialize') return { result: initialized(params, served.version) }
  if (method === 'ping') return { result: {} }
  if (method === 'tools/call') return called(served, params, signal)
  if (method !== 'tools/list') return refused(RPC.unknownMethod, 'there is no such method here')
  if (params.cursor !== undefined) return refused(RPC.invalidParams, 'the list has one page, and no cursor')
  return { result: listed(served.tools) }
}

interface Desk {
  take(message: Incoming): void
  endAll(): void
  /** When nothing is under way any more. */
  done(): Promise<unknown>
}

/** Where requests are taken, answered and cancelled. */
function openDesk(served: Served): Desk {
  const underWay = new Map<Id, AbortController>()
  const working = new Set<Promise<void>>()
  const send = (message: object): void => {
    served.io.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
  const answer = async (request: Request, { signal }: AbortController): Promise<void> => {
    const answered = await answerTo(served, request, signal).catch(() => refused(RPC.internal, 'this program failed'))
    underWay.delete(request.id)
    // Who has cancelled waits for no answer.
    if (!signal.aborted) send({ id: request.id, ...answered })
  }
  const problemOf = ({ id }: Request): Answer | undefined => {
    if (underWay.has(id)) return refused(RPC.invalid, 'this id is under way already')
    if (underWay.size < MOST_AT_ONCE) return undefined
    return refused(RPC.busy, `${MOST_AT_ONCE} requests are under way already`)
  }
  const begin = (request: Request): void => {
    const controller = new AbortController()
    underWay.set(request.id, controller)
    const work = answer(request, controller).finally(() => working.delete(work))
    working.add(work)
  }
  return {
    take: (message) => {
      const problem = message.kind === 'request' ? problemOf(message) : undefined
      if (message.kind === 'refused') send({ id: message.id, error: message.error })
      else if (message.kind === 'request' && problem) send({ id: message.id, ...problem })
      else if (message.kind === 'request') begin(message)
      else if (message.kind === 'notification' && message.method === 'notifications/cancelled')
        underWay.get(message.params.requestId as Id)?.abort()
    },
    endAll: () => {
      for (const controller of underWay.values()) controller.abort()
    },
    done: () => Promise.all(working),
  }
}

/** Serves until the input ends or the signal comes; what is under way then is ended before this returns. */
export async function serve(served: Served): Promise<void> {
  const { io, signal } = served
  const { take, endAll, done } = openDesk(served)
  await readAll(io.stdin, signal, take)
  const enough = setTimeout(endAll, LAST_ANSWERS_MS)
  if (signal.aborted) endAll()
  else signal.addEventListener('abort', endAll, { once: true })
  await done()
  clearTimeout(enough)
  signal.removeEventListener('abort', endAll)
}

/** Until the end of the input, or the signal. */
function readAll(stdin: NodeJS.ReadStream, signal: AbortSignal, take: (message: Incoming) => void): Promise<void> {
  const lines = cutLines(
    LONGEST_MESSAGE,
    (line) => take(readMessage(line)),
    () => take(TOO_LONG),
  )
  return new Promise((resolve) => {
    const stop = (): void => {
      stdin.off('data', lines.write)
      stdin.destroy()
      resolve()
    }
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    stdin.on('data', lines.write)
    stdin.once('end', () => {
      lines.end()
      stop()
    })
    stdin.once('error', stop)
    stdin.once('close', stop)
  })
}
