import { fileURLToPath } from 'node:url'
import { spawn } from '@lydell/node-pty'

// A person at a real pseudo-terminal: sees what is drawn, types what was planned, and waits for words, never for time.

const BIN = fileURLToPath(new URL('../bin/strongroom.mjs', import.meta.url))

export interface Terminal {
  /** Everything drawn so far, without colours and cursor movements. */
  screen(): string
  /** Settles when these words are drawn after what was seen last. */
  sees(words: string | RegExp): Promise<void>
  types(text: string): void
  /** Waits for the words, then types and presses enter. */
  answers(words: string | RegExp, text: string): Promise<void>
  /** Ctrl-C. */
  interrupts(): void
  /** Ends it if it still runs. */
  close(): void
  readonly ended: Promise<{ readonly code: number; readonly signal: number | undefined }>
}

export interface TerminalPlace {
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly program?: string
  readonly columns?: number
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal obeys begins with one
const CONTROLS = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[@-_]/g
const plain = (drawn: string): string => drawn.replace(CONTROLS, '').replaceAll('\r', '')

const PATIENCE_MS = 90_000

export function openTerminal(
  args: readonly string[],
  { env, cwd, program = BIN, columns = 120 }: TerminalPlace,
): Terminal {
  const pty = spawn(process.execPath, [program, ...args], {
    name: 'xterm-256color',
    cols: columns,
    rows: 40,
    cwd,
    env: { ...env, TERM: 'xterm-256color' },
  })
  let drawn = ''
  let seen = 0
  let isOver = false
  const waiting = new Set<() => void>()
  pty.onData((chunk) => {
    drawn += chunk
    for (const look of waiting) look()
  })
  const ended = new Promise<{ code: number; signal: number | undefined }>((resolve) => {
    pty.onExit(({ exitCode, signal }) => {
      isOver = true
      resolve({ code: exitCode, signal })
      for (const look of waiting) look()
    })
  })
  const sees = (words: string | RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const pattern = typeof words === 'string' ? new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : words
      const end = (finish: () => void): void => {
        clearTimeout(timer)
        waiting.delete(look)
        finish()
      }
      const look = (): void => {
        const found = pattern.exec(plain(drawn).slice(seen))
        if (found) {
          seen += found.index + found[0].length
          end(resolve)
        } else if (isOver) end(() => reject(new Error(`it ended before ${words} was drawn:\n${plain(drawn)}`)))
      }
      const timer = setTimeout(
        () => end(() => reject(new Error(`${words} was never drawn:\n${plain(drawn)}`))),
        PATIENCE_MS,
      )
      waiting.add(look)
      look()
    })
  return {
    screen: () => plain(drawn),
    sees,
    types: (text) => pty.write(text),
    answers: async (words, text) => {
      await sees(words)
      pty.write(`${text}\r`)
    },
    interrupts: () => pty.write('\u0003'),
    ended,
    close: () => {
      if (!isOver) pty.kill('SIGTERM')
    },
  }
}
