import { dirname, join } from 'node:path'
import type { Paths } from '../place/paths.ts'
import { readIfThere, writePrivate } from '../place/private-file.ts'
import type { ChainEnd } from './chain-check.ts'

// The end of the audit chain as this machine saw it last. Whoever can write everything can recompute every hash behind a change; only
// somebody who remembers an earlier end sees that.

export interface RememberedEnd extends ChainEnd {
  /** When it was seen. */
  readonly at: string
}

export const rememberedFile = ({ evidence }: Paths, orgId: string): string =>
  join(dirname(evidence), 'audit', `${orgId.replace(/[^A-Za-z0-9_-]/g, '_')}.json`)

const isEnd = (found: Partial<RememberedEnd> | null): found is RememberedEnd =>
  Number.isInteger(found?.position) && /^[0-9a-f]{64}$/.test(found?.hash ?? '') && typeof found?.at === 'string'

/** Undefined where none was seen, or the file holds something else. */
export async function rememberedEnd(paths: Paths, orgId: string): Promise<RememberedEnd | undefined> {
  const text = await readIfThere(rememberedFile(paths, orgId))
  try {
    const found = JSON.parse(text ?? 'null') as Partial<RememberedEnd> | null
    return isEnd(found) ? found : undefined
  } catch {
    return undefined
  }
}

export const rememberEnd = (paths: Paths, orgId: string, end: RememberedEnd): Promise<void> =>
  writePrivate(rememberedFile(paths, orgId), `${JSON.stringify(end)}\n`)
