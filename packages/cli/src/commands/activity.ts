import { commerceRows, KINDS, type Namer, type Row, rowOf, vaultNamer } from '../activity/rows.ts'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { arg, command, flag, type Result } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { table } from '../output/table.ts'
import { shortTime } from '../output/time.ts'
import { namesOf } from '../place/principals.ts'

async function follow(cli: Cli, who: Namer, vault: Namer, isWanted: (row: Row) => boolean): Promise<void> {
  const strongroom = await cli.strongroom()
  for await (const event of strongroom.monitoring.tail({ signal: cli.signal })) {
    const row = rowOf(event, who, vault)
    if (!isWanted(row)) continue
    const line = [shortTime(row.at), row.who, row.what, row.vault, row.requestId].map(safeText).join('  ')
    cli.emit({ type: 'activity', ...event, who: row.who, vault: row.vault }, line)
  }
}

interface Wanted {
  readonly vault: string | undefined
  readonly kind: Row['kind'] | undefined
  readonly who: string | undefined
  readonly from: number
}

const isWanted = (row: Row, { vault, kind, who, from }: Wanted): boolean =>
  Date.parse(row.at) >= from &&
  (kind === undefined || row.kind === kind) &&
  (who === undefined || row.who === who) &&
  (vault === undefined || row.vault === vault)

async function rowsOf(cli: Cli, wanted: Wanted, who: Namer, vault: Namer): Promise<readonly Row[]> {
  const { monitoring } = await cli.strongroom()
  const isOnlyVaults = wanted.vault !== undefined || wanted.kind === 'vault'
  const [events, others] = await Promise.all([
    monitoring.activity({}, { signal: cli.signal }).all(),
    isOnlyVaults ? [] : commerceRows(cli, who, wanted.from),
  ])
  if (wanted.vault !== undefined && !events.some(({ vaultId }) => vault(vaultId) === wanted.vault))
    throw new CliError('vault_not_found', `there is no vault ${wanted.vault} you can see`, {
      fix: 'strongroom vault list',
    })
  const changes = events.map((event) => rowOf(event, who, vault)).reverse()
  const rows = [...changes, ...others].filter((row) => isWanted(row, wanted))
  return others.length === 0 ? rows : rows.sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
}

function shown(cli: Cli, rows: readonly Row[]): Result {
  if (rows.length === 0) cli.say('nothing happened')
  const text = table(
    rows,
    [
      { title: 'TIME', of: ({ at }) => shortTime(at) },
      { title: 'WHO', of: (row) => row.who },
      { title: 'WHAT', of: ({ what, errorCode }) => (errorCode === undefined ? what : `${what}: ${errorCode}`) },
      { title: 'WHERE', of: (row) => row.vault || row.name },
      { title: 'REQUEST', of: ({ requestId }) => requestId },
    ],
    cli.style,
  )
  return { data: rows, meta: { total: rows.length }, ...(rows.length > 0 && { text }) }
}

export const activity = command({
  summary: 'what happened: changes of vaults, licences and money, newest first',
  about:
    'What concerns licences, budgets and credit is shown to those who may see it; with --follow, changes of vaults are printed.',
  args: { vault: arg.maybe('only this vault', { completes: 'vault' }) },
  flags: {
    follow: flag.on('go on and print what happens in vaults'),
    since: flag.duration('of this time', '5m'),
    kind: flag.choice('only of this kind', KINDS),
    who: flag.text('only of this person or agent', 'WHO', { completes: 'agent' }),
  },
  examples: [
    { run: 'strongroom activity --since 1h', does: 'the last hour' },
    { run: 'strongroom activity --kind money', does: 'budgets, payments, and how the credit moved' },
    { run: 'strongroom activity prod --follow --json', does: 'a line of JSON for each change, as it happens' },
  ],
  next: 'strongroom audit',
  output: async () => (await import('../schemas/monitoring.ts')).activityShape,
  run: async (cli, { args, flags }) => {
    const [who, vault] = [await namesOf(cli), await vaultNamer(cli)]
    const from = flags.since === undefined ? 0 : Date.now() - flags.since
    const wanted = { vault: args.vault, kind: flags.kind, who: flags.who, from }
    if (!flags.follow) return shown(cli, await rowsOf(cli, wanted, who, vault))
    if (flags.kind !== undefined && flags.kind !== 'vault')
      throw new CliError('usage', '--follow prints changes of vaults', { fix: 'leave --follow or --kind out' })
    await follow(cli, who, vault, (row) => isWanted(row, wanted)).catch((error: unknown) => {
      if (!cli.signal.aborted) throw error
    })
    return undefined
  },
})
