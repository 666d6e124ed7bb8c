import { readConfig } from '../config.ts'
import { StartError } from '../errors.ts'
import { keepOthersFromWriting } from '../own-files.ts'
import { OperatorError } from './operator-error.ts'
import { carryOut, type Order } from './orders.ts'

// The operator's program: started on the host by `strongroom admin`, it takes one order over the channel to its parent, where no
// other process can read it, and answers there. What it says on the way is for people, on standard error.

process.stderr.on('error', () => undefined)
keepOthersFromWriting()

const INTERRUPTED = 130
const PATIENCE_MS = 15_000

const tell = (message: object): Promise<void> =>
  new Promise((resolve) => {
    if (process.send) process.send(message, () => resolve())
    else resolve()
  })

const stopped = new AbortController()

/** What is under way is undone and an embedded PostgreSQL stopped. One of the operator's own goes on without us. */
function stop(): void {
  const hasOwn = readConfig().databaseUrl !== undefined
  setTimeout(() => process.exit(INTERRUPTED), hasOwn ? 0 : PATIENCE_MS).unref()
  stopped.abort()
}

async function answer(order: Order): Promise<void> {
  const { signal } = stopped
  try {
    const progress = (step: string): void => void tell({ type: 'progress', step })
    const result = await carryOut(readConfig(), order, { progress, signal })
    await tell({ type: 'done', result })
  } catch (error) {
    process.exitCode = signal.aborted ? INTERRUPTED : 1
    if (signal.aborted) return
    if (!(error instanceof OperatorError) && !(error instanceof StartError)) throw error
    const { code, message, nextStep } = error
    await tell({ type: 'refused', code, message, nextStep })
  }
}

if (process.send) {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, stop)
  // Whoever started us is gone, and nobody waits for the answer.
  process.once('disconnect', stop)
  process.once('message', (order) => {
    void answer(order as Order).finally(() => {
      process.off('disconnect', stop)
      if (process.connected) process.disconnect()
    })
  })
  void tell({ type: 'ready' })
} else {
  process.stderr.write('strongroom: this is started by: strongroom admin\n')
  process.exitCode = 1
}
