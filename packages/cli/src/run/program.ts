import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import { shellLine } from '@strongroom/contract'
import { CliError } from '../errors/cli-error.ts'

// Whether a command can be started, before it is: as a shell says it, 127 for one that is not there and 126 for one that is not a
// program.

type Found = 'program' | 'other' | 'hidden' | undefined

const isForbidden = (error: unknown): boolean => /^(?:EACCES|EPERM)$/.test((error as NodeJS.ErrnoException).code ?? '')

/** `hidden`: nobody here may look. */
function look(path: string): Found {
  try {
    if (statSync(path).isDirectory()) return 'other'
  } catch (error) {
    return isForbidden(error) ? 'hidden' : undefined
  }
  try {
    accessSync(path, constants.X_OK)
    return 'program'
  } catch (error) {
    return isForbidden(error) ? 'other' : undefined
  }
}

export const notFound = (command: string): CliError =>
  new CliError('command_not_found', `there is no command ${command}`, { fix: 'check its name and PATH' })

export const notExecutable = (command: string): CliError =>
  new CliError('command_not_executable', `${command} cannot be executed`, {
    fix: shellLine`chmod +x ${command}, if it is a program`,
  })

/** Where the program is; refuses what cannot be started. Windows finds programs in other ways, and is left to it. */
export function findProgram(command: string, path: string | undefined, cwd: string): string {
  if (process.platform === 'win32') return command
  if (command === '') throw notFound("''")
  const isPath = command.includes('/')
  const folders = isPath ? [cwd] : (path ?? '/usr/bin:/bin').split(delimiter)
  const places = folders.map((folder) => resolve(cwd, folder || '.', command))
  let isOther = false
  for (const place of places) {
    const found = look(place)
    if (found === 'program') return place
    // A folder of the same name on the PATH is passed over by shells, too; one on it that is somebody else's holds nothing for us.
    isOther ||= found === 'other' || (isPath && found === 'hidden')
  }
  throw isOther ? notExecutable(command) : notFound(command)
}
