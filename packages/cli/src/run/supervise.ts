import { join } from 'node:path'
import type { Cli } from '../cli.ts'
import { LONGEST_TIMER_MS } from '../place/timer.ts'
import { type Ending, type Order, type Running, startChild } from './child.ts'
import type { OnChange } from './on-change.ts'
import { takePipes } from './pipes.ts'
import { loadPtys, type Ptys } from './pty.ts'
import { passSignals } from './signals.ts'

// Starts the child in the way that fits our own streams, passes signals on, and starts it anew where a change asks for that.

const isAllTerminal = ({ stdin, stdout, stderr }: Cli['io']): boolean =>
  Boolean(stdin.isTTY) && Boolean(stdout.isTTY) && Boolean(stderr.isTTY)

/** A child that cannot have a terminal is told to print as if it had one. */
const withoutTerminal = ({ env, ...order }: Order, { stdout }: Cli['io']): Order => ({
  ...order,
  env: { FORCE_COLOR: '1', ...(stdout.columns && { COLUMNS: String(stdout.columns) }), ...env },
})

interface Starter {
  /** The child gets a session of its own. */
  readonly isApart: boolean
  start(order: Order): Promise<Running>
}

async function starterFor(cli: Cli, order: Order): Promise<Starter> {
  const { io } = cli
  const isTerminal = Boolean(io.stdout.isTTY) || Boolean(io.stderr.isTTY)
  const plain: Starter = { isApart: false, start: (now) => started(cli, now) }
  if (!order.masker || !isTerminal) return plain
  const ptys = loadPtys()
  if (!ptys) {
    cli.say('strongroom: no pseudo-terminals on this system; output is masked without one')
    return { ...plain, start: (now) => started(cli, withoutTerminal(now, io)) }
  }
  const { isInForeground, startInTerminal } = await import('./terminal.ts')
  if (!isAllTerminal(io) || order.input || !isInForeground())
    return { ...plain, start: (now) => started(cli, now, ptys) }
  return {
    isApart: true,
    start: async ({ masker, ...now }) => startInTerminal(io, { ...now, masker: masker ?? neverCalled }, ptys),
  }
}

/** With pipes, where something goes through us. */
export async function started({ io, paths }: Pick<Cli, 'io' | 'paths'>, order: Order, ptys?: Ptys): Promise<Running> {
  const count = (order.masker ? 2 : 0) + (order.input ? 1 : 0)
  const pipes = count > 0 ? await takePipes(join(paths.cache, 'pipes'), count) : undefined
  const running = await startChild(io, order, pipes, ptys).catch((error: unknown) => {
    pipes?.remove()
    throw error
  })
  return { ...running, ended: running.ended.finally(() => pipes?.remove()) }
}

const neverCalled = (): never => {
  throw new Error('a terminal is only made to mask')
}

export interface Supervised {
  readonly order: Order
  readonly graceMs?: number | undefined
  /** What can wait until the command runs. */
  onStarted?(): Promise<void>
  readonly onChange?: OnChange
  /** Calls `changed` with what to start from now on. */
  follow?(changed: (order: Order) => void): void
}

export async function supervise(cli: Cli, supervised: Supervised): Promise<Ending> {
  const { order, graceMs, onStarted, onChange, follow } = supervised
  const starter = await starterFor(cli, order)
  let isEnding = false
  const signals = passSignals({
    isApart: starter.isApart,
    graceMs,
    onEnding: () => {
      isEnding = true
    },
  })
  try {
    let next: Order | undefined
    let running = await starter.start(order)
    signals.to(running)
    const waited = onStarted?.()
    follow?.((changed) => {
      if (onChange?.kind === 'signal') return running.kill(onChange.signal)
      if (onChange?.kind === 'exec') return execOnChange(cli, changed, onChange.command)
      next = changed
      running.kill('SIGTERM')
      const { kill } = running
      if (graceMs !== undefined) setTimeout(() => kill('SIGKILL'), Math.min(graceMs, LONGEST_TIMER_MS)).unref()
    })
    for (;;) {
      const ending = await running.ended
      if (!next || isEnding) {
        await waited
        return ending
      }
      const changed: Order = next
      next = undefined
      running = await starter.start(changed)
      signals.to(running)
    }
  } finally {
    signals.stop()
  }
}

function execOnChange(cli: Cli, { env, masker }: Order, command: string): void {
  const told = started(cli, { command: 'sh', args: ['-c', command], env, masker, input: new Uint8Array() })
  told.then(({ ended }) => ended).catch(() => undefined)
}
