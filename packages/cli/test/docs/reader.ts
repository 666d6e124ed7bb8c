import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../server/test/process.ts'
import { openTerminal } from '../terminal.ts'
import type { Machine } from '../world.ts'
import { type Line, linesOf, missingLines, type Step } from './page.ts'
import { plainWords } from './words.ts'

// Somebody who does what a page says, from its first block to its last, in one folder: commands of this program in this process, what
// asks questions at a real terminal, a server that is started really, everything else in a shell.

export const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const BIN = fileURLToPath(new URL('../../bin/strongroom.mjs', import.meta.url))
const WRITTEN_URL = 'http://127.0.0.1:8420'

export interface Place {
  readonly machine: Machine
  /** Of the server there is; absent: the page starts one. */
  readonly url: string | undefined
}

interface Printed {
  readonly code: number
  readonly text: string
}

function shell(
  script: string,
  env: Readonly<Record<string, string>>,
  cwd: string,
  input = '',
): Promise<Printed & { stdout: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-eu', '-o', 'pipefail', '-c', script], { env, cwd })
    let [stdout, text] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk
      text += chunk
    })
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? 128, text, stdout }))
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}

interface Server {
  /** What is on the screen when it is ready. */
  readonly screen: Promise<string>
  stop(): Promise<void>
}

/** `strongroom up`, as a person starts it. */
function startUp(env: Readonly<Record<string, string>>, cwd: string): Server {
  const child = spawn(process.execPath, [BIN, 'up'], { env, cwd })
  let text = ''
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const screen = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
        if (text.includes('Ctrl-C stops')) resolve(text)
      })
    void ended.then(() => reject(new Error(`up ended: ${text}`)))
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  return { screen, stop }
}

export interface Reader {
  /** What is wrong with this step; nothing if it did what the page says. */
  take(step: Step): Promise<string[]>
  close(): Promise<void>
}

/** What a page may run on the machine of whoever runs the tests. Everything else has to say that it is not run. */
const MAY_RUN = new Set(['strongroom', 'node', 'curl', 'printf', 'cat', 'mkdir', 'umask', 'export', 'cd'])

/** The programs of a line that are not among them. */
export const strangers = (line: string): string[] =>
  line
    .replace(/\\\n/g, ' ')
    .replace(/'[^']*'/g, "''")
    .split(/\||;|&&|\n|\$\(/)
    .map((part) => /^\s*(?:[A-Z_]+=\S* +)*([^\s'"]+)/.exec(part)?.[1] ?? '')
    .filter((program) => program !== '' && !MAY_RUN.has(program))

/** What starts a child, or takes files from the folder of the process. */
const NEEDS_PROCESS = new Set(['run', 'up', 'api', 'export', 'import', 'scan'])

export async function makeReader({ machine, url: given }: Place): Promise<Reader> {
  const folder = join(machine.home, 'work')
  mkdirSync(folder)
  // A reader of the repository stands in it; only what is written goes elsewhere.
  for (const name of ['packages', 'node_modules', 'examples', 'package.json'])
    symlinkSync(join(ROOT, name), join(folder, name))
  const port = await freePort()
  const url = given ?? `http://127.0.0.1:${port}`
  let cwd = folder
  const env: Record<string, string> = {
    ...machine.env,
    PATH: [join(ROOT, 'node_modules/.bin'), machine.env.PATH].join(delimiter),
    ...(given === undefined && {
      STRONGROOM_PORT: String(port),
      STRONGROOM_DATA: join(machine.home, '.local/share/strongroom'),
    }),
  }
  let server: Server | undefined
  const here = (text: string): string => text.replaceAll(WRITTEN_URL, url)
  const asWritten = (text: string): string => text.replaceAll(url, WRITTEN_URL).replaceAll(machine.home, '~')

  async function startServer(): Promise<Printed> {
    server = startUp(env, cwd)
    return { code: 0, text: await server.screen }
  }

  async function stopServer(): Promise<void> {
    await server?.stop()
    server = undefined
  }

  async function call(words: readonly string[], into: string | undefined, input: string): Promise<Printed> {
    const [first = ''] = words
    const ended = NEEDS_PROCESS.has(first)
      ? await machine.spawn(words, { env, cwd, input })
      : await machine.call(words, { env, cwd, input })
    if (into === undefined) return { code: ended.code, text: ended.stdout + ended.stderr }
    writeFileSync(join(cwd, into), ended.stdout)
    return { code: ended.code, text: ended.stderr }
  }

  async function ask(words: readonly string[], answers: Extract<Step, { kind: 'run' }>['answers']): Promise<Printed> {
    const { NO_COLOR: _, ...own } = env
    const terminal = openTerminal(words, { env: own, cwd })
    for (const { question, answer } of answers) await terminal.answers(question, answer)
    const { code } = await terminal.ended
    // What is drawn over a spinner stands behind it here.
    return { code, text: terminal.screen().replace(/(?=[✓✗] )/g, '\n') }
  }

  async function change(line: string): Promise<Printed | undefined> {
    const [, target] = /^cd ([\w./-]+)$/.exec(line) ?? []
    if (target !== undefined) {
      cwd = join(cwd, target)
      return { code: existsSync(cwd) ? 0 : 1, text: '' }
    }
    const [, name, value] = /^export ([A-Z_]+)=(.*)$/s.exec(line) ?? []
    if (name === undefined) return undefined
    const { code, stdout, text } = await shell(`printf %s ${value}`, env, cwd)
    env[name] = stdout
    return { code, text: code === 0 ? '' : text }
  }

  async function run(line: string, answers: Extract<Step, { kind: 'run' }>['answers']): Promise<Printed> {
    const changed = await change(line)
    if (changed) return changed
    if (line === 'strongroom up') return startServer()
    const [, left, right] = /^([^|]*) \| (strongroom [^|]*)$/s.exec(line) ?? []
    const plain = plainWords(right ?? line)
    const [program, ...words] = plain?.words ?? []
    if (!plain || program !== 'strongroom') return shell(line, env, cwd)
    if (answers.length > 0) return ask(words, answers)
    const input = left === undefined ? '' : (await shell(left, env, cwd)).stdout
    return call(words, plain.into, input)
  }

  async function runBlock({ text, answers, shows, isStopped }: Extract<Step, { kind: 'run' }>): Promise<string[]> {
    if (isStopped) await stopServer()
    let printed = ''
    for (const one of linesOf(here(text))) {
      const others = strangers(one.text)
      if (others.length > 0) return [`a page may not run ${others.join(', ')}: ${one.text}`]
      const ended = await run(one.text, answers)
      printed += ended.text.endsWith('\n') ? ended.text : `${ended.text}\n`
      if (ended.code !== one.exitCode) return [describe(one, ended)]
    }
    const missing = shows === undefined ? [] : missingLines(shows, asWritten(printed))
    return missing.length > 0 ? [`not printed:\n${missing.join('\n')}\nbut:\n${asWritten(printed)}`] : []
  }

  const describe = ({ text, exitCode }: Line, { code, text: printed }: Printed): string =>
    `${text}\nended with ${code} and not with ${exitCode}:\n${printed}`

  return {
    take: async (step) => {
      if (step.kind === 'not run') return []
      if (step.kind === 'example') {
        const real = readFileSync(join(ROOT, 'examples', step.name), 'utf8')
        return real === step.text ? [] : [`examples/${step.name} reads otherwise`]
      }
      if (step.kind === 'run') return runBlock(step)
      const path = join(cwd, step.name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, here(step.text))
      return []
    },
    close: stopServer,
  }
}
