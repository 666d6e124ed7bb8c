import { createHash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { shellLine } from '@strongroom/contract'
import { CliError } from '../errors/cli-error.ts'
import type { Paths } from '../place/paths.ts'
import { readIfThere, writePrivate } from '../place/private-file.ts'
import type { ProjectTask } from './tasks.ts'

// Which tasks a person has allowed on this machine: a file for each, beside the configuration, so that two commands at once do not
// lose each other's. Whoever works as the same user can write there too.

interface Allowed {
  readonly path: string
  readonly task: string
  readonly digest: string
}

export type TaskState = 'allowed' | 'changed' | 'not_allowed'

const folderOf = ({ config }: Paths): string => join(dirname(config), 'allowed-tasks')

function fileOf(paths: Paths, path: string, task: string): string {
  const name = createHash('sha256')
    .update(JSON.stringify([path, task]))
    .digest('hex')
  return join(folderOf(paths), `${name}.json`)
}

async function readAllowed(file: string): Promise<Allowed | undefined> {
  const text = await readIfThere(file)
  if (text === undefined) return undefined
  try {
    const { path, task, digest } = JSON.parse(text) as Allowed
    return { path, task, digest }
  } catch {
    // What cannot be read allows nothing.
    return undefined
  }
}

export async function stateOf(paths: Paths, { path, name, digest }: ProjectTask): Promise<TaskState> {
  const allowed = await readAllowed(fileOf(paths, path, name))
  if (allowed?.path !== path || allowed.task !== name) return 'not_allowed'
  return allowed.digest === digest ? 'allowed' : 'changed'
}

/** Refuses a task that nobody has allowed as it is now. */
export async function ensureAllowed(paths: Paths, task: ProjectTask): Promise<void> {
  const state = await stateOf(paths, task)
  if (state === 'allowed') return
  const fix = shellLine`a person looks at it and runs: strongroom allow ${task.name}`
  if (state === 'changed')
    throw new CliError('task_changed', `task ${task.name} is not what was allowed; nothing was started`, { fix })
  throw new CliError('task_not_allowed', `nobody has allowed task ${task.name}; nothing was started`, { fix })
}

export async function allowTask(paths: Paths, { path, name, digest }: ProjectTask): Promise<void> {
  const allowed: Allowed = { path, task: name, digest }
  await writePrivate(fileOf(paths, path, name), `${JSON.stringify(allowed, null, 2)}\n`)
}

/** The tasks of a project that are allowed, also those that it does not have any more. */
export async function allowedIn(paths: Paths, path: string): Promise<readonly string[]> {
  const folder = folderOf(paths)
  const files = await readdir(folder).catch(() => [])
  const all = await Promise.all(
    files.filter((one) => one.endsWith('.json')).map((one) => readAllowed(join(folder, one))),
  )
  return all.flatMap((one) => (one?.path === path ? one.task : [])).sort()
}

export const denyTask = (paths: Paths, path: string, name: string): Promise<void> =>
  rm(fileOf(paths, path, name), { force: true })
