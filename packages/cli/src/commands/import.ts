import { basename, resolve } from 'node:path'
import type { Cli } from '../cli.ts'
import { confirm } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/codes.ts'
import { carryOut, countsOf, isWhole, type Plan, planOf } from '../import/plan.ts'
import { type Found, type FoundItem, storable } from '../import/source.ts'
import { arg, command, flag, type Result } from '../model/command.ts'
import { table } from '../output/table.ts'
import { readGiven } from '../place/given-file.ts'
import { utf8Text } from '../place/utf8.ts'

const SOURCES = ['dotenv', '1password', 'bitwarden', 'archive'] as const

interface About {
  readonly item: string | undefined
  readonly 'passphrase-file': string | undefined
}

async function readSource(cli: Cli, source: string, path: string, about: About): Promise<Found> {
  const { item, 'passphrase-file': passphraseFile } = about
  if (item !== undefined && source !== 'dotenv')
    throw new CliError('usage', '--item is for dotenv: the other files name their items themselves')
  if (source === 'archive') {
    const { itemsOfArchive } = await import('../archive/content.ts')
    const { passphraseOfArchive } = await import('../archive/passphrase.ts')
    return itemsOfArchive(resolve(cli.io.cwd, path), await passphraseOfArchive(cli, passphraseFile))
  }
  if (passphraseFile !== undefined)
    throw new CliError('usage', '--passphrase-file is for archives: the other files are not sealed')
  const bytes = await readGiven(cli, path)
  try {
    return storable(await readOther(source, bytes, path, item))
  } catch (error) {
    // What is asked of the file is not there in the form it should have.
    if (!(error instanceof TypeError)) throw error
    throw new CliError('import_unreadable', `this is not what ${source} exports`, { fix: 'export it again' })
  }
}

async function readOther(source: string, bytes: Buffer, path: string, item: string | undefined): Promise<Found> {
  if (source === '1password') return (await import('../import/onepassword.ts')).readOnePassword(bytes)
  const text = utf8Text(bytes, path)
  if (source === 'bitwarden') return (await import('../import/bitwarden.ts')).readBitwarden(text)
  return (await import('../import/dotenv.ts')).readDotenv(text, basename(path), item)
}

/** `FROM=VAULT`, for folders that shall be called otherwise here. */
function mapped(maps: readonly string[], into: string | undefined): (from: string) => string {
  const names = new Map(
    maps.map((text) => {
      const at = text.indexOf('=')
      if (at < 1) throw new CliError('usage', '--map is written FROM=VAULT')
      return [text.slice(0, at), text.slice(at + 1)] as const
    }),
  )
  return (from) => into ?? names.get(from) ?? from
}

/** `A, B` of what was counted, such as `1 item, 2 fields`; nothing of what is not there. */
const counted = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([noun, count]) => `${count} ${noun}${count === 1 ? '' : 's'}`)
    .join(', ')

const contentOf = ({ fields, files = [], renamed = [] }: FoundItem): string =>
  [
    `${fields.length} ${fields.length === 1 ? 'field' : 'fields'}`,
    ...(files.length > 0 ? [counted({ file: files.length })] : []),
    ...(renamed.length > 0 ? [`labelled here: ${renamed.join(', ')}`] : []),
  ].join(', ')

interface Row {
  readonly what: string
  readonly where: string
  readonly detail: string
}

function rowsOf({ vault, isNew, items, there }: Plan): readonly Row[] {
  const row = (what: string, name: string, detail: string): Row => ({ what, where: `${vault}/${name}`, detail })
  return [
    ...items.map((item) => row('new', item.name, `${contentOf(item)}${isNew ? ', new vault' : ''}`)),
    ...there.flatMap(({ name, missing, differing, missingFiles, differingFiles }) => [
      ...(missing.length > 0 ? [row('add', name, missing.map(({ label }) => label).join(', '))] : []),
      ...(differing.length > 0 ? [row('keep', name, `another value here: ${differing.join(', ')}`)] : []),
      ...(missingFiles.length > 0 ? [row('add', name, missingFiles.map((file) => file.name).join(', '))] : []),
      ...(differingFiles.length > 0 ? [row('keep', name, `files that differ here: ${differingFiles.join(', ')}`)] : []),
      ...(missing.length + differing.length + missingFiles.length + differingFiles.length === 0
        ? [row('skip', name, 'there already')]
        : []),
    ]),
  ]
}

const planTable = (cli: Cli, plans: readonly Plan[], { leftOut }: Found): string => {
  const rows = [
    ...plans.flatMap(rowsOf),
    ...leftOut.map(({ name, reason }) => ({ what: 'leave', where: name, detail: reason })),
  ]
  const columns = [
    { title: 'DO', of: ({ what }: Row) => what },
    { title: 'ITEM', of: ({ where }: Row) => where },
    { title: 'WHAT', of: ({ detail }: Row) => detail },
  ]
  return table(rows, columns, cli.style)
}

const planShown = ({ vault, isNew, items, there }: Plan) => ({
  vault,
  isNew,
  items: items.map(({ name }) => name),
  renamed: items
    .map(({ name, renamed = [] }) => ({ item: name, fields: renamed }))
    .filter(({ fields }) => fields.length > 0),
  skipped: there
    .filter(({ missing, missingFiles }) => missing.length + missingFiles.length === 0)
    .map(({ name }) => name),
  added: there
    .filter(({ missing }) => missing.length > 0)
    .map(({ name, missing }) => ({ item: name, fields: missing.map(({ label }) => label) })),
  differing: there
    .filter(({ differing }) => differing.length > 0)
    .map(({ name, differing }) => ({ item: name, fields: differing })),
  files: [...items, ...there.map(({ name, missingFiles }) => ({ name, files: missingFiles }))]
    .map(({ name, files = [] }) => ({ item: name, files: files.map((file) => file.name) }))
    .filter(({ files }) => files.length > 0),
  differingFiles: there
    .filter(({ differingFiles }) => differingFiles.length > 0)
    .map(({ name, differingFiles }) => ({ item: name, files: differingFiles })),
})

interface Wishes {
  readonly map: readonly string[]
  readonly vault: string | undefined
  readonly 'dry-run': boolean
}

async function bring(cli: Cli, found: Found, file: string, flags: Wishes): Promise<Result> {
  const plans = await planOf(cli, found, mapped(flags.map, flags.vault))
  const { items, fields, files } = countsOf(plans)
  const complete = isWhole(plans, found)
  const data = {
    imported: 0,
    fieldsAdded: 0,
    filesAdded: 0,
    complete,
    plan: plans.map(planShown),
    leftOut: found.leftOut,
  }
  if (flags['dry-run']) return { data, text: planTable(cli, plans, found), next: 'the same without --dry-run' }
  const what = counted({ item: items, field: fields, file: files })
  if (what !== '') await confirm(cli, `Import ${what} into ${plans.map(({ vault }) => vault).join(', ')}?`)
  await carryOut(cli, plans)
  const end = complete
    ? `${cli.style.good('✓')} everything is in; delete ${file} when you have looked`
    : `${cli.style.warn('!')} keep ${file}: not everything in it is in the vaults`
  return {
    data: { ...data, imported: items, fieldsAdded: fields, filesAdded: files },
    text: `${planTable(cli, plans, found)}\n\n${what === '' ? 'nothing was missing' : `${what} brought`}\n${end}`,
    ...(!complete && { exitCode: EXIT.partly }),
  }
}

export const importing = command({
  summary: 'bring secrets from a file of another program; encrypted here',
  about:
    'A second run brings what is missing: new items, and new fields and files of items that are there. One that has another value here is named and left alone. Where something of the file is not in the vaults afterwards, keep the file: the exit code is 12. Values are never printed.',
  args: {
    source: arg.one(SOURCES.join(', '), { choices: SOURCES }),
    file: arg.one('the file', { completes: 'file' }),
  },
  flags: {
    vault: flag.text('everything into this vault', 'NAME', { completes: 'vault' }),
    map: flag.many('another vault for what was in a folder', 'FROM=VAULT'),
    item: flag.text('dotenv: the item, if not named as the file', 'NAME'),
    'passphrase-file': flag.text('archive: file with its passphrase, or -', 'FILE', {
      completes: 'file',
    }),
    'dry-run': flag.on('only show what would be done'),
  },
  examples: [
    { run: 'strongroom import dotenv .env --vault prod --dry-run', does: 'what would come in' },
    { run: 'strongroom import 1password export.1pux', does: 'vaults by their names there' },
  ],
  next: 'strongroom vault list',
  output: async () => (await import('../schemas/import.ts')).importShape,
  run: async (cli, { args, flags }) => {
    const found = await readSource(cli, args.source, args.file, flags)
    try {
      return await bring(cli, found, args.file, flags)
    } finally {
      await found.close?.()
    }
  },
})
