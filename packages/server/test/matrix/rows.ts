import type { Row } from './oracle.ts'
import { ACCESS } from './rows-access.ts'
import { ATTACHMENTS } from './rows-attachments.ts'
import { CHARGES } from './rows-charges.ts'
import { DOMAINS } from './rows-domains.ts'
import { FUNDING } from './rows-funding.ts'
import { LICENSES } from './rows-licenses.ts'
import { MACHINE } from './rows-machine.ts'
import { MONEY } from './rows-money.ts'
import { PLATFORM } from './rows-platform.ts'
import { PROJECTS } from './rows-projects.ts'
import { SIGNED } from './rows-signed.ts'
import { SYNC } from './rows-sync.ts'
import { VAULTS } from './rows-vaults.ts'
import { WEBHOOKS } from './rows-webhooks.ts'

/** The oracle. */
export const ROWS: readonly Row[] = [
  ...MACHINE,
  ...VAULTS,
  ...SYNC,
  ...ACCESS,
  ...PLATFORM,
  ...PROJECTS,
  ...ATTACHMENTS,
  ...SIGNED,
  ...MONEY,
  ...WEBHOOKS,
  ...FUNDING,
  ...LICENSES,
  ...DOMAINS,
  ...CHARGES,
]
