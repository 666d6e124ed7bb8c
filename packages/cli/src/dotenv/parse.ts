import { type DotenvEntry, DotenvError, parseDotenv as parse } from '@strongroom/sdk'
import { CliError } from '../errors/cli-error.ts'

/** Every entry in order, with its line; a line that is none is refused with the name of the file. */
export function parseDotenv(source: string, file: string): readonly DotenvEntry[] {
  try {
    return parse(source)
  } catch (error) {
    if (!(error instanceof DotenvError)) throw error
    throw new CliError('dotenv_invalid', `${file}, ${error.message}`, { fix: 'repair that line' })
  }
}
