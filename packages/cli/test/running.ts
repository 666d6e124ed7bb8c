import { PassThrough } from 'node:stream'
import type { Io } from '../src/place/io.ts'
import { runCli } from '../src/run-cli.ts'
import type { Machine } from './world.ts'

// A command that goes on, in this process: what it prints can be read while it does.

export interface Running {
  /** The next whole line of either stream that fits. */
  line(words: RegExp): Promise<string>
  /** The lines of standard output so far. */
  readonly stdout: string[]
  readonly stderr: string[]
  readonly ended: Promise<number>
}

export function startCommand(machine: Machine, args: readonly string[], env: Record<string, string> = {}): Running {
  const [stdout, stderr]: [string[], string[]] = [[], []]
  const waiting = new Set<() => void>()
  const stream = (lines: string[]): NodeJS.WriteStream => {
    const through = new PassThrough()
    let rest = ''
    through.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (rest + chunk).split('\n')
      rest = parts.pop() ?? ''
      lines.push(...parts)
      for (const look of waiting) look()
    })
    return through as unknown as NodeJS.WriteStream
  }
  const stdin = new PassThrough()
  stdin.end()
  const io: Io = {
    argv: args,
    env: { ...machine.env, ...env },
    cwd: machine.home,
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: stream(stdout),
    stderr: stream(stderr),
  }
  const ended = runCli(io)
  let taken = new Set<string>()
  const line = (words: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = [...stdout.map((text, i) => `o${i} ${text}`), ...stderr.map((text, i) => `e${i} ${text}`)].find(
          (text) => !taken.has(text) && words.test(text.replace(/^\S+ /, '')),
        )
        if (found === undefined) return
        taken = taken.add(found)
        waiting.delete(look)
        resolve(found.replace(/^\S+ /, ''))
      }
      waiting.add(look)
      look()
      const over = (): void => reject(new Error(`it ended without ${words}: ${[...stdout, ...stderr].join('\n')}`))
      ended.then(() => setImmediate(over), over)
    })
  return { line, stdout, stderr, ended }
}
