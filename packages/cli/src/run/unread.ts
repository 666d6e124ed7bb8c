import { isNowhere } from '../place/descriptor.ts'
import type { Io } from '../place/io.ts'

const OUTPUTS = [1, 2] as const

/** Whether what a child writes is thrown away: then there is nothing to mask, and nothing has to go through us. */
export function isUnread({ env }: Io): boolean {
  // Whoever gives other streams than those of this process reads them.
  return env === process.env && OUTPUTS.every(isNowhere)
}
