import { type ChildProcess, spawn } from 'node:child_process'

// A signal that is sent to our whole process group, by a terminal, a shell or a supervisor, reaches the child by itself; one that
// is sent to us alone has to be passed on. Programs end at once at the second one they get, so neither may come twice. Node does
// not say whom a signal was sent to. But somebody else in the group knows: a process that does nothing, and is gone exactly if the
// signal was for all. It has nothing of ours in its environment and ends with us.

const TOLD_MS = 30

export interface Bystander {
  /** Whether this signal, which has just reached us, went to the whole group. */
  sawToo(signal: NodeJS.Signals): Promise<boolean>
  dismiss(): void
}

interface Stander {
  readonly child: ChildProcess
  readonly ended: Promise<NodeJS.Signals | null>
}

function stand(): Stander {
  const child = spawn('cat', [], { stdio: ['pipe', 'ignore', 'ignore'], env: { PATH: process.env.PATH } })
  const ended = new Promise<NodeJS.Signals | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('exit', (_, signal) => resolve(signal))
  })
  child.stdin?.on('error', () => undefined)
  // Nothing here keeps us alive.
  child.unref()
  ;(child.stdin as unknown as { unref?(): void }).unref?.()
  return { child, ended }
}

/** Stands by from `afterMs` on, so that short commands do not pay for it; before that, every signal counts as sent to us alone. */
export function makeBystander(afterMs = 250): Bystander {
  let current: Stander | undefined
  const timer = setTimeout(() => {
    current = stand()
  }, afterMs)
  timer.unref()
  return {
    sawToo: async (signal) => {
      const asked = current
      if (!asked) return false
      const late = new Promise<undefined>((resolve) => {
        setTimeout(() => resolve(undefined), TOLD_MS)
      })
      const seen = await Promise.race([asked.ended, late])
      if (seen === signal && current === asked) current = stand()
      return seen === signal
    },
    dismiss: () => {
      clearTimeout(timer)
      current?.child.kill('SIGKILL')
      current = undefined
    },
  }
}
