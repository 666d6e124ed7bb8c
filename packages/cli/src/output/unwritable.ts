import { CliError } from '../errors/cli-error.ts'
import { shownError } from '../errors/shown.ts'
import { globalsOf } from '../model/parse.ts'
import type { Io } from '../place/io.ts'
import { speakerFor } from './speaker.ts'

/** Standard output takes nothing any more, such as on a full disk: the command ends, and with another code than 0. */
export function endUnwritten(io: Io, cause: NodeJS.ErrnoException): never {
  const why = cause.code === 'ENOSPC' ? 'the disk is full' : (cause.code ?? cause.name)
  const error = new CliError('output_unwritable', `standard output cannot be written: ${why}`, {
    fix: 'look at where it goes to, then run it again',
    cause,
  })
  const shown = shownError(error)
  speakerFor(io, globalsOf(io.argv)).error(shown)
  process.exit(shown.exitCode)
}
