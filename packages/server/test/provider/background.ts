import { startLicenseWork } from '../../src/modules/licenses/work.ts'
import type { Harness } from '../harness.ts'

export interface LicenseWork {
  stop(): Promise<void>
}

/** Purchases and terminations go on by themselves, as on a server that is run: for tests of clients, who wait for them. */
export const workOnLicensesOf = ({ deps, worker }: Harness): LicenseWork => startLicenseWork(deps, worker)
