import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import { CliError } from '../errors/cli-error.ts'
import type { Task, Variable } from './manifest.ts'
import { nearestManifest } from './nearest-manifest.ts'
import { fromManifest, readManifest, type Source } from './sources.ts'

// The tasks of a project as a person allows them: what is run, where, and with which variables. What is allowed and what is run
// come from one reading of the file, so that nobody can change it in between.

export interface ProjectTask extends Task {
  readonly name: string
  /** Of strongroom.toml, without links. */
  readonly path: string
  readonly folder: string
  /** Only what it gets. */
  readonly sources: readonly Source[]
  /** Of all of this: another one is another task. */
  readonly digest: string
}

export interface ProjectTasks {
  readonly path: string
  readonly tasks: readonly ProjectTask[]
  /** What `[env]` lists. */
  readonly variables: Readonly<Record<string, Variable>>
}

const sorted = <T>(table: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Of variables that are listed by name those that the task asks for; a vault or a project is one thing, whatever is in it. */
function narrowed(source: Source, { env }: Task): Source {
  if (source.kind !== 'variables') return source
  const wanted = Object.entries(source.variables).filter(([name]) => env?.includes(name) ?? true)
  return { ...source, variables: sorted(Object.fromEntries(wanted)) }
}

const digestOf = (parts: readonly unknown[]): string =>
  createHash('sha256')
    .update(JSON.stringify(['strongroom task 1', ...parts]))
    .digest('hex')

/** Where the nearest strongroom.toml is, without links: one project has one path. */
async function projectNear(cwd: string): Promise<string | undefined> {
  const found = nearestManifest(cwd)
  return found === undefined ? undefined : realpath(found)
}

/** The tasks of the nearest strongroom.toml; undefined where there is none. */
export async function tasksNear(cwd: string): Promise<ProjectTasks | undefined> {
  const path = await projectNear(cwd)
  if (path === undefined) return undefined
  const manifest = await readManifest(path)
  const all = manifest.tasks.size === 0 ? [] : fromManifest(manifest, [])
  const tasks = [...manifest.tasks].map(([name, task]): ProjectTask => {
    // No names is none at all; where nothing is listed by name, no list of names would mean everything.
    const sources = task.env?.length === 0 ? [] : all.map((source) => narrowed(source, task))
    const digest = digestOf([path, name, task.run, task.env ?? null, sources])
    return { ...task, name, path, folder: dirname(path), sources, digest }
  })
  return { path, tasks, variables: manifest.environment('default') ?? {} }
}

const noProject = (cwd: string): CliError =>
  new CliError('task_not_found', `there is no strongroom.toml in ${cwd} or above`, {
    fix: 'write one with [tasks.NAME], or start in the folder of the project',
  })

export async function requireTasks(cwd: string): Promise<ProjectTasks> {
  const found = await tasksNear(cwd)
  if (found) return found
  throw noProject(cwd)
}

/** Its path alone, for whom it does not matter whether the file can be understood. */
export async function requireProject(cwd: string): Promise<string> {
  const path = await projectNear(cwd)
  if (path !== undefined) return path
  throw noProject(cwd)
}

export function taskNamed({ path, tasks }: ProjectTasks, name: string): ProjectTask {
  const task = tasks.find((one) => one.name === name)
  if (task) return task
  const names = tasks.map((one) => one.name)
  throw new CliError('task_not_found', `${path} has no such task`, {
    fix: names.length === 0 ? 'add [tasks.NAME] with run = ["npm", "test"]' : `there are: ${names.join(', ')}`,
    details: { tasks: names },
  })
}

/** For people, and so that a space within a word is seen. */
export const commandText = ({ run }: Task): string =>
  typeof run === 'string'
    ? run
    : run.map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : JSON.stringify(word))).join(' ')

/** The variables it gets by name, with where they come from. */
export const variablesOf = ({
  sources,
  env,
}: ProjectTask): readonly { readonly name: string; readonly from: string }[] =>
  sources.flatMap((source) => {
    if (source.kind === 'variables')
      return Object.entries(source.variables).map(([name, one]) => ({
        name,
        from: one.kind === 'ref' ? one.ref : 'text of strongroom.toml',
      }))
    const from = source.kind === 'project' ? `project ${source.project}` : wholeOf(source)
    return (env ?? ['*']).map((name) => ({ name, from }))
  })

const wholeOf = (source: Exclude<Source, { kind: 'variables' } | { kind: 'project' }>): string =>
  source.kind === 'license'
    ? `licence ${source.license}`
    : source.kind === 'vault'
      ? `vault ${source.vault}`
      : 'the only vault'
