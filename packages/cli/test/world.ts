import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { FirstPerson } from '@strongroom/sdk'
import { type Harness, startHarness } from '../../server/test/harness.ts'
import { FOUNDER, foundOrg } from '../../server/test/people.ts'
import { ofThisRun } from '../../server/test/process.ts'
import { makeCli } from '../src/cli.ts'
import { globalsOf } from '../src/model/parse.ts'
import { speakerFor } from '../src/output/speaker.ts'
import type { Io } from '../src/place/io.ts'
import { prepareFileStore } from '../src/place/key-store.ts'
import { keepPerson } from '../src/place/sign-in.ts'
import { makeAsk } from '../src/prompt/ask.ts'
import { runCli } from '../src/run-cli.ts'

// A real server with its founder, and machines on which the command line is used: each with a home of its own.

const BIN = fileURLToPath(new URL('../bin/strongroom.mjs', import.meta.url))

export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
  /** What `--json` printed. */
  json(): { data: never; meta?: Readonly<Record<string, unknown>> }
  /** The error that `--json` printed. */
  error(): {
    code: string
    message: string
    hint?: string
    docs?: string
    requestId?: string
    exitCode: number
    evidence?: string
    details?: Readonly<Record<string, unknown>>
  }
}

export interface CallOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string | Buffer
  readonly cwd?: string
}

export interface Machine {
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  /** In this process, with streams that are no terminals: quick, for everything that starts no child. */
  call(args: readonly string[], options?: CallOptions): Promise<Ended>
  /** The program itself, as a process. */
  spawn(args: readonly string[], options?: CallOptions): Promise<Ended>
  /** Writes a file under the home and says where. */
  file(name: string, text: string): string
}

const ended = (code: number, stdout: string, stderr: string): Ended => ({
  code,
  stdout,
  stderr,
  json: () => JSON.parse(stdout) as never,
  error: () => (JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as { error: never }).error,
})

function gather(): { readonly stream: NodeJS.WriteStream; text(): string } {
  const stream = new PassThrough()
  let text = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    text += chunk
  })
  return { stream: stream as unknown as NodeJS.WriteStream, text: () => text }
}

/** A machine with an empty home. Variables of this process do not reach it, except what finds programs and what was compiled. */
export function makeMachine(folder: string, name: string): Machine {
  const home = join(folder, name)
  mkdirSync(home, { recursive: true })
  const env = {
    ...ofThisRun(),
    HOME: home,
    XDG_RUNTIME_DIR: join(home, 'run'),
    STRONGROOM_KEY_STORE: 'file',
    NO_COLOR: '1',
  }
  mkdirSync(env.XDG_RUNTIME_DIR, { mode: 0o700 })
  return {
    home,
    env,
    call: async (args, options = {}) => {
      const [stdout, stderr, stdin] = [gather(), gather(), new PassThrough()]
      stdin.end(options.input ?? '')
      const io: Io = {
        argv: args,
        env: { ...env, ...options.env },
        cwd: options.cwd ?? home,
        stdin: stdin as unknown as NodeJS.ReadStream,
        stdout: stdout.stream,
        stderr: stderr.stream,
      }
      const code = await runCli(io)
      return ended(code, stdout.text(), stderr.text())
    },
    spawn: (args, options = {}) => runProgram(args, { cwd: home, ...options, env: { ...env, ...options.env } }),
    file: (path, text) => {
      const whole = join(home, path)
      writeFileSync(whole, text)
      return whole
    },
  }
}

function runProgram(args: readonly string[], { env, input, cwd }: CallOptions): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [BIN, ...args], { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk
    })
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(ended(code ?? (signal ? 128 : 1), stdout, stderr)))
    child.stdin.on('error', () => undefined)
    child.stdin.end(input ?? '')
  })
}

export interface World {
  readonly h: Harness
  readonly url: string
  readonly founder: FirstPerson
  /** A new machine; nobody is signed in. */
  machine(): Machine
  /** A new machine on which the founder is signed in, as profile "default". */
  founderMachine(): Promise<Machine>
  close(): Promise<void>
}

export const PASSPHRASE = FOUNDER.passphrase

/** As profile "default", with the keys in the file store. */
export async function signIn(machine: Machine, url: string, founder: FirstPerson): Promise<void> {
  const none = gather().stream
  const stdin = new PassThrough() as unknown as NodeJS.ReadStream
  const io: Io = { argv: [], env: machine.env, cwd: machine.home, stdin, stdout: none, stderr: none }
  const globals = globalsOf([])
  const speaker = speakerFor(io, globals)
  const { signal } = new AbortController()
  const cli = makeCli({ io, globals, speaker, signal: () => signal, canBeEnded: true, ask: makeAsk(speaker) })
  await prepareFileStore(cli.keyPlace, PASSPHRASE)
  const { orgId: org, trustAnchor: trust_anchor, email } = founder
  const profile = { kind: 'person', server: url, org, trust_anchor, email } as const
  await keepPerson(cli, 'default', profile, founder, founder.codes.deviceSecret)
}

export async function startWorld(config: Parameters<typeof startHarness>[0] = {}): Promise<World> {
  const h = await startHarness(config)
  const founder = await foundOrg(h)
  const folder = mkdtempSync(join(tmpdir(), 'sr-cli-'))
  let made = 0
  const machine = (): Machine => {
    made += 1
    return makeMachine(folder, `machine-${made}`)
  }
  return {
    h,
    url: h.url,
    founder,
    machine,
    founderMachine: async () => {
      const own = machine()
      await signIn(own, h.url, founder)
      return own
    },
    close: async () => {
      await h.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
