import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'

// The server as an operator runs it: a process of its own, watched through what it prints.

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

export interface ServerProcess {
  readonly child: ChildProcess
  readonly url: string
  /** Everything printed so far. */
  output(): string
  /** Sends a signal and waits for the end; gives the exit code, or the signal that ended it. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>
}

export interface RunOptions {
  readonly data: string
  readonly port: number
  readonly env?: NodeJS.ProcessEnv
  /** The user it runs as, where that is another one. */
  readonly uid?: number
  /** What whoever starts it has set. */
  readonly umask?: '0'
}

// Each worker of a test run has ports of its own, below the range the kernel hands out: a port that one test found free is not taken
// by another before its server listens there.
const PORTS_OF_A_WORKER = 1500
const firstPort = 20_000 + PORTS_OF_A_WORKER * (Number(process.env.VITEST_POOL_ID ?? 0) % 8)
let portsGiven = Math.floor(Math.random() * PORTS_OF_A_WORKER)

/** A port that is free, and that nobody else in this worker was given lately. */
export function freePort(): Promise<number> {
  const port = firstPort + (portsGiven++ % PORTS_OF_A_WORKER)
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', () => resolve(freePort()))
    probe.listen(port, '127.0.0.1', () => probe.close((error) => (error ? reject(error) : resolve(port))))
  })
}

/** What a program that a test starts has of this process: where programs and homes are, and what was compiled already. */
export const ofThisRun = (): { readonly PATH: string; readonly HOME: string; readonly NODE_COMPILE_CACHE?: string } => {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE } = process.env
  return { PATH, HOME, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) }
}

function launch({ data, port, env = {}, uid, umask }: RunOptions): {
  child: ChildProcess
  output: () => string
  ended: Promise<number | NodeJS.Signals>
} {
  const command = [process.execPath, MAIN, '--data', data, '--port', String(port)]
  const [program = '', ...args] =
    umask === undefined ? command : ['/bin/sh', '-c', `umask ${umask}; exec "$0" "$@"`, ...command]
  const child = spawn(program, args, {
    env: { ...ofThisRun(), STRONGROOM_LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid }),
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? -1)),
  )
  return { child, output: () => text, ended }
}

/** Starts a server, sends it a signal as soon as it says these words, and waits for its end. */
export async function runUntilIt(says: string, signal: NodeJS.Signals, options: RunOptions) {
  const { child, output, ended } = launch(options)
  child.stderr?.on('data', () => output().includes(says) && child.kill(signal))
  return { end: await ended, output: output() }
}

/** Starts a server and waits until it says that it is ready, to the last line of it. */
export async function runServer(options: RunOptions): Promise<ServerProcess> {
  const { child, output, ended } = launch(options)
  const ready = new Promise<void>((resolve) => child.stderr?.on('data', () => output().includes('Ctrl-C') && resolve()))
  const early = await Promise.race([ready.then(() => undefined), ended])
  if (early !== undefined) throw new Error(`the server ended with ${early}: ${output()}`)
  return {
    child,
    url: `http://127.0.0.1:${options.port}`,
    output,
    end: (signal) => {
      child.kill(signal)
      return ended
    },
  }
}

/** Starts a server that is expected to refuse; gives what it said. */
export async function runRefused(options: RunOptions): Promise<{ exitCode: number | NodeJS.Signals; output: string }> {
  const { output, ended } = launch(options)
  const exitCode = await ended
  return { exitCode, output: output() }
}
