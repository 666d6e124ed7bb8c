import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import type { Ending } from './child.ts'

// Ends as the child has ended. A child that was killed by a signal makes us die of the same one, so that whoever waits for us sees
// exactly what it would have seen.

const DUMPING: ReadonlySet<NodeJS.Signals> = new Set([
  'SIGQUIT',
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGSEGV',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGSYS',
])

/** Values are in our memory, and a core file would hold them. One byte is too little for a file, and tells pipes to keep out. */
function mayDie(signal: NodeJS.Signals): boolean {
  if (!DUMPING.has(signal)) return true
  if (process.platform !== 'linux') return false
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    if (/^Max core file size\s+0\s/m.test(limits)) return true
    return spawnSync('prlimit', ['--core=1:1', '--pid', String(process.pid)], { stdio: 'ignore' }).status === 0
  } catch {
    return false
  }
}

const AGAIN_MS = 50
const MOST = 3

/** Node ignores or catches some signals by itself; whoever has listened and listens no more dies of them. */
function becomeMortal(signal: NodeJS.Signals): void {
  if (signal !== 'SIGKILL' && signal !== 'SIGSTOP') process.on(signal, () => undefined)
  process.removeAllListeners(signal)
}

/** The exit code; does not come back where it dies of a signal. */
export async function endLike({ code, signal }: Ending): Promise<number> {
  if (signal === null) return code ?? 1
  const number = constants.signals[signal]
  // The first process of a namespace does not die of its own signals.
  if (process.pid !== 1 && mayDie(signal)) {
    becomeMortal(signal)
    // Node itself catches the first of some of them.
    for (let tries = 0; tries < MOST; tries += 1) {
      process.kill(process.pid, signal)
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS))
    }
  }
  return 128 + number
}
