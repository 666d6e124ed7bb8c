import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { ReadStream } from 'node:tty'
import type { Io } from '../place/io.ts'
import type { Masker } from './mask.ts'
import type { InputPipe, Pipes } from './pipes.ts'
import { notExecutable, notFound } from './program.ts'
import { type Ptys, sizeOf } from './pty.ts'
import { type Pump, pump } from './pump.ts'

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Running {
  readonly pid: number
  kill(signal: NodeJS.Signals): void
  /** When it has ended and all it wrote is written. */
  readonly ended: Promise<Ending>
}

export interface Order {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** For its standard input; otherwise it has ours. */
  readonly input?: Uint8Array | undefined
  /** Absent: nothing is masked, and the child writes where we would. */
  readonly masker?: (() => Masker) | undefined
  /** In a process group of its own: signals are for it and whatever it has started. */
  readonly isApart?: boolean
}

export const signalNamed = (number: number): NodeJS.Signals | undefined =>
  (Object.entries(constants.signals) as [NodeJS.Signals, number][]).find(([, value]) => value === number)?.[0]

type Target = 'pipe' | 'inherit' | number

/** What the child writes to: a pipe, or a terminal that is only there to be one. */
interface Outputs {
  readonly stdio: readonly [Target, Target]
  /** Once the child has its ends. */
  attach(child: ChildProcess): readonly Pump[]
  stop(): void
}

const direct: Outputs = { stdio: ['inherit', 'inherit'], attach: () => [], stop: () => undefined }

/** Our end of what the child writes. Where there are no real pipes, Node's own have to do. */
interface Source {
  readonly target: Target
  of(stream: Readable | null): Readable
}

function sourceIn(pipes: Pipes | undefined): Source {
  const pipe = pipes?.output()
  if (!pipe) return { target: 'pipe', of: (stream) => stream as Readable }
  return {
    target: pipe.write,
    of: () => {
      closeSync(pipe.write)
      // Its end means that nobody can write to it any more.
      return new Socket({ fd: pipe.read, readable: true, writable: false }).once('end', pipe.giveBack)
    },
  }
}

function piped({ stdout, stderr }: Io, masker: () => Masker, pipes: Pipes | undefined): Outputs {
  const [out, err] = [sourceIn(pipes), sourceIn(pipes)]
  return {
    stdio: [out.target, err.target],
    attach: (child) => [pump(out.of(child.stdout), stdout, masker()), pump(err.of(child.stderr), stderr, masker())],
    stop: () => undefined,
  }
}

/**
 * For a child some of whose streams are no terminals: those that are go through a terminal of our own, so that it sees one. It
 * stays in our process group, where the real terminal reaches it with Ctrl-C and Ctrl-Z.
 */
function attached(io: Io, masker: () => Masker, { native }: Ptys, pipes: Pipes | undefined): Outputs {
  const { stdout, stderr } = io
  const screen = stdout.isTTY ? stdout : stderr
  const size = sizeOf(screen)
  const { master, slave } = native.open(size.cols, size.rows)
  const [out, err] = [stdout, stderr].map((stream) => (stream.isTTY ? undefined : sourceIn(pipes)))
  let resized: (() => void) | undefined
  return {
    stdio: [out?.target ?? slave, err?.target ?? slave],
    attach: (child) => {
      closeSync(slave)
      resized = () => {
        const { cols, rows } = sizeOf(screen)
        native.resize(master, cols, rows)
        child.kill('SIGWINCH')
      }
      screen.on('resize', resized)
      const pumps = [pump(new ReadStream(master), screen, masker())]
      if (out) pumps.push(pump(out.of(child.stdout), stdout, masker()))
      if (err) pumps.push(pump(err.of(child.stderr), stderr, masker()))
      return pumps
    },
    stop: () => {
      if (resized) screen.off('resize', resized)
    },
  }
}

function outputsFor(io: Io, { masker }: Order, pipes: Pipes | undefined, ptys: Ptys | undefined): Outputs {
  if (!masker) return direct
  const isTerminal = Boolean(io.stdout.isTTY) || Boolean(io.stderr.isTTY)
  return isTerminal && ptys ? attached(io, masker, ptys, pipes) : piped(io, masker, pipes)
}

const FIRST_LOOK_MS = 10
const LONGEST_PAUSE_MS = 1000

/** A command that opens /dev/stdin after all was written and closed would wait for ever: nobody else opens that pipe to write. */
function letInWhoComesLate(pipe: InputPipe, pauseMs = FIRST_LOOK_MS): void {
  const look = (): void => {
    if (pipe.letIn()) letInWhoComesLate(pipe, Math.min(pauseMs * 2, LONGEST_PAUSE_MS))
  }
  setTimeout(look, pauseMs).unref()
}

/** A secret for its standard input. */
function inputFor(
  { input }: Order,
  pipes: Pipes | undefined,
): { readonly target: Target; give(child: ChildProcess): void } {
  if (!input) return { target: 'inherit', give: () => undefined }
  const pipe = pipes?.input()
  const give = (to: Writable | null): void => {
    // A child that does not read its input is no failure.
    to?.on('error', () => undefined)
    to?.end(input)
  }
  if (!pipe) return { target: 'pipe', give: ({ stdin }) => give(stdin) }
  return {
    target: pipe.read,
    give: () => {
      closeSync(pipe.read)
      const ours = new Socket({ fd: pipe.write, readable: false, writable: true })
      ours.once('close', () => letInWhoComesLate(pipe))
      give(ours)
    },
  }
}

/** Resolves when the child has started; refuses as a shell would where it cannot be. */
export async function startChild(io: Io, order: Order, pipes: Pipes | undefined, ptys?: Ptys): Promise<Running> {
  const { command, args, env } = order
  const outputs = outputsFor(io, order, pipes, ptys)
  const input = inputFor(order, pipes)
  const stdio: StdioOptions = [input.target, ...outputs.stdio]
  const detached = Boolean(order.isApart) && process.platform !== 'win32'
  const child = spawn(command, args, { stdio, env: { ...env }, cwd: io.cwd, detached })
  const exited = new Promise<Ending>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error: NodeJS.ErrnoException) => reject(refusalOf(error, command)))
  })
  input.give(child)
  const pumps = outputs.attach(child)
  return {
    pid: child.pid ?? 0,
    kill: (signal) => {
      if (detached) killGroup(child.pid, signal)
      else child.kill(signal)
    },
    ended: exited.then(async (ending) => {
      await Promise.all(pumps.map((one) => one.drained()))
      outputs.stop()
      return ending
    }),
  }
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // Nobody is left in it.
  }
}

function refusalOf(error: NodeJS.ErrnoException, command: string): unknown {
  if (error.code === 'ENOENT') return notFound(command)
  return error.code === 'EACCES' || error.code === 'ENOEXEC' ? notExecutable(command) : error
}
