import { join } from 'node:path'
import type { Evidence } from '@strongroom/protocol'
import { writePrivate } from './private-file.ts'

/** One file for each alarm, to be attached to a report. It holds no key, no value and no ciphertext of one. */
export async function keepEvidence(folder: string, evidence: Evidence): Promise<string> {
  const at = new Date(evidence.at).toISOString().replace(/[-:]|\.\d+/g, '')
  const path = join(folder, `${at}-${evidence.code}-${crypto.randomUUID().slice(0, 8)}.json`)
  await writePrivate(path, `${JSON.stringify(evidence, null, 2)}\n`)
  return path
}
