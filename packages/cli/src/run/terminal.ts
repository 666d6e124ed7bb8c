import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { ReadStream } from 'node:tty'
import type { Io } from '../place/io.ts'
import { type Ending, type Order, type Running, signalNamed } from './child.ts'
import { type Ptys, sizeOf } from './pty.ts'
import { pump } from './pump.ts'

// A child on a terminal of its own, between it and the real one only the masker: it sees a terminal with the real size, its
// colours and modes, and keys reach it as they are typed.

const SUSPEND = 0x1a

/** Of a process: its group, and the group in the foreground of its terminal. Undefined where the system does not tell. */
export function groupsOf(pid: number | 'self'): { readonly own: number; readonly foreground: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { own: Number(fields[2]), foreground: Number(fields[5]) }
  } catch {
    return undefined
  }
}

/** Whether our own group has the terminal; where the system does not tell, it is taken to be so. */
export function isInForeground(): boolean {
  const groups = groupsOf('self')
  return !groups || groups.own === groups.foreground
}

/**
 * Whether Ctrl-Z on this terminal means to stop the child: it has the terminal itself, in a mode in which keys make signals. The
 * kernel does not stop it, since nobody in its session could wake it up; whoever started us can.
 */
function meansStop(pid: number, name: string): boolean {
  if (groupsOf(pid)?.foreground !== pid) return false
  const { stdout, status } = spawnSync('stty', ['-F', name, '-a'], { encoding: 'utf8' })
  return status === 0 && /(?:^|[\s;])isig\b/.test(stdout) && /susp = \^Z/.test(stdout) && !handlesStop(pid)
}

/** Bit 19 is SIGTSTP: caught or ignored, it is the child's own affair. */
function handlesStop(pid: number): boolean {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const bits = ['SigCgt', 'SigIgn'].map((name) =>
    BigInt(`0x${new RegExp(`${name}:\\s*(\\w+)`).exec(text)?.[1] ?? '0'}`),
  )
  return bits.some((mask) => (mask & (1n << 19n)) !== 0n)
}

/** To somebody who may have ended meanwhile. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/**
 * The real terminal does nothing of its own, neither with keys nor with what is drawn: the child's terminal has done it already.
 * What Node calls raw still makes two characters of a line break, and that moves the cursor of programs that draw.
 */
function uncook(stdin: NodeJS.ReadStream): void {
  stdin.setRawMode(true)
  spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] })
}

/** As it was when we came. */
function cook(stdin: NodeJS.ReadStream): void {
  stdin.setRawMode(false)
}

interface Keys {
  stop(): void
}

/** From the real terminal to the child's, and back to sleep with it. */
function forwardKeys(
  { stdin, stdout }: Io,
  child: { readonly pid: number; readonly name: string },
  to: ReadStream,
): Keys {
  const suspend = (): void => {
    cook(stdin)
    send(-child.pid, 'SIGSTOP')
    process.kill(0, 'SIGTSTP')
  }
  const onKeys = (keys: Buffer): void => {
    to.write(keys)
    if (keys.includes(SUSPEND) && meansStop(child.pid, child.name)) suspend()
  }
  const onContinue = (): void => {
    if (isInForeground()) uncook(stdin)
    stdout.emit('resize')
    send(-child.pid, 'SIGCONT')
  }
  const onEnd = (): void => send(child.pid, 'SIGHUP')
  const restore = (): void => cook(stdin)
  stdin.on('data', onKeys).on('end', onEnd).resume()
  process.on('SIGCONT', onContinue)
  process.on('exit', restore)
  return {
    stop: () => {
      stdin.off('data', onKeys).off('end', onEnd).pause()
      stdin.unref()
      process.off('SIGCONT', onContinue)
      process.off('exit', restore)
      cook(stdin)
    },
  }
}

export function startInTerminal(
  io: Io,
  order: Order & { readonly masker: NonNullable<Order['masker']> },
  ptys: Ptys,
): Running {
  const { stdout } = io
  const { native, helper } = ptys
  const { cols, rows } = sizeOf(stdout)
  const env = Object.entries(order.env).map(([name, value]) => `${name}=${value}`)
  let onExit: (ending: Ending) => void = () => undefined
  const exited = new Promise<Ending>((resolve) => {
    onExit = resolve
  })
  const ended = (code: number, signal: number): void =>
    onExit(signal > 0 ? { code: null, signal: signalNamed(signal) ?? 'SIGKILL' } : { code, signal: null })
  const { command, args, masker } = order
  uncook(io.stdin)
  const { fd, pid, pty: name } = native.fork(command, args, env, io.cwd, cols, rows, -1, -1, true, helper, ended)
  const master = new ReadStream(fd)
  const output = pump(master, stdout, masker())
  const keys = forwardKeys(io, { pid, name }, master)
  const resized = (): void => {
    const size = sizeOf(stdout)
    native.resize(fd, size.cols, size.rows)
  }
  stdout.on('resize', resized)
  return {
    pid,
    kill: (signal) => send(pid, signal),
    ended: exited.then(async (ending) => {
      keys.stop()
      stdout.off('resize', resized)
      await output.drained()
      return ending
    }),
  }
}
