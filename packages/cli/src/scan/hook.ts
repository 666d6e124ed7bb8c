import { access } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CliError } from '../errors/cli-error.ts'
import { readIfThere, writePrivate } from '../place/private-file.ts'

/** Writes the hook; one that is there and is not ours stays as it is. */
export async function installHook(path: string, script: string): Promise<string> {
  await access(dirname(path)).catch(() => {
    throw new CliError('not_a_repository', 'there is no .git here', { fix: 'run it at the root of the repository' })
  })
  const before = await readIfThere(path)
  if (before !== undefined && before !== script)
    throw new CliError('file_unwritable', `${path} is there already`, {
      fix: 'add to it: strongroom scan --staged --quiet',
    })
  await writePrivate(path, script, 0o755)
  return path
}
