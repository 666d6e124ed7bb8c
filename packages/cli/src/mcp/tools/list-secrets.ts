import type { ItemSummary, Strongroom } from '@strongroom/sdk'
import { Type } from 'typebox'
import type { Cli } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
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

const namedIn = (vault: string, rows: readonly ItemSummary[]): readonly Found[] =>
  rows.flatMap(({ name, labels }) => labels.map((label) => found(vault, name, label, true)))

async function inVault(cli: Cli, { items }: Strongroom, vault: string): Promise<readonly Found[]> {
  const rows = await explainingKeys(cli, vault, async () => items.list(vault, { signal: cli.signal }))
  return namedIn(vault, rows)
}

/** All of its fields, also those that no process gets. */
async function inItem(cli: Cli, { items }: Strongroom, vault: string, item: string): Promise<readonly Found[]> {
  const read = await explainingKeys(cli, vault, async () => items.get(vault, item, { signal: cli.signal }))
  return read.fields.map(({ label, isEnvironmentVariable }) => found(vault, read.name, label, isEnvironmentVariable))
}

interface Everything {
  readonly secrets: readonly Found[]
  /** Vaults whose key nobody has shared with this agent: one of them is no reason to name nothing. */
  readonly unreadable: readonly string[]
}

const isMissingKey = (error: unknown): boolean =>
  (error as { name?: unknown } | undefined)?.name === 'NoWrappedKeyError'

async function inVaults({ signal }: Cli, { vaults, items }: Strongroom): Promise<Everything> {
  const active = (await vaults.list({ signal })).filter(({ status, role }) => status === 'active' && role !== null)
  const secrets: Found[] = []
  const unreadable: string[] = []
  for (const { name, vaultId } of active) {
    if (secrets.length > MOST) break
    const rows = await items.list(vaultId, { signal }).catch((error: unknown) => {
      if (!isMissingKey(error)) throw error
      unreadable.push(name)
      return []
    })
    secrets.push(...namedIn(name, rows))
  }
  return { secrets, unreadable }
}

async function wantedBy(cli: Cli, strongroom: Strongroom, vault?: string, item?: string): Promise<Everything> {
  if (vault === undefined) return inVaults(cli, strongroom)
  const secrets =
    item === undefined ? await inVault(cli, strongroom, vault) : await inItem(cli, strongroom, vault, item)
  return { secrets, unreadable: [] }
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
    unreadable: Type.Array(Type.String(), { description: 'vaults that nobody has shared the key of with you' }),
    project: Type.Union([projectShape, Type.Null()]),
  }),
  annotations: LOOKS,
  run: async (cli, { vault, item }) => {
    const strongroom = await cli.strongroom()
    if (item !== undefined && vault === undefined)
      throw new CliError('usage', 'an item is in a vault', { fix: 'give vault, too' })
    const { secrets, unreadable } = await wantedBy(cli, strongroom, vault, item)
    const project = await tasksNear(cli.io.cwd)
    return {
      secrets: secrets.slice(0, MOST),
      total: secrets.length,
      unreadable,
      project: project ? await projectOf(cli, project) : null,
    }
  },
})
