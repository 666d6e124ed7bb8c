import type { Strongroom } from '@strongroom/sdk'
import { Type } from 'typebox'
import type { Cli } from '../../cli.ts'
import { explainingKeys } from '../../errors/wrapped-key.ts'
import { referenceOf } from '../../place/reference.ts'
import { stateOf } from '../../project/allowed-tasks.ts'
import { type ProjectTasks, tasksNear, variablesOf } from '../../project/tasks.ts'
import { closed, LOOKS, tool } from '../tool.ts'

const MOST = 500
const name = Type.String({ maxLength: 256 })

const secret = closed({
  ref: Type.String({ description: 'for strongroom.toml' }),
  vault: Type.String(),
  item: Type.String(),
  label: Type.String(),
  env: Type.Union([Type.String(), Type.Null()], { description: 'the variable in which a process gets it' }),
  kind: Type.Union([Type.Literal('variable'), Type.Literal('field')]),
})

interface Found {
  readonly ref: string
  readonly vault: string
  readonly item: string
  readonly label: string
  readonly env: string | null
  readonly kind: 'variable' | 'field'
}

const found = (vault: string, item: string, label: string, isExported: boolean): Found => ({
  ref: referenceOf({ vault, item, field: label }),
  vault,
  item,
  label,
  env: isExported ? label : null,
  kind: isExported ? 'variable' : 'field',
})

async function inVault(cli: Cli, { items }: Strongroom, vault: string): Promise<readonly Found[]> {
  const rows = await explainingKeys(cli, vault, async () => items.list(vault, { signal: cli.signal }))
  return rows.flatMap((row) => row.labels.map((label) => found(vault, row.name, label, true)))
}

/** All of its fields, also those that no process gets. */
async function inItem(cli: Cli, { items }: Strongroom, vault: string, item: string): Promise<readonly Found[]> {
  const read = await explainingKeys(cli, vault, async () => items.get(vault, item, { signal: cli.signal }))
  return read.fields.map(({ label, isEnvironmentVariable }) => found(vault, read.name, label, isEnvironmentVariable))
}

async function inVaults(cli: Cli, strongroom: Strongroom): Promise<readonly Found[]> {
  const vaults = await strongroom.vaults.list({ signal: cli.signal })
  const active = vaults.filter(({ status, role }) => status === 'active' && role !== null)
  const all: Found[] = []
  for (const vault of active) {
    if (all.length > MOST) break
    all.push(...(await inVault(cli, strongroom, vault.name)))
  }
  return all
}

const projectShape = closed({
  path: Type.String(),
  variables: Type.Array(
    closed({
      name: Type.String(),
      ref: Type.Union([Type.String(), Type.Null()]),
      kind: Type.Union([Type.Literal('secret'), Type.Literal('text')]),
    }),
  ),
  tasks: Type.Array(
    closed({
      name: Type.String(),
      variables: Type.Array(Type.String()),
      state: Type.Union([Type.Literal('allowed'), Type.Literal('changed'), Type.Literal('not_allowed')]),
    }),
  ),
})

async function projectOf({ paths }: Cli, { path, variables, tasks }: ProjectTasks) {
  return {
    path,
    variables: Object.entries(variables).map(([name, one]) =>
      one.kind === 'ref' ? { name, ref: one.ref, kind: 'secret' as const } : { name, ref: null, kind: 'text' as const },
    ),
    tasks: await Promise.all(
      tasks.map(async (task) => ({
        name: task.name,
        variables: variablesOf(task).map(({ name }) => name),
        state: await stateOf(paths, task),
      })),
    ),
  }
}

export const listSecrets = tool({
  name: 'list_secrets',
  title: 'List secrets',
  description:
    'Names of the secrets you may use, with their references, and the variables and tasks of strongroom.toml. Never a value. With vault, only that one; with vault and item, also fields that no process gets.',
  input: closed({ vault: Type.Optional(name), item: Type.Optional(name) }),
  output: closed({
    secrets: Type.Array(secret),
    total: Type.Integer({ description: 'more than are listed where there are very many' }),
    project: Type.Union([projectShape, Type.Null()]),
  }),
  annotations: LOOKS,
  run: async (cli, { vault, item }) => {
    const strongroom = await cli.strongroom()
    const all =
      vault === undefined
        ? await inVaults(cli, strongroom)
        : item === undefined
          ? await inVault(cli, strongroom, vault)
          : await inItem(cli, strongroom, vault, item)
    const project = await tasksNear(cli.io.cwd)
    return { secrets: all.slice(0, MOST), total: all.length, project: project ? await projectOf(cli, project) : null }
  },
})
