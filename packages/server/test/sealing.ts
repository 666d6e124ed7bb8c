import { sealAudit, startSealer } from '../src/audit/seal.ts'
import type { Repeating } from '../src/telemetry/repeat.ts'
import type { Harness } from './harness-on.ts'

// The audit chain of a server whose background work does not run by itself.

/** Everything that is recorded by now gets its place. */
export const sealNow = ({ deps, worker }: Harness): Promise<void> => sealAudit(deps, worker)

/** As a server does it, until it is stopped. */
export const startSealing = ({ deps, worker }: Harness): Repeating => startSealer(deps, worker)
