import { parseRef } from '@strongroom/sdk'
import { CliError } from '../errors/cli-error.ts'
import { lineOf } from './toml-lines.ts'

// strongroom.toml: which variables a project's processes get, by reference. It holds no secret and is meant to be committed; so
// whatever is not understood is refused with its line, not passed over.

export type Variable =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'ref'
      readonly ref: string
      /** False: the variable is left out, or has its placeholder, where there is nothing behind the reference. */
      readonly isRequired: boolean
      readonly placeholder?: string
    }

export type Variables = Readonly<Record<string, Variable>>

/** What a coding agent may have run, once a person has allowed it. */
export interface Task {
  /** Text is for a shell; words are a program and its arguments. */
  readonly run: string | readonly string[]
  /** The only variables it gets; all of them where there is no list. */
  readonly env?: readonly string[]
}

export interface Manifest {
  readonly path: string
  readonly project?: string
  /** Licences whose variables come beside whatever else there is. */
  readonly licenses: readonly string[]
  /** Undefined where no variables are listed: the project gives them all. */
  environment(name: string): Variables | undefined
  readonly environments: readonly string[]
  /** On which line a variable of an environment stands, there or in one it extends. */
  lineOf(environment: string, name: string): number | undefined
  readonly tasks: ReadonlyMap<string, Task>
}

const DEFAULT = 'default'
const TOP = ['project', 'licenses', 'env', 'tasks', 'hosts'] as const
const TASK = { run: 'text or list', env: 'list' } as const
const HOST = { use: 'text', as: 'text', allow: 'list', deny: 'list' } as const

type Table = Readonly<Record<string, unknown>>
const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
const isText = (value: unknown): value is string => typeof value === 'string'
const isList = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every(isText)

interface Place {
  readonly path: string
  readonly text: string
}

const refuse = (place: Place, keys: readonly string[], problem: string, fix?: string): never => {
  throw refusal(place, keys, problem, fix)
}

/** With the line on which this key stands. */
function refusal({ path, text }: Place, keys: readonly string[], problem: string, fix?: string): CliError {
  const line = lineOf(text, keys)
  const where = line === undefined ? path : `${path}, line ${line}`
  return new CliError('project_file_invalid', `${where}: ${problem}`, { fix: fix ?? 'strongroom run --help' })
}

function ensureKnown(place: Place, table: Table, known: readonly string[], under: readonly string[] = []): void {
  for (const key of Object.keys(table))
    if (!known.includes(key))
      refuse(place, [...under, key], `${[...under, key].join('.')} is unknown`, `known here: ${known.join(', ')}`)
}

function variableOf(place: Place, keys: readonly string[], given: unknown): Variable {
  const name = keys.at(-1)
  if (isText(given)) {
    if (!given.startsWith('sr://')) return { kind: 'text', text: given }
    if (parseRef(given) === null)
      refuse(place, keys, `${name} is no reference of the form sr://vault/item/field`, 'write a slash in a name as %2F')
    return { kind: 'ref', ref: given, isRequired: true }
  }
  if (typeof given === 'number' || typeof given === 'boolean') return { kind: 'text', text: String(given) }
  if (!isTable(given)) return refuse(place, keys, `${name} is neither text nor a reference`)
  ensureKnown(place, given, ['ref', 'required', 'placeholder'], keys)
  const { ref, required = true, placeholder } = given
  if (!isText(ref) || parseRef(ref) === null)
    return refuse(place, keys, `${name}.ref is no reference of the form sr://vault/item/field`)
  if (typeof required !== 'boolean') return refuse(place, keys, `${name}.required is neither true nor false`)
  if (placeholder !== undefined && !isText(placeholder)) return refuse(place, keys, `${name}.placeholder is no text`)
  return { kind: 'ref', ref, isRequired: required, ...(placeholder !== undefined && { placeholder }) }
}

/** A table with a `ref` is one variable; any other is an environment of its own. */
const isEnvironment = (given: unknown): given is Table => isTable(given) && !Object.hasOwn(given, 'ref')

interface Environment {
  readonly extends?: string
  readonly variables: Variables
}

function environmentsOf(place: Place, env: Table): ReadonlyMap<string, Environment> {
  const found = new Map<string, Environment>()
  const own: [string, Variable][] = []
  for (const [key, given] of Object.entries(env)) {
    if (!isEnvironment(given)) own.push([key, variableOf(place, ['env', key], given)])
    else if (key === DEFAULT)
      refuse(place, ['env', key], '[env] itself is the default environment', 'move these lines to [env]')
    else found.set(key, environmentOf(place, key, given))
  }
  return new Map([[DEFAULT, { variables: Object.fromEntries(own) }], ...found])
}

function environmentOf(place: Place, name: string, { extends: parent, ...rest }: Table): Environment {
  if (parent !== undefined && !isText(parent)) refuse(place, ['env', name, 'extends'], 'extends names an environment')
  const variables = Object.entries(rest).map(
    ([key, given]) => [key, variableOf(place, ['env', name, key], given)] as const,
  )
  return { ...(isText(parent) && { extends: parent }), variables: Object.fromEntries(variables) }
}

function resolved(place: Place, all: ReadonlyMap<string, Environment>, name: string, seen: string[] = []): Variables {
  const found = all.get(name)
  if (!found) {
    const from = seen.at(-1)
    const keys = from === undefined ? ['env'] : ['env', from, 'extends']
    return refuse(place, keys, `there is no environment ${name}`, `there are: ${[...all.keys()].join(', ')}`)
  }
  if (seen.includes(name)) refuse(place, ['env', name, 'extends'], `${name} extends itself`)
  const parent = found.extends === undefined ? {} : resolved(place, all, found.extends, [...seen, name])
  return { ...parent, ...found.variables }
}

function keysOf(all: ReadonlyMap<string, Environment>, environment: string, name: string): readonly string[] {
  const { variables = {}, extends: parent } = all.get(environment) ?? {}
  if (!Object.hasOwn(variables, name) && parent !== undefined) return keysOf(all, parent, name)
  return environment === DEFAULT ? ['env', name] : ['env', environment, name]
}

const FORMS: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: isText,
  list: isList,
  'text or list': (value) => isText(value) || isList(value),
}

function ensureRules(place: Place, under: string, rules: unknown, shape: Readonly<Record<string, string>>): Table {
  if (rules === undefined) return {}
  if (!isTable(rules)) throw refusal(place, [under], `${under} is no table`)
  for (const [name, rule] of Object.entries(rules)) {
    if (!isTable(rule)) throw refusal(place, [under, name], `${under}.${name} is no table`)
    ensureKnown(place, rule, Object.keys(shape), [under, name])
    for (const [key, value] of Object.entries(rule)) {
      const isRight = FORMS[shape[key] ?? '']?.(value)
      if (!isRight) refuse(place, [under, name, key], `${under}.${name}.${key} is no ${shape[key]}`)
    }
  }
  return rules
}

function taskOf(place: Place, name: string, { run, env }: Table): Task {
  const words = isText(run) ? run.trim() : isList(run) ? run[0] : undefined
  if (!words) throw refusal(place, ['tasks', name], `tasks.${name}.run is missing`, 'run = ["npm", "test"]')
  return { run: run as Task['run'], ...(isList(env) && { env }) }
}

function tasksOf(place: Place, given: unknown): ReadonlyMap<string, Task> {
  const tasks = Object.entries(ensureRules(place, 'tasks', given, TASK))
  return new Map(tasks.map(([name, task]) => [name, taskOf(place, name, task as Table)] as const))
}

/** Reads the text of a strongroom.toml. */
export async function parseManifest(path: string, text: string): Promise<Manifest> {
  const { parse } = await import('smol-toml')
  const place = { path, text }
  let table: Table
  try {
    table = parse(text)
  } catch (error) {
    const { line } = error as { line?: number }
    throw new CliError(
      'project_file_invalid',
      `${path}${line === undefined ? '' : `, line ${line}`}: this is not TOML`,
      {
        fix: 'repair that line',
      },
    )
  }
  ensureKnown(place, table, TOP)
  const { project, licenses = [], env, tasks, hosts } = table
  if (project !== undefined && !isText(project)) refuse(place, ['project'], 'project is the name of a project')
  if (!isList(licenses)) throw refusal(place, ['licenses'], 'licenses is a list of names', 'licenses = ["NAME"]')
  if (env !== undefined && !isTable(env)) refuse(place, ['env'], 'env is a table: [env]')
  ensureRules(place, 'hosts', hosts, HOST)
  const all = environmentsOf(place, isTable(env) ? env : {})
  for (const name of all.keys()) resolved(place, all, name)
  return {
    path,
    ...(isText(project) && { project }),
    licenses,
    environment: (name) => (env === undefined && name === DEFAULT ? undefined : resolved(place, all, name)),
    environments: [...all.keys()],
    lineOf: (environment, name) => lineOf(text, keysOf(all, environment, name)),
    tasks: tasksOf(place, tasks),
  }
}
