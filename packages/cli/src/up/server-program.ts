import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CliError } from '../errors/cli-error.ts'
import { packageFolder } from './node-program.ts'

const NAME = '@strongroom/server'

/** The server's own entry point: built where it is published, a source in the repository. It is started, never imported. */
export function findServerProgram(): string {
  const folder = packageFolder(NAME)
  const found = ['dist/main.js', 'src/main.ts'].map((file) => join(folder ?? '', file)).find((path) => existsSync(path))
  if (folder !== undefined && found !== undefined) return found
  throw new CliError('server_not_installed', `${NAME} is not installed beside this program`, {
    fix: `npm install ${NAME}`,
  })
}
