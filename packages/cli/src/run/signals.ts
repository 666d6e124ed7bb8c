import { LONGEST_TIMER_MS } from '../place/timer.ts'
import { makeBystander } from './bystander.ts'
import type { Running } from './child.ts'

// What reaches us on the way to the child. Ctrl-Z and its end need nothing here: the system stops and wakes the whole group.

const PASSED_ON: readonly NodeJS.Signals[] = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGTERM',
  'SIGUSR1',
  'SIGUSR2',
  'SIGALRM',
  'SIGVTALRM',
  'SIGIO',
  'SIGURG',
]
const ENDING: ReadonlySet<NodeJS.Signals> = new Set(['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'])

export interface Passing {
  /** From now on signals are for this child. */
  to(child: Running): void
  stop(): void
}

export interface PassingOptions {
  /** The child has a session of its own: what goes to our group does not reach it. */
  readonly isApart: boolean
  /** After being told to end, a child that has not ended is killed. */
  readonly graceMs?: number | undefined
  /** A signal that ends was passed on: nobody wants a new child any more. */
  onEnding?(): void
}

/** Takes over our signals. Until there is a child they end us, as they would end a child that is about to start. */
export function passSignals({ isApart, graceMs, onEnding }: PassingOptions): Passing {
  const bystander = isApart ? undefined : makeBystander()
  let current: Running | undefined
  let killing: NodeJS.Timeout | undefined
  const onSignal = async (signal: NodeJS.Signals): Promise<void> => {
    const child = current
    const isTold = (await bystander?.sawToo(signal)) ?? false
    if (child && !isTold) child.kill(signal)
    if (!ENDING.has(signal)) return
    onEnding?.()
    if (child && graceMs !== undefined)
      killing ??= setTimeout(() => child.kill('SIGKILL'), Math.min(graceMs, LONGEST_TIMER_MS))
  }
  for (const signal of PASSED_ON) process.on(signal, onSignal)
  return {
    to: (child) => {
      current = child
    },
    stop: () => {
      clearTimeout(killing)
      bystander?.dismiss()
      for (const signal of PASSED_ON) process.off(signal, onSignal)
    },
  }
}
