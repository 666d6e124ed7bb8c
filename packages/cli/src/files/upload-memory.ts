import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Paths } from '../place/paths.ts'
import { readIfThere, writePrivate } from '../place/private-file.ts'

// What this machine remembers of an upload until it is done: the ticket to go on with. It is no secret, and of use to whoever began it.

export interface UploadIdentity {
  readonly who: string
  readonly place: string
  readonly path: string
  readonly size: number
  readonly changedMs: number
}

export interface UploadMemory {
  ticket(): Promise<string | undefined>
  keep(ticket: string): Promise<void>
  forget(): Promise<void>
}

/** Another file, the same file after a change, another place or another sender: another upload. */
export function uploadMemory({ evidence }: Paths, upload: UploadIdentity): UploadMemory {
  const { who, place, path, size, changedMs } = upload
  const name = createHash('sha256')
    .update(JSON.stringify([who, place, path, size, changedMs]))
    .digest('hex')
  const file = join(dirname(evidence), 'uploads', `${name.slice(0, 32)}.ticket`)
  return {
    ticket: async () => (await readIfThere(file))?.trim(),
    keep: (ticket) => writePrivate(file, `${ticket}\n`),
    forget: () => rm(file, { force: true }),
  }
}

/** For content that can be read once: there is nothing to go on with. */
export const NO_MEMORY: UploadMemory = {
  ticket: async () => undefined,
  keep: async () => undefined,
  forget: async () => undefined,
}
