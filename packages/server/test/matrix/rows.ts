import type { Row } from './oracle.ts'
import { MACHINE } from './rows-machine.ts'
import { PLATFORM } from './rows-platform.ts'

/** The oracle. */
export const ROWS: readonly Row[] = [...MACHINE, ...PLATFORM]
