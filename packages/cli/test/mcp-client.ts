import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Machine } from './world.ts'

// A client of `strongroom mcp`: the program itself, over its real streams, and everything it ever wrote.

const BIN = fileURLToPath(new URL('../bin/strongroom.mjs', import.meta.url))

export interface Message {
  readonly jsonrpc: string
  readonly id: string | number | null
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: { readonly code: number; readonly message: string }
}

export interface Called {
  /** What came back; fails where the tool has refused. */
  data<T>(): T
  /** What it refused with; fails where it has not. */
  error(): { readonly code: string; readonly message: string; readonly hint?: string }
}

export interface McpClient {
  request(method: string, params?: object): Promise<Message>
  /** Its id, and its answer once there is one. */
  begin(method: string, params?: object): { readonly id: number; readonly answer: Promise<Message> }
  call(tool: string, args?: unknown): Promise<Called>
  notify(method: string, params?: object): void
  /** Anything at all; the next answer that belongs to no request of ours. */
  say(bytes: string | Uint8Array): Promise<Message>
  write(bytes: string | Uint8Array): void
  /** Both streams, from the beginning. */
  transcript(): string
  readonly stdout: () => string
  /** Closes its input, and waits for its end. */
  end(): Promise<number | null>
  kill(signal: NodeJS.Signals): Promise<number | null>
}

interface ToolAnswer {
  readonly content: readonly { readonly type: string; readonly text: string }[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
}

function calledOf({ result, error }: Message): Called {
  if (!result) throw new Error(`no result: ${JSON.stringify(error)}`)
  const { content, structuredContent, isError } = result as unknown as ToolAnswer
  const text = content[0]?.text ?? ''
  return {
    data: <T>() => {
      if (isError) throw new Error(`refused: ${text}`)
      if (text !== JSON.stringify(structuredContent)) throw new Error('text and structure differ')
      return structuredContent as T
    },
    error: () => {
      if (!isError || structuredContent !== undefined) throw new Error(`not refused: ${text}`)
      return (JSON.parse(text) as { error: ReturnType<Called['error']> }).error
    },
  }
}

const endOf = (child: ChildProcessWithoutNullStreams): Promise<number | null> =>
  new Promise((resolve) => child.once('close', (code) => resolve(code)))

export function startMcp(machine: Machine, cwd: string, args: readonly string[] = []): McpClient {
  // Whoever starts it cannot give a task other variables than were allowed.
  const env = { ...machine.env, STRONGROOM_VAULT: 'nowhere', STRONGROOM_ENV: 'nothing' }
  const child = spawn(process.execPath, [BIN, 'mcp', ...args], { env, cwd, stdio: 'pipe' })
  const ended = endOf(child)
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
  const waiting = new Map<string | number, (message: Message) => void>()
  const strays: ((message: Message) => void)[] = []
  let last = 0
  let rest = ''
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  child.stdin.on('error', () => undefined)
  child.stdout.on('data', (chunk: Buffer) => {
    stdout.push(chunk)
    const lines = (rest + chunk.toString('latin1')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const message = JSON.parse(Buffer.from(line, 'latin1').toString('utf8')) as Message
      const taken = message.id === null ? undefined : waiting.get(message.id)
      if (message.id !== null) waiting.delete(message.id)
      ;(taken ?? strays.shift())?.(message)
    }
  })
  const write = (bytes: string | Uint8Array): void => {
    child.stdin.write(bytes)
  }
  const begin: McpClient['begin'] = (method, params) => {
    last += 1
    const id = last
    const answer = new Promise<Message>((resolve, reject) => {
      waiting.set(id, resolve)
      void ended.then(() => reject(new Error(`it ended without an answer: ${Buffer.concat(stderr)}`)))
    })
    answer.catch(() => undefined)
    write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return { id, answer }
  }
  const request: McpClient['request'] = (method, params) => begin(method, params).answer
  return {
    begin,
    request,
    write,
    call: async (name, given = {}) => calledOf(await request('tools/call', { name, arguments: given })),
    notify: (method, params) => write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`),
    say: (bytes) =>
      new Promise((resolve) => {
        strays.push(resolve)
        write(bytes)
      }),
    transcript: () => Buffer.concat([...stdout, ...stderr]).toString('utf8'),
    stdout: () => Buffer.concat(stdout).toString('utf8'),
    end: () => {
      child.stdin.end()
      return ended
    },
    kill: (signal) => {
      child.kill(signal)
      return ended
    },
  }
}
