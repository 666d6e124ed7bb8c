import { createHash } from 'node:crypto'
import { mkdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Paths } from './paths.ts'
import { readIfThere } from './private-file.ts'

// A session that was not used for half an hour is over, and its token does not say so: this machine remembers when it last used it. What
// is remembered is no secret, and where it cannot be kept nothing is known.

const IDLE_MS = 30 * 60_000

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

const fileOf = ({ evidence }: Pick<Paths, 'evidence'>, profile: string): string =>
  join(dirname(evidence), 'sessions', digestOf(profile))

export async function noteUse(paths: Pick<Paths, 'evidence'>, profile: string, accessToken: string): Promise<void> {
  const file = fileOf(paths, profile)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    .then(() => writeFile(file, digestOf(accessToken), { mode: 0o600 }))
    .catch(() => undefined)
}

/** Whether this session was used here before, and not for so long that the server has ended it. */
export async function isIdle(
  paths: Pick<Paths, 'evidence'>,
  profile: string,
  accessToken: string,
  now = Date.now(),
): Promise<boolean> {
  const file = fileOf(paths, profile)
  const noted = await readIfThere(file).catch(() => undefined)
  if (noted !== digestOf(accessToken)) return false
  const used = await stat(file).catch(() => undefined)
  return used !== undefined && now - used.mtimeMs > IDLE_MS
}
