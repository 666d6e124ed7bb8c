import { isTerminal } from './descriptor.ts'
import { useLeanWeb } from './lean-web.ts'

/** The process as far as this program touches it; tests give their own. */
export interface Io {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  /** For one question to the server. Changes the whole process, so only a process of our own has it. */
  readonly leanWeb?: () => typeof fetch
  /** This process becomes that program; comes back where it cannot. As above, only for a process of our own. */
  readonly become?: (path: string, argv: readonly string[], env: Readonly<Record<string, string>>) => Promise<void>
}

/**
 * A stream that is opened when it is first used. Whether it is a terminal is asked at every start, and most starts want no more:
 * opening all three costs a tenth of what Node needs to start.
 */
function opensLate<S extends NodeJS.ReadStream | NodeJS.WriteStream>(
  fd: number,
  opened: Set<number>,
  open: () => S,
): S {
  const isTTY = isTerminal(fd) || undefined
  let stream: S | undefined
  const used = (): S => {
    // What Node opens does not wait any more, and stays so; a terminal it opens anew.
    if (!isTTY) opened.add(fd)
    stream ??= open()
    return stream
  }
  return new Proxy({} as S, {
    get: (_, member) => {
      if (member === 'isTTY' && !stream) return isTTY
      const value: unknown = Reflect.get(used(), member, stream)
      return typeof value === 'function' ? value.bind(stream) : value
    },
    set: (_, member, value) => Reflect.set(used(), member, value, stream),
  })
}

/** Whoever reads our output may stop reading (`strongroom vault list | head -1`): that is no error of ours. All else is, and said. */
const dataOf = (stream: NodeJS.WriteStream, io: () => Io): NodeJS.WriteStream =>
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    void import('../output/unwritable.ts').then(({ endUnwritten }) => endUnwritten(io(), error))
  })

/** What nobody can read changes nothing about what is done, and about how it ends. */
const wordsOf = (stream: NodeJS.WriteStream): NodeJS.WriteStream => stream.on('error', () => undefined)

export function processIo(): Io {
  const opened = new Set<number>()
  const io: Io = {
    argv: process.argv.slice(2),
    env: process.env,
    cwd: process.cwd(),
    stdin: opensLate(0, opened, () => process.stdin),
    stdout: opensLate(1, opened, () => dataOf(process.stdout, () => io)),
    stderr: opensLate(2, opened, () => wordsOf(process.stderr)),
    leanWeb: useLeanWeb,
    become: async (...program) => {
      // Who becomes another leaves it the streams as they were given to us.
      if (opened.size === 0) (await import('./become.ts')).become(...program)
    },
  }
  return io
}
