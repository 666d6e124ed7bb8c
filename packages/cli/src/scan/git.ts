import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { promisify } from 'node:util'
import { CliError } from '../errors/cli-error.ts'

// Git as a program: what it prints as bytes, since names need not be UTF-8, and its own words where it fails.

const run = promisify(execFile)
const MAX_BYTES = 1024 * 1024 * 1024

/** English, so that one failure can be told from another. */
const environment = (): NodeJS.ProcessEnv => ({ ...process.env, LC_ALL: 'C' })

interface Failure {
  readonly code?: unknown
  readonly stderr?: Buffer
}

function failed(cause: unknown): CliError {
  const { code, stderr } = cause as Failure
  if (code === 'ENOENT') return new CliError('git_failed', 'there is no git on the PATH', { fix: 'install git', cause })
  const words = stderr
    ?.toString('utf8')
    .trim()
    .split('\n')[0]
    ?.replace(/^(?:fatal|error): /, '')
  return new CliError('git_failed', words ? `git says: ${words}` : `git ended with ${code}`, {
    fix: 'try it by hand: git status',
    cause,
  })
}

/** A question that stops reading once it knows the answer is no failure. */
export function feed({ stdin }: ChildProcess, text: string): void {
  stdin?.on('error', () => undefined).end(text)
}

export async function git(folder: string, args: readonly string[], input = ''): Promise<Buffer> {
  const asked = run('git', ['-C', folder, ...args], { maxBuffer: MAX_BYTES, encoding: 'buffer', env: environment() })
  feed(asked.child, input)
  return asked.then(
    ({ stdout }) => stdout,
    (cause: unknown) => Promise.reject(failed(cause)),
  )
}

/** Git for a conversation; what it says of its failures goes nowhere. */
export const startGit = (folder: string, args: readonly string[]) =>
  spawn('git', ['-C', folder, ...args], { stdio: ['pipe', 'pipe', 'ignore'], env: environment() })

/** A repository that git refuses for another reason, such as its owner, is one all the same. */
export async function ensureRepository(folder: string, fix = 'leave --history and --staged out'): Promise<void> {
  await git(folder, ['rev-parse', '--git-dir']).catch((error: CliError) => {
    if (!/not a git repository|cannot change to/.test(error.message)) throw error
    throw new CliError('not_a_repository', `${folder} is not a git repository`, {
      fix,
      cause: error,
    })
  })
}
