import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { shellLine } from '@strongroom/contract'
import { StartError } from '../errors.ts'
import { ownName, whyForbidden } from '../forbidden.ts'

const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EIO'])

/** The refusal where the system keeps us from working in the directory; any other error as it is. */
export function unusable(dataDirectory: string, error: unknown): unknown {
  const { code = '' } = error as NodeJS.ErrnoException
  if (NO_ROOM.has(code))
    return new StartError(
      'data_directory_unusable',
      `the data directory ${dataDirectory} cannot be written: ${code}`,
      'make room on its disk; a new server takes about 200 MB there',
    )
  const why = whyForbidden(error)
  if (why === undefined) return error
  const other = 'choose another one with --data or STRONGROOM_DATA'
  return new StartError(
    'data_directory_unusable',
    `the data directory ${dataDirectory} cannot be used: ${why}`,
    existsSync(dataDirectory)
      ? `${shellLine`chown -R ${ownName()} ${dataDirectory}`}, if it is meant for this server, or ${other}`
      : other,
  )
}

/** One server process per data directory. The kernel frees the lock when its holder ends, however it ends. */
export async function lockDataDirectory(dataDirectory: string): Promise<{ release(): Promise<void> }> {
  try {
    mkdirSync(dataDirectory, { recursive: true, mode: 0o711 })
  } catch (cause) {
    if (whyForbidden(cause) !== undefined) throw unusable(dataDirectory, cause)
    throw new StartError(
      'data_directory_unusable',
      `the data directory ${dataDirectory} cannot be made: ${(cause as NodeJS.ErrnoException).code}`,
      'choose another one with --data or STRONGROOM_DATA',
    )
  }
  const real = realpathSync(dataDirectory)
  const name = createHash('sha256').update(real).digest('hex').slice(0, 32)
  // Abstract sockets exist on Linux only; elsewhere a socket file does, which a kill leaves behind and the next start removes.
  const path = process.platform === 'linux' ? `\0strongroom-${name}` : join(real, 'lock.sock')
  const server = createServer((socket) => socket.destroy())
  try {
    await listen(server, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    throw new StartError(
      'data_directory_in_use',
      `another Strongroom runs on ${real}`,
      'stop it first, or choose another directory with --data',
    )
  }
  server.unref()
  return {
    release: () =>
      new Promise((resolve) =>
        server.close(() => {
          if (process.platform !== 'linux') rmSync(path, { force: true })
          resolve()
        }),
      ),
  }
}

const listen = (server: Server, path: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => resolve())
  })
