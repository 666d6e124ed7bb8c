import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { CliError } from '../errors/cli-error.ts'

// The server as a child process: it says over the channel between us when it is ready, or why it is not.

const KEPT_LINES = 12

export interface ServerStart {
  readonly node: string
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Each line the server writes. */
  onLine(line: string): void
  readonly signal: AbortSignal
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface ServerChild {
  readonly url: string
  readonly pid: number
  /** While there is no organisation. */
  readonly setupToken: string | undefined
  readonly ended: Promise<Ended>
  /** What it wrote last. */
  lastLines(): readonly string[]
  /** Asks it to finish open requests and to end; settles when it has. */
  stop(): Promise<void>
}

interface Ready {
  readonly type: 'ready'
  readonly url: string
  readonly setupToken?: string
}
interface Refused {
  readonly type: 'refused'
  readonly code: string
  readonly message: string
  readonly nextStep: string
}

const isMessage = (message: unknown): message is Ready | Refused =>
  typeof message === 'object' && message !== null && 'type' in message

/** Its words, without the prefix every one of them has and without the token that must not stay on a screen. */
const wordsOf = (line: string): string =>
  line.replace(/^strongroom: /, '').replace(/srs_[A-Za-z0-9_-]+/g, '‹setup token›')

function gather(child: ChildProcess, onLine: (line: string) => void): () => readonly string[] {
  const last: string[] = []
  for (const stream of [child.stdout, child.stderr] as (Readable | null)[]) {
    if (!stream) continue
    createInterface({ input: stream }).on('line', (line) => {
      const words = wordsOf(line)
      last.push(words)
      if (last.length > KEPT_LINES) last.shift()
      onLine(words)
    })
  }
  return () => [...last]
}

export const describeEnd = ({ code, signal }: Ended): string =>
  signal ? `it was ended by ${signal}` : `it ended with code ${code}`

const refusal = ({ message, nextStep, code }: Refused): CliError =>
  new CliError('server_refused', `the server cannot start: ${message}`, { fix: nextStep, details: { code } })

export const died = (end: Ended, lines: readonly string[]): CliError =>
  new CliError('server_died', `the server ended by itself: ${describeEnd(end)}`, {
    fix: 'strongroom up --verbose shows everything it says',
    details: { ...end, lastLines: lines },
  })

/** Settles when the server is ready; refuses with its own reason, or with its last lines, if it does not get there. */
export async function startServer({ node, program, args, env, onLine, signal }: ServerStart): Promise<ServerChild> {
  const child = spawn(node, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env })
  const lastLines = gather(child, onLine)
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, end) => resolve({ code, signal: end }))
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  const message = new Promise<Ready | Refused>((resolve) => {
    child.on('message', (one) => {
      if (isMessage(one)) resolve(one)
    })
  })
  const aborted = new Promise<'aborted'>((resolve) => signal.addEventListener('abort', () => resolve('aborted')))
  const first = await Promise.race([message, ended, aborted])
  if (first === 'aborted') {
    await stop()
    throw signal.reason
  }
  // A refusal and the end that follows it come by two ways: what was said counts, whichever came first.
  const said =
    'type' in first
      ? first
      : await Promise.race([message, new Promise<undefined>((r) => setImmediate(() => r(undefined)))])
  if (said?.type === 'refused') throw refusal(said)
  if (!said) throw died(first as Ended, lastLines())
  return { url: said.url, pid: child.pid ?? 0, setupToken: said.setupToken, ended, lastLines, stop }
}
