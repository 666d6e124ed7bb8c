import { join, resolve } from 'node:path'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { readIfThere } from '../place/private-file.ts'
import type { Manifest, Variable } from './manifest.ts'
import { MANIFEST_NAME, nearestManifest } from './nearest-manifest.ts'

// Where the variables of a process come from: flags, else the strongroom.toml of this folder or one above it, else the vault of
// the profile, else its only vault. Nothing is asked of the server here.

export interface SourceFlags {
  readonly vault: readonly string[]
  readonly project: string | undefined
  /** Only for commands that take licences. */
  readonly license?: readonly string[]
  readonly env: readonly string[]
  readonly dotenv: readonly string[]
  readonly 'env-file': readonly string[]
}

/**
 * `--env-file` is also a flag of Node, which looks for it behind the name of a program too, and takes NODE_OPTIONS from the file before anything of
 * ours runs. So there is another name for it.
 */
export const envFilesIn = (flags: Pick<SourceFlags, 'dotenv' | 'env-file'>): readonly string[] => [
  ...flags.dotenv,
  ...flags['env-file'],
]

/** For people: the file and the line of a variable. A function, so that a task is the same wherever its lines are. */
export type Where = (name: string) => string | undefined

export type Source =
  | { readonly kind: 'vault'; readonly vault: string }
  | { readonly kind: 'project'; readonly project: string }
  | { readonly kind: 'license'; readonly license: string }
  | {
      readonly kind: 'variables'
      readonly from: string
      readonly variables: Readonly<Record<string, Variable>>
      readonly where: Where
    }
  /** The only vault there is; which one that is has to be asked. */
  | { readonly kind: 'only-vault' }

export async function readManifest(path: string): Promise<Manifest> {
  const text = await readIfThere(path)
  if (text === undefined) throw new CliError('file_unreadable', `${path} is not there`)
  return (await import('./manifest.ts')).parseManifest(path, text)
}

/** What a project gives: these environments of it, or what it gives where none is named. */
export function fromManifest(manifest: Manifest, names: readonly string[]): readonly Source[] {
  const { path, project } = manifest
  const licenses = manifest.licenses.map((license): Source => ({ kind: 'license', license }))
  const whereIn =
    (environment: string): Where =>
    (name) => {
      const line = manifest.lineOf(environment, name)
      return line === undefined ? MANIFEST_NAME : `${MANIFEST_NAME}, line ${line}`
    }
  const named = names.map(
    (name): Source => ({
      kind: 'variables',
      from: name,
      variables: manifest.environment(name) ?? {},
      where: whereIn(name),
    }),
  )
  if (named.length > 0) return [...named, ...licenses]
  const variables = manifest.environment('default')
  if (variables) return [{ kind: 'variables', from: MANIFEST_NAME, variables, where: whereIn('default') }, ...licenses]
  if (project !== undefined) return [{ kind: 'project', project }, ...licenses]
  if (licenses.length > 0) return licenses
  throw new CliError('project_file_invalid', `${path} lists no variables and names no project or licence`, {
    fix: 'add [env], or project = "NAME"',
  })
}

async function fromEnvFile(cwd: string, file: string): Promise<Source> {
  const text = await readIfThere(resolve(cwd, file))
  if (text === undefined) throw new CliError('file_unreadable', `${file} is not there`)
  const { lineInDotenv, variablesInDotenv } = await import('./dotenv-variables.ts')
  const where = (name: string): string => `${file}, line ${lineInDotenv(text, file, name)}`
  return { kind: 'variables', from: file, variables: variablesInDotenv(text, file), where }
}

async function fromFlags(cli: Cli, flags: SourceFlags): Promise<readonly Source[]> {
  const { cwd } = cli.io
  const sources: Source[] = flags.vault.map((vault) => ({ kind: 'vault', vault }))
  if (flags.project !== undefined) sources.push({ kind: 'project', project: flags.project })
  for (const license of flags.license ?? []) sources.push({ kind: 'license', license })
  if (flags.env.length > 0) {
    const path = nearestManifest(cwd)
    if (path === undefined)
      throw new CliError(
        'usage',
        `--env names an environment of strongroom.toml, and there is none in ${cwd} or above`,
        {
          fix: `write ${join(cwd, 'strongroom.toml')}, or give --vault`,
        },
      )
    sources.push(...fromManifest(await readManifest(path), flags.env))
  }
  for (const file of envFilesIn(flags)) sources.push(await fromEnvFile(cwd, file))
  return sources
}

async function byDefault(cli: Cli): Promise<readonly Source[]> {
  const { env, cwd } = cli.io
  if (env.STRONGROOM_VAULT) return [{ kind: 'vault', vault: env.STRONGROOM_VAULT }]
  if (env.STRONGROOM_PROJECT) return [{ kind: 'project', project: env.STRONGROOM_PROJECT }]
  const path = nearestManifest(cwd)
  if (path !== undefined) return fromManifest(await readManifest(path), env.STRONGROOM_ENV ? [env.STRONGROOM_ENV] : [])
  const { profile } = await cli.credential()
  return [profile?.vault === undefined ? { kind: 'only-vault' } : { kind: 'vault', vault: profile.vault }]
}

export async function sourcesFor(cli: Cli, flags: SourceFlags): Promise<readonly Source[]> {
  const given = await fromFlags(cli, flags)
  return given.length > 0 ? given : byDefault(cli)
}
