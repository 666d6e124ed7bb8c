import type { Tool } from './tool.ts'
import { generateSecret } from './tools/generate-secret.ts'
import { buyLicense, searchLicenses } from './tools/licenses.ts'
import { listSecrets } from './tools/list-secrets.ts'
import { budgetStatus, reportGap } from './tools/look-and-tell.ts'
import { runTask } from './tools/run-task.ts'

/** Always in this order. None of them returns a value, and there is no setting that would change it. */
export const TOOLS: readonly Tool[] = [
  listSecrets,
  runTask,
  generateSecret,
  searchLicenses,
  buyLicense,
  budgetStatus,
  reportGap,
]
