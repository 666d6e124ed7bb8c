import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Checked, FromLoad, Pace, Seen, Start, ToLoad } from './messages.ts'

/** The process of the writers, from outside. */
export interface LoadProcess {
  run(): void
  /** Settles at the first moment the pace is at least this. False if that takes too long. */
  reach(pace: { readonly ackedPerSecond: number; readonly inFlight: number }, timeoutMs: number): Promise<boolean>
  down(killedAt: number): Promise<Seen>
  up(thorough: boolean): Promise<Checked>
  end(): void
}

type Listener = (message: FromLoad) => void

/** `program` is what the process runs. */
export async function startLoad(program: URL, start: Omit<Start, 'type'>): Promise<LoadProcess> {
  const child: ChildProcess = fork(fileURLToPath(program), [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const listeners = new Set<Listener>()
  child.on('message', (message: FromLoad) => {
    for (const listener of [...listeners]) listener(message)
  })
  const tell = (message: ToLoad): void => {
    child.send(message)
  }
  const next = <T extends FromLoad['type']>(type: T): Promise<Extract<FromLoad, { type: T }>> =>
    new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error('the writers ended'))
      // Nobody hears of an end that was before.
      if (child.exitCode !== null || child.signalCode !== null) ended()
      const listener: Listener = (message) => {
        if (message.type === 'broken') reject(new Error(`the writers broke: ${message.why}`))
        if (message.type !== type) return
        listeners.delete(listener)
        child.off('exit', ended)
        resolve(message as Extract<FromLoad, { type: T }>)
      }
      listeners.add(listener)
      child.once('exit', ended)
    })
  const ready = next('ready')
  tell({ type: 'start', ...start })
  await ready
  return {
    run: () => tell({ type: 'run' }),
    reach: async ({ ackedPerSecond, inFlight }, timeoutMs) => {
      const deadline = Date.now() + timeoutMs
      const isEnough = (pace: Pace): boolean => pace.ackedLastSecond >= ackedPerSecond && pace.inFlight >= inFlight
      for (;;) {
        if (isEnough(await next('pace'))) return true
        if (Date.now() > deadline) return false
      }
    },
    down: (killedAt) => {
      const seen = next('seen')
      tell({ type: 'down', killedAt })
      return seen
    },
    up: (thorough) => {
      const checked = next('checked')
      tell({ type: 'up', thorough })
      return checked
    },
    end: () => {
      child.disconnect()
      child.kill()
    },
  }
}
