import { type ChildProcess, spawn } from 'node:child_process'
import { openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Enough, Load, LoadResult } from './load.ts'
import type { Usage } from './probe.ts'

// Each part is a process of its own: the server under test, the bare one, and the load. What each used, it says itself.

const fileOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

export interface Measured {
  readonly port: number
  readonly pid: number
  usage(): Promise<Usage>
  stop(): Promise<void>
}

interface Start {
  readonly program: string
  readonly args?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  /** Where standard output goes. */
  readonly logFile: string
  readonly nodeOptions?: readonly string[]
}

/** The next message with this member: a server also says other things to who started it. */
const next = <T extends object>(child: ChildProcess, member: keyof T & string): Promise<T> =>
  new Promise((resolve) => {
    const hear = (message: object): void => {
      if (!(member in message)) return
      child.off('message', hear)
      resolve(message as T)
    }
    child.on('message', hear)
  })

/** A server with the probe in it, once it has said that it is ready. */
export async function startMeasured({
  program,
  args = [],
  env = {},
  logFile,
  nodeOptions = [],
}: Start): Promise<Measured> {
  const child = spawn(process.execPath, [...nodeOptions, '--import', fileOf('./probe.ts'), fileOf(program), ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', openSync(logFile, 'a'), 'pipe', 'ipc'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const port = await new Promise<number>((resolve, reject) => {
    let said = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const [, found] = /ready at http:\/\/127\.0\.0\.1:([0-9]+)/.exec(said) ?? []
      if (found !== undefined) resolve(Number(found))
    })
    child.once('exit', () => reject(new Error(`${program} ended early: ${said}`)))
  })
  return {
    port,
    pid: child.pid ?? 0,
    usage: () => {
      const answer = next<Usage>(child, 'cpuMicroseconds')
      child.send('usage')
      return answer
    },
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

export interface LoadProcess {
  apply(load: Load): Promise<LoadResult>
  /** Ends the load that is under way. */
  enough(): void
  stop(): void
}

export function startLoad(): LoadProcess {
  const child = spawn(process.execPath, [fileOf('./load.ts')], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  return {
    apply: (load) => {
      const answer = next<LoadResult>(child, 'answers')
      child.send(load)
      return answer
    },
    enough: () => child.send({ enough: true } satisfies Enough),
    stop: () => child.kill('SIGTERM'),
  }
}

const TICK_MICROSECONDS = 10_000

/** What PostgreSQL has used: the postmaster, all its children, and those that have ended. undefined where there is no /proc. */
export function postgresMicroseconds(dataDirectory: string): number | undefined {
  if (process.platform !== 'linux') return undefined
  const [postmaster = ''] = readFileSync(join(dataDirectory, 'postgres/data/postmaster.pid'), 'utf8').split('\n')
  const ticks = readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map((pid) => ticksOf(pid, postmaster))
  return ticks.reduce((sum, own) => sum + own, 0) * TICK_MICROSECONDS
}

function ticksOf(pid: string, postmaster: string): number {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    // Gone since the directory was listed: its parent counts it.
    return 0
  }
  // After the name, which may hold anything: state, parent, and as fields 12 to 15 the times of it and of its ended children.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [own, withEnded] = [fields.slice(11, 13), fields.slice(11, 15)]
  const sum = (values: readonly string[]): number => values.reduce((total, value) => total + Number(value), 0)
  if (pid === postmaster) return sum(withEnded)
  return fields[1] === postmaster ? sum(own) : 0
}
