import { join } from 'node:path'
import { buildConsole } from '../scripts/build.ts'

/** The console that the servers of these tests serve. */
export const setup = (): Promise<void> => buildConsole(join(import.meta.dirname, '../../../.setup/console'))
