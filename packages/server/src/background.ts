import { startSealer } from './audit/seal.ts'
import type { Deps } from './context.ts'
import type { Database } from './db/database.ts'
import { startAttachmentSweep } from './modules/attachments/sweep.ts'
import { startCreditWork } from './modules/billing/work.ts'
import { startBudgetWork } from './modules/budgets/open-windows.ts'
import { startChargeWork } from './modules/charges/work.ts'
import { startFundingScanner } from './modules/funding/scanner.ts'
import { startLicenseWork } from './modules/licenses/work.ts'
import { startSharedItemSweep } from './modules/shared-items/sweep.ts'
import { startWebhooks } from './modules/webhooks/background.ts'
import { startBacklogWatch } from './telemetry/backlog.ts'
import { startSpanExport } from './telemetry/otlp.ts'
import { startRequestFlush, startRetention } from './telemetry/requests.ts'

/** Everything this process does besides answering. The returned function ends it all, after a last turn of each. */
export function startBackground(deps: Deps, worker: Database): () => Promise<void> {
  const running = [
    startSealer(deps, worker),
    startRequestFlush(deps, worker),
    startRetention(deps, worker),
    startSharedItemSweep(deps, worker),
    startAttachmentSweep(deps, worker),
    startLicenseWork(deps, worker),
    startChargeWork(deps, worker),
    startCreditWork(deps, worker),
    startBudgetWork(deps, worker),
    startWebhooks(deps, worker),
    startFundingScanner(deps, worker),
    startBacklogWatch(deps, worker),
    startSpanExport(deps),
  ]
  return async () => {
    await Promise.all(running.map(({ stop }) => stop()))
    deps.telemetry.stop()
  }
}
