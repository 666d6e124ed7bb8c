import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { CLI_CODES, type CliCode } from '../errors/codes.ts'
import { type Progress, withProgress } from '../prompt/progress.ts'
import { dataPath, ensureReachable, lookAt } from '../up/data-directory.ts'
import { findNode, packageFolder } from '../up/node-program.ts'

// What is done on the host, beside the server or without it: the server's own operator program does it, as a child process. The
// order goes over the channel between the two, so that no passphrase is on a command line or in an environment.

export interface Order {
  readonly act: string
  readonly [member: string]: string | undefined
}

interface Refused {
  readonly type: 'refused'
  readonly code: string
  readonly message: string
  readonly nextStep: string
}
type Message =
  | { readonly type: 'ready' }
  | { readonly type: 'progress'; readonly step: string }
  | { readonly type: 'done'; readonly result: unknown }
  | Refused

const NAME = '@strongroom/server'

function operatorProgram(): string {
  const folder = packageFolder(NAME) ?? ''
  const files = ['dist/operator/main.js', 'src/operator/main.ts'].map((file) => join(folder, file))
  const found = folder === '' ? undefined : files.find((path) => existsSync(path))
  if (found !== undefined) return found
  throw new CliError('server_not_installed', `${NAME} is not installed beside this program`, {
    fix: `npm install ${NAME}`,
  })
}

const refusal = ({ code, message, nextStep }: Refused): CliError =>
  Object.hasOwn(CLI_CODES, code)
    ? new CliError(code as CliCode, message, { fix: nextStep })
    : new CliError('server_refused', message, { fix: nextStep, details: { code } })

/** What is only for clients does not go to the server. */
const CLIENT_ONLY = /^STRONGROOM_(BUNDLE|API_KEY|PRIVATE_KEY|ACCESS_TOKEN|TRUST_ANCHOR|PASSPHRASE)(_FILE)?$/

const envOf = ({ io }: Cli): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(io.env).filter(([name]) => !CLIENT_ONLY.test(name))),
  STRONGROOM_LOG_LEVEL: 'silent',
})

const KEPT_CHARACTERS = 2000

async function tellAndWait(cli: Cli, data: string, order: Order, progress: Progress): Promise<unknown> {
  const child = fork(operatorProgram(), ['--data', data], {
    execPath: await findNode(cli),
    execArgv: [],
    env: envOf(cli),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let words = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    words = (words + chunk).slice(-KEPT_CHARACTERS)
  })
  const stop = (): void => void child.kill('SIGTERM')
  cli.signal.addEventListener('abort', stop, { once: true })
  try {
    return await new Promise((resolve, reject) => {
      child.on('message', (message: Message) => {
        if (message.type === 'ready') child.send(order)
        else if (message.type === 'progress') progress.update(message.step)
        else if (message.type === 'done') resolve(message.result)
        else reject(refusal(message))
      })
      child.once('error', reject)
      child.once('close', (code, signal) => {
        if (cli.signal.aborted) return reject(cli.signal.reason)
        if (cli.globals.verbose) cli.io.stderr.write(words)
        reject(
          new CliError('server_died', `the operator program ended by itself: ${signal ?? `code ${code}`}`, {
            fix: 'the same with --verbose shows everything it says',
          }),
        )
      })
    })
  } finally {
    cli.signal.removeEventListener('abort', stop)
  }
}

export interface HostFlags {
  readonly data: string | undefined
}

/** Refuses where there is no data: the program would make an empty server there. */
function ensureData({ io }: Cli, path: string): void {
  if (io.env.DATABASE_URL || lookAt(path).had.database) return
  throw new CliError('no_data_here', `there is no data of a server in ${path}`, {
    fix: 'give the right directory with --data, or set DATABASE_URL',
  })
}

/** Carries out one order on the data of a server. */
export async function operate<T>(cli: Cli, { data: given }: HostFlags, order: Order, doing: string): Promise<T> {
  const data = dataPath(cli.io, given)
  if (order.act !== 'restore' && order.act !== 'upgrade-check') ensureData(cli, data)
  ensureReachable(data, cli.io)
  const work = (progress: Progress): Promise<unknown> =>
    tellAndWait(cli, data, order, { update: (step) => progress.update(`${doing}: ${step}`) })
  return (await withProgress(cli, doing, work)) as T
}
