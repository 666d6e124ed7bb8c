import { shellLine } from '@strongroom/contract'
import type { LicenseInstance, Purchase, PurchaseState, Termination, TerminationState } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { withProgress } from '../prompt/progress.ts'

// What people see of work that goes on by itself on the server: a line for each step that is done, on standard error. Whoever stops
// watching stops nothing, and is told how to look again.

const PURCHASE: Readonly<Record<PurchaseState, string>> = {
  reserved: 'Price held in credit and budgets',
  provisioning: 'Ordered',
  provider_pending: 'Taken by the provider, who needs a while',
  awaiting_handoff: 'Provisioned, sealed to your key',
  completed: 'Handed over, the server saw ciphertext',
  failed: 'Stopped',
  compensating: 'Being undone',
  cancelled: 'Cancelled',
  in_review: 'With the operator',
}

const TERMINATION: Readonly<Record<TerminationState, string>> = {
  requested: 'Asked for',
  cancelling: 'The provider is asked',
  cancel_pending: 'Scheduled by the provider',
  settling: 'Ended at the provider',
  completed: 'Settled',
  failed: 'Stopped',
  in_review: 'With the operator',
}

const BAD: ReadonlySet<string> = new Set(['failed', 'cancelled', 'in_review', 'compensating'])

interface Watched<S extends string, R, V> {
  readonly id: string
  wait(options: { readonly signal: AbortSignal; onProgress(now: V & { readonly state: S }): void }): Promise<R>
}

async function watch<S extends string, R, V>(
  cli: Cli,
  what: string,
  work: Watched<S, R, V>,
  texts: Readonly<Record<S, string>>,
): Promise<R> {
  const { signal, errorStyle, io } = cli
  // What is drawn while somebody waits makes room for the line.
  const clear = io.stderr.isTTY ? '\r\u001b[2K' : ''
  const tell = (state: S): void => {
    const sign = BAD.has(state) ? errorStyle.bad('✗') : errorStyle.good('✓')
    cli.say(`${clear}${sign} ${texts[state]}`)
  }
  try {
    return await withProgress(cli, `${what} ${work.id}`, () =>
      work.wait({ signal, onProgress: ({ state }) => tell(state) }),
    )
  } catch (error) {
    if (signal.aborted)
      cli.say(`${clear}  it goes on without you; look again with: ${shellLine`strongroom license resume ${work.id}`}`)
    throw error
  }
}

export const watchPurchase = (cli: Cli, purchase: Purchase): Promise<LicenseInstance> =>
  watch(cli, 'purchase', purchase, PURCHASE)

export const watchTermination = (cli: Cli, termination: Termination) =>
  watch(cli, 'termination', termination, TERMINATION)
