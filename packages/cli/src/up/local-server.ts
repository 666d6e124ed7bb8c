import { readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Paths } from '../place/paths.ts'
import { readIfThere, writePrivate } from '../place/private-file.ts'

// What `up` leaves for `init` while a server runs: where it is, and the one-time setup token, readable by this user alone.

export interface LocalServer {
  readonly url: string
  readonly pid: number
  readonly data: string
  /** Gone once an organisation was made with it. */
  readonly setupToken?: string
}

const folderOf = ({ evidence }: Paths): string => join(dirname(evidence), 'servers')
const fileOf = (paths: Paths, url: string): string =>
  join(folderOf(paths), `${new URL(url).host.replace(/[^A-Za-z0-9.-]/g, '_')}.json`)

export const keepLocalServer = (paths: Paths, server: LocalServer): Promise<void> =>
  writePrivate(fileOf(paths, server.url), `${JSON.stringify(server)}\n`)

export const forgetLocalServer = (paths: Paths, url: string): Promise<void> => rm(fileOf(paths, url), { force: true })

/** The server at this address, if `up` started it here. */
export async function localServerAt(paths: Paths, url: string): Promise<LocalServer | undefined> {
  const text = await readIfThere(fileOf(paths, url))
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as LocalServer
  } catch {
    return undefined
  }
}

/** The token was used: whoever finds the file finds none. */
export async function forgetSetupToken(paths: Paths, url: string): Promise<void> {
  const kept = await localServerAt(paths, url)
  if (kept?.setupToken === undefined) return
  const { setupToken: _, ...rest } = kept
  await keepLocalServer(paths, rest)
}

/** Every server that `up` started here and that was not stopped in order. */
export async function localServers(paths: Paths): Promise<readonly LocalServer[]> {
  const files = await readdir(folderOf(paths)).catch(() => [])
  const urls = files.filter((name) => name.endsWith('.json')).map((name) => join(folderOf(paths), name))
  const found = await Promise.all(urls.map((path) => readIfThere(path)))
  return found.flatMap((text) => {
    try {
      return text === undefined ? [] : [JSON.parse(text) as LocalServer]
    } catch {
      return []
    }
  })
}
