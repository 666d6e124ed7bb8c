import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { shellLine } from '@strongroom/contract'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Result } from '../model/command.ts'
import { ensureFolderFor } from '../place/given-file.ts'
import { readIfThere, writePrivate } from '../place/private-file.ts'
import { readPiped } from '../place/standard-input.ts'
import { pipedText } from '../place/utf8.ts'
import { type FreshnessFlags, freshnessOf } from '../project/freshness.ts'
import { readNamedPart } from '../project/missing-reference.ts'
import { nearestManifest } from '../project/nearest-manifest.ts'
import type { Read } from '../project/read-sources.ts'
import { envFilesIn, type SourceFlags } from '../project/sources.ts'
import { filled, type Place, placesIn, type TemplateType, typeOfFile } from '../project/template.ts'
import { loadVariables } from './loaded.ts'
import { unified } from './shape.ts'

export interface InjectFlags extends SourceFlags, FreshnessFlags {
  readonly in: string | undefined
  readonly out: string | undefined
  readonly type: TemplateType | undefined
  readonly mode: string | undefined
  readonly force: boolean
}

const MAX_TEMPLATE_BYTES = 16 * 1024 * 1024

async function templateOf(cli: Cli, file: string | undefined): Promise<string> {
  if (file === undefined) return pipedText(await readPiped(cli, MAX_TEMPLATE_BYTES, '--in FILE'))
  const text = await readIfThere(resolve(cli.io.cwd, file))
  if (text === undefined) throw new CliError('file_unreadable', `${file} is not there`)
  return text
}

function modeOf(given: string | undefined): number {
  if (given === undefined) return 0o600
  if (!/^0?[0-7]{3}$/.test(given)) throw new CliError('usage', '--mode is three octal digits', { fix: '--mode 0600' })
  return Number.parseInt(given, 8)
}

const isSourceGiven = (flags: InjectFlags): boolean =>
  flags.vault.length + flags.env.length + envFilesIn(flags).length > 0 || flags.project !== undefined

/** Variables by name, where a template names some and something says where they are from. */
async function variablesFor(cli: Cli, flags: InjectFlags, template: string): Promise<ReadonlyMap<string, Read>> {
  const namesSome = /\{\{\s*[A-Za-z_][A-Za-z0-9_]*\s*\}\}/.test(template)
  const isSaid = isSourceGiven(flags) || (namesSome && nearestManifest(cli.io.cwd) !== undefined)
  if (!isSaid) return new Map()
  return unified((await loadVariables(cli, flags, freshnessOf(cli, flags), 'error')).reads, 'error')
}

async function referencesIn(
  cli: Cli,
  flags: InjectFlags,
  places: readonly Place[],
): Promise<ReadonlyMap<string, Read>> {
  const refs = [...new Set(places.map(({ what }) => what).filter((what) => what.startsWith('sr://')))]
  if (refs.length === 0) return new Map()
  const part = {
    source: { refs: Object.fromEntries(refs.map((ref) => [ref, ref])) },
    from: 'the template',
    options: {},
    texts: {},
    placeholders: {},
    where: (ref: string) => `${flags.in ?? 'standard input'}, line ${places.find(({ what }) => what === ref)?.line}`,
  }
  const bundle = await readNamedPart(cli, await cli.strongroom(), part, freshnessOf(cli, flags))
  return new Map(
    refs.flatMap((ref) => {
      const value = bundle?.get(ref)
      return value ? [[ref, { name: ref, value, from: part.from }] as const] : []
    }),
  )
}

function textIn(what: string, { value }: Read): string {
  if (typeof value === 'string') return value
  try {
    return value.reveal()
  } catch (cause) {
    throw new CliError('value_not_expressible', `${what} is not text`, {
      fix: shellLine`strongroom read ${value.ref} --out FILE`,
      cause,
    })
  }
}

/** Fills the template and writes it, whole or not at all. */
export async function injectTemplate(cli: Cli, flags: InjectFlags): Promise<Result | undefined> {
  const { cwd } = cli.io
  const mode = modeOf(flags.mode)
  ensureFolderFor(cli, flags.out)
  const out = flags.out === undefined ? undefined : resolve(cwd, flags.out)
  if (out !== undefined && existsSync(out) && !flags.force)
    throw new CliError('file_unwritable', `${flags.out} is there already`, { fix: 'give --force to replace it' })
  const template = await templateOf(cli, flags.in)
  const type = flags.type ?? typeOfFile(out ?? flags.in ?? '')
  const variables = await variablesFor(cli, flags, template)
  const places = placesIn(template, new Set(variables.keys()))
  const known = new Map([...variables, ...(await referencesIn(cli, flags, places))])
  const text = filled(template, places, type, (what) => textIn(what, known.get(what) as Read))
  const done = { filled: places.length, references: [...new Set(places.map(({ what }) => what))] }
  if (out === undefined) {
    if (cli.isJson) return { data: { ...done, text } }
    await cli.data(text)
    return undefined
  }
  await writePrivate(out, text, mode)
  cli.say(
    `${cli.errorStyle.good('✓')} ${flags.out}   ${places.length} filled, mode ${mode.toString(8).padStart(4, '0')}`,
  )
  return { data: { path: out, ...done }, ...(cli.isJson ? {} : { text: '' }) }
}
