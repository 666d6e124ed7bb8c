import type { AuditEvent, RequestEvent } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { command, flag } from '../model/command.ts'
import { table } from '../output/table.ts'
import { shortTime } from '../output/time.ts'

const LATEST = 50
const shapes = () => import('../schemas/monitoring.ts')

/** The newest that fit, until they are older than asked for. */
async function newest<T extends { readonly occurredAt: string }>(
  rows: AsyncIterable<T>,
  isWanted: (row: T) => boolean,
  { since, limit }: { readonly since: number; readonly limit: number },
): Promise<readonly T[]> {
  const found: T[] = []
  for await (const row of rows) {
    if (Date.parse(row.occurredAt) < since) break
    if (isWanted(row)) found.push(row)
    if (found.length >= limit) break
  }
  return found
}

const windowOf = (since: number | undefined, limit: number | undefined) => ({
  since: since === undefined ? 0 : Date.now() - since,
  limit: limit ?? LATEST,
})

function ensureStatus(asked: string | undefined): void {
  if (asked === undefined || /^[1-5](?:xx|\d\d)$/i.test(asked)) return
  throw new CliError('usage', `--status ${asked} is no status`, { fix: 'write it like 404 or 4xx' })
}

/** `404`, `4xx` */
const hasStatus = (asked: string | undefined, status: number): boolean =>
  asked === undefined || asked === String(status) || asked.toLowerCase() === `${Math.floor(status / 100)}xx`

/** Who may not list vaults does not ask: that would stand in the audit trail as something that was tried. */
async function knownVaults(cli: Cli): Promise<(id: string) => string> {
  const [{ holds }, { vaultNamer }] = await Promise.all([import('@strongroom/contract'), import('../activity/rows.ts')])
  const { permissions } = await (await cli.strongroom()).me({ signal: cli.signal })
  return holds(permissions, 'machine.vault.read') ? vaultNamer(cli) : (id) => id
}

/** Vaults, people and agents by name, as far as the caller knows them; everything else by id. */
async function targetNamer(cli: Cli, nameOf: (id: string) => string) {
  const vaultOf = await knownVaults(cli)
  return ({ type, id }: AuditEvent['targets'][number]): string => {
    if (type === 'vault') return vaultOf(id)
    // In the directory, whose a key is stands in it.
    const [, principal = `${type}:${id}`, key] = /^((?:user|agent):[^:]+)(?::(.+))?$/.exec(id) ?? []
    const name = nameOf(principal)
    if (name === principal) return id
    return key === undefined ? name : `${name} (${key})`
  }
}

const nothing = (cli: Cli, rows: readonly unknown[]): void => {
  if (rows.length === 0) cli.say('nothing found')
}

export const logs = command({
  summary: 'your requests, newest first',
  args: {},
  flags: {
    since: flag.duration('of this time', '1h'),
    status: flag.text('only these answers', '4xx'),
    path: flag.text('only routes with this in their path', 'TEXT'),
    limit: flag.count('at most so many; 50 if not given'),
  },
  examples: [{ run: 'strongroom logs --status 4xx --since 1h', does: 'what was refused in the last hour' }],
  next: 'strongroom stats',
  output: async () => (await shapes()).requestsShape,
  run: async (cli, { flags }) => {
    ensureStatus(flags.status)
    const strongroom = await cli.strongroom()
    const isWanted = ({ status, routeTemplate }: RequestEvent): boolean =>
      hasStatus(flags.status, status) && (flags.path === undefined || routeTemplate.includes(flags.path))
    const pages = strongroom.monitoring.requests({}, { signal: cli.signal })
    const rows = await newest(pages, isWanted, windowOf(flags.since, flags.limit))
    nothing(cli, rows)
    return {
      data: rows,
      ...(rows.length > 0 && {
        text: table(
          rows,
          [
            { title: 'TIME', of: ({ occurredAt }) => shortTime(occurredAt) },
            { title: 'STATUS', of: ({ status }) => status },
            { title: 'METHOD', of: ({ method }) => method },
            { title: 'ROUTE', of: ({ routeTemplate }) => routeTemplate },
            { title: 'MS', of: ({ durationMs }) => Math.round(durationMs), right: true },
            { title: 'CODE', of: ({ errorCode }) => errorCode ?? undefined },
            { title: 'REQUEST', of: ({ requestId }) => requestId },
          ],
          cli.style,
        ),
      }),
    }
  },
})

export const audit = command({
  summary: 'the audit trail, newest first',
  about:
    'Owners and admins see the organisation, tenant administrators their tenants, everybody else themselves. Every event is in a chain of hashes: --verify recomputes all of it here, and holds it against the end this machine has seen last. Who can write everything on the server could recompute it too, and is seen by a machine that remembers; what is broken ends with exit code 9.',
  args: {},
  flags: {
    since: flag.duration('of this time', '24h'),
    action: flag.text('only this action, such as vault.create', 'ACTION'),
    refused: flag.on('only what was refused'),
    limit: flag.count('at most so many; 50 if not given'),
    export: flag.on('every event as a line of JSON, oldest last'),
    verify: flag.on('check the chain: nothing changed, moved or gone'),
  },
  examples: [
    { run: 'strongroom audit --refused --since 24h', does: 'who tried what they may not' },
    { run: 'strongroom audit --export > audit.ndjson', does: 'all of it, for another system' },
    { run: 'strongroom audit --verify', does: 'recomputes every hash here' },
  ],
  next: 'strongroom audit --verify',
  output: async () => (await shapes()).auditOrVerdictShape,
  run: async (cli, { flags }) => {
    if (flags.verify) return (await import('../audit/verify.ts')).verifyAudit(cli, flags)
    const strongroom = await cli.strongroom()
    const pages = strongroom.monitoring.audit({}, { signal: cli.signal })
    if (flags.export) {
      for await (const event of pages) await cli.data(`${JSON.stringify(event)}\n`)
      return undefined
    }
    const isWanted = ({ action, outcome }: AuditEvent): boolean =>
      (flags.action === undefined || action === flags.action) && (!flags.refused || outcome === 'refused')
    const rows = await newest(pages, isWanted, windowOf(flags.since, flags.limit))
    nothing(cli, rows)
    if (rows.length === 0 || cli.isJson) return { data: rows }
    const nameOf = await (await import('../place/principals.ts')).namesOf(cli)
    const targetOf = await targetNamer(cli, nameOf)
    return {
      data: rows,
      text: table(
        rows,
        [
          { title: 'TIME', of: ({ occurredAt }) => shortTime(occurredAt) },
          { title: 'WHO', of: ({ actor }) => nameOf(actor.id) },
          { title: 'ACTION', of: ({ action }) => action },
          { title: 'TARGETS', of: ({ targets }) => targets.map(targetOf).join(' ') || undefined },
          { title: 'OUTCOME', of: ({ outcome, errorCode }) => errorCode ?? outcome },
          { title: 'POSITION', of: ({ position }) => position ?? undefined, right: true },
        ],
        cli.style,
      ),
    }
  },
})
