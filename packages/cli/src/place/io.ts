import { isatty } from 'node:tty'
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
}

/**
 * A stream that is opened when it is first used. Whether it is a terminal is asked at every start, and most starts want no more:
 * opening all three costs a tenth of what Node needs to start.
 */
function opensLate<S extends NodeJS.ReadStream | NodeJS.WriteStream>(fd: number, open: () => S): S {
  const isTTY = isatty(fd) || undefined
  let stream: S | undefined
  return new Proxy({} as S, {
    get: (_, member) => {
      if (member === 'isTTY' && !stream) return isTTY
      stream ??= open()
      const value: unknown = Reflect.get(stream, member, stream)
      return typeof value === 'function' ? value.bind(stream) : value
    },
    set: (_, member, value) => {
      stream ??= open()
      return Reflect.set(stream, member, value, stream)
    },
  })
}

/** Whoever reads our output may stop reading (`strongroom vault list | head -1`): that is no error of ours. */
function written(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  return stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}

export const processIo = (): Io => ({
  argv: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  stdin: opensLate(0, () => process.stdin),
  stdout: opensLate(1, () => written(process.stdout)),
  stderr: opensLate(2, () => written(process.stderr)),
  leanWeb: useLeanWeb,
})
