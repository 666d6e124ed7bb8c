import { resolve } from 'node:path'
import { CliError } from '../errors/cli-error.ts'
import { readIfThere, writePrivate } from '../place/private-file.ts'
import { ensureRepository, git } from './git.ts'

const HOOK = '#!/bin/sh\nexec strongroom scan --staged --quiet\n'

/** Writes the hook where git looks for it, which need not be .git/hooks; one that is there and is not ours stays as it is. */
export async function installHook(folder: string): Promise<string> {
  await ensureRepository(folder, 'run it in a repository, or make one: git init')
  const place = (await git(folder, ['rev-parse', '--git-path', 'hooks/pre-commit'])).toString('utf8')
  const path = resolve(folder, place.replace(/\n$/, ''))
  const before = await readIfThere(path)
  if (before !== undefined && before !== HOOK)
    throw new CliError('file_unwritable', `${path} is there already`, {
      fix: 'add to it: strongroom scan --staged --quiet',
    })
  await writePrivate(path, HOOK, 0o755)
  return path
}
