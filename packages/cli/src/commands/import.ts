import { basename } from 'node:path'
import type { Cli } from '../cli.ts'
import { confirm } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Found, FoundItem } from '../import/source.ts'
import { arg, command, flag } from '../model/command.ts'
import { table } from '../output/table.ts'
import { readGiven } from '../place/given-file.ts'
import { passphraseFor } from '../place/key-store.ts'
import { withProgress } from '../prompt/progress.ts'

const SOURCES = ['dotenv', '1password', 'bitwarden', 'archive'] as const

async function readSource(cli: Cli, source: string, path: string): Promise<Found> {
  const bytes = await readGiven(cli, path)
  if (source === 'archive') {
    const { openArchive } = await import('../archive/sealed-archive.ts')
    const { itemsOfArchive } = await import('../archive/content.ts')
    return itemsOfArchive(openArchive(bytes, await passphraseFor(cli.keyPlace, 'Passphrase of the archive')))
  }
  if (source === '1password') return (await import('../import/onepassword.ts')).readOnePassword(bytes)
  if (source === 'bitwarden') return (await import('../import/bitwarden.ts')).readBitwarden(bytes.toString('utf8'))
  return (await import('../import/dotenv.ts')).readDotenv(bytes.toString('utf8'), basename(path))
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

interface Plan {
  readonly vault: string
  readonly isNew: boolean
  readonly items: readonly FoundItem[]
  /** Names that are there already; they are left alone. */
  readonly there: readonly string[]
}

async function planOf(cli: Cli, found: Found, vaultOf: (from: string) => string): Promise<readonly Plan[]> {
  const strongroom = await cli.strongroom()
  const known = (await strongroom.vaults.list({ signal: cli.signal })).filter(({ status }) => status === 'active')
  const plans: Plan[] = []
  for (const vault of new Set(found.items.map(({ from }) => vaultOf(from)))) {
    const isNew = !known.some(({ name, vaultId }) => name === vault || vaultId === vault)
    const there = isNew ? [] : (await strongroom.items.list(vault, { signal: cli.signal })).map(({ name }) => name)
    const own = found.items.filter(({ from }) => vaultOf(from) === vault)
    plans.push({
      vault,
      isNew,
      items: own.filter(({ name }) => !there.includes(name)),
      there: own.filter(({ name }) => there.includes(name)).map(({ name }) => name),
    })
  }
  return plans
}

const planTable = (cli: Cli, plans: readonly Plan[], { leftOut }: Found): string => {
  const rows = [
    ...plans.flatMap(({ vault, isNew, items, there }) => [
      ...items.map(({ name, fields }) => ({
        what: 'new',
        where: `${vault}/${name}`,
        detail: `${fields.length} fields${isNew ? ', new vault' : ''}`,
      })),
      ...there.map((name) => ({ what: 'skip', where: `${vault}/${name}`, detail: 'there already' })),
    ]),
    ...leftOut.map(({ name, reason }) => ({ what: 'leave', where: name, detail: reason })),
  ]
  const columns = [
    { title: 'DO', of: (row: (typeof rows)[number]) => row.what },
    { title: 'ITEM', of: (row: (typeof rows)[number]) => row.where },
    { title: 'WHAT', of: (row: (typeof rows)[number]) => row.detail },
  ]
  return table(rows, columns, cli.style)
}

async function carryOut(cli: Cli, plans: readonly Plan[]): Promise<number> {
  const strongroom = await cli.strongroom()
  let done = 0
  await withProgress(cli, 'encrypting', async (progress) => {
    for (const { vault, isNew, items } of plans) {
      if (isNew) await strongroom.vaults.create({ name: vault }, { signal: cli.signal })
      const clean = items.map(({ from: _, ...item }) => item)
      await strongroom.items.import(vault, clean, {
        signal: cli.signal,
        onProgress: (count, total) => progress.update(`${vault}: ${count} of ${total} items`),
      })
      done += items.length
    }
  })
  return done
}

export const importing = command({
  summary: 'bring secrets from a file of another program; encrypted here',
  about:
    'Items that are there already are left alone, so a second run brings what is missing. Values are never printed.',
  args: {
    source: arg.one(SOURCES.join(', '), { choices: SOURCES }),
    file: arg.one('the file', { completes: 'file' }),
  },
  flags: {
    vault: flag.text('everything into this vault', 'NAME', { completes: 'vault' }),
    map: flag.many('another vault for what was in a folder', 'FROM=VAULT'),
    'dry-run': flag.on('only show what would be done'),
  },
  examples: [
    { run: 'strongroom import dotenv .env --vault prod --dry-run', does: 'what would come in' },
    { run: 'strongroom import 1password export.1pux', does: 'vaults by their names there' },
  ],
  next: 'strongroom vault list',
  output: async () => (await import('../schemas/import.ts')).importShape,
  run: async (cli, { args, flags }) => {
    const found = await readSource(cli, args.source, args.file)
    const plans = await planOf(cli, found, mapped(flags.map, flags.vault))
    const count = plans.reduce((sum, { items }) => sum + items.length, 0)
    const summary = plans.map(({ vault, isNew, items, there }) => ({
      vault,
      isNew,
      items: items.map(({ name }) => name),
      skipped: there,
    }))
    const data = { imported: 0, plan: summary, leftOut: found.leftOut }
    if (flags['dry-run']) return { data, text: planTable(cli, plans, found), next: 'the same without --dry-run' }
    if (count > 0) await confirm(cli, `Import ${count} items into ${plans.map(({ vault }) => vault).join(', ')}?`)
    const imported = await carryOut(cli, plans)
    return {
      data: { ...data, imported },
      text: `${planTable(cli, plans, found)}\n\n${cli.style.good('✓')} ${imported} items are in; delete ${args.file} when you have looked`,
    }
  },
})
