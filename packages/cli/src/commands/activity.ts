import type { ActivityEvent, VaultEvent } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { arg, command, flag } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { table } from '../output/table.ts'
import { shortTime } from '../output/time.ts'
import { namesOf } from '../place/principals.ts'

interface Row {
  readonly at: string
  readonly who: string
  readonly what: string
  readonly vault: string
  readonly requestId: string
}

type Namer = (id: string) => string

async function vaultNamer(cli: Cli): Promise<Namer> {
  const strongroom = await cli.strongroom()
  const names = new Map(
    (await strongroom.vaults.list({ signal: cli.signal })).map(({ vaultId, name }) => [vaultId, name]),
  )
  return (id) => names.get(id) ?? id
}

const rowOf = (event: ActivityEvent | VaultEvent, who: Namer, vault: Namer): Row => ({
  at: event.occurredAt,
  who: who(event.actor),
  what: event.action,
  vault: vault(event.vaultId),
  requestId: event.requestId,
})

async function follow(cli: Cli, who: Namer, vault: Namer, isWanted: (row: Row) => boolean): Promise<void> {
  const strongroom = await cli.strongroom()
  for await (const event of strongroom.monitoring.tail({ signal: cli.signal })) {
    const row = rowOf(event, who, vault)
    if (!isWanted(row)) continue
    const line = [shortTime(row.at), row.who, row.what, row.vault, row.requestId].map(safeText).join('  ')
    cli.emit({ type: 'activity', ...event, who: row.who, vault: row.vault }, line)
  }
}

export const activity = command({
  summary: 'what happened in your vaults: who changed what, where',
  args: { vault: arg.maybe('only this vault', { completes: 'vault' }) },
  flags: {
    follow: flag.on('go on and print what happens'),
    since: flag.duration('of this time', '5m'),
    who: flag.text('only of this person or agent', 'WHO', { completes: 'agent' }),
  },
  examples: [
    { run: 'strongroom activity --since 1h', does: 'the last hour' },
    { run: 'strongroom activity prod --follow --json', does: 'a line of JSON for each change, as it happens' },
  ],
  output: async () => (await import('../schemas/monitoring.ts')).activityShape,
  run: async (cli, { args, flags }) => {
    const strongroom = await cli.strongroom()
    const [who, vault] = [await namesOf(cli), await vaultNamer(cli)]
    const since = flags.since === undefined ? 0 : Date.now() - flags.since
    const isWanted = (row: Row): boolean =>
      Date.parse(row.at) >= since &&
      (flags.who === undefined || row.who === flags.who) &&
      (args.vault === undefined || row.vault === args.vault)
    if (flags.follow) {
      await follow(cli, who, vault, isWanted).catch((error: unknown) => {
        if (!cli.signal.aborted) throw error
      })
      return undefined
    }
    const events = await strongroom.monitoring.activity({}, { signal: cli.signal }).all()
    const rows = events
      .map((event) => rowOf(event, who, vault))
      .filter(isWanted)
      .reverse()
    if (args.vault !== undefined && rows.length === 0 && !events.some((event) => vault(event.vaultId) === args.vault))
      throw new CliError('vault_not_found', `there is no vault ${args.vault} you can see`, {
        fix: 'strongroom vault list',
      })
    if (rows.length === 0) cli.say('nothing happened')
    return {
      data: rows,
      meta: { total: rows.length },
      ...(rows.length > 0 && {
        text: table(
          rows,
          [
            { title: 'TIME', of: ({ at }) => shortTime(at) },
            { title: 'WHO', of: (row) => row.who },
            { title: 'WHAT', of: ({ what }) => what },
            { title: 'WHERE', of: (row) => row.vault },
            { title: 'REQUEST', of: ({ requestId }) => requestId },
          ],
          cli.style,
        ),
      }),
    }
  },
})
