import { shellLine } from '@strongroom/contract'
import type { AuditEvent, Strongroom } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Result } from '../model/command.ts'
import { type Progress, withProgress } from '../prompt/progress.ts'
import { type Break, type ChainCheck, type ChainProblem, checkChain } from './chain-check.ts'
import { type RememberedEnd, rememberEnd, rememberedEnd, rememberedFile } from './remembered-end.ts'

// `strongroom audit --verify`: every event the caller can see, recomputed here.

/** Those to whom the server shows the audit of the whole organisation. */
const SEES_ALL = ['ORG_OWNER', 'ORG_ADMIN']

async function read(
  { monitoring }: Strongroom,
  { signal }: Cli,
  progress: Progress,
  see: (event: AuditEvent) => void,
  isEnough: () => boolean = () => false,
): Promise<void> {
  let count = 0
  for await (const { data, meta } of monitoring.audit({}, { signal }).pages()) {
    for (const event of data) see(event)
    count += data.length
    progress.update(`${count} of ${meta?.total ?? count} entries`)
    if (isEnough()) return
  }
}

/** What was sealed while it was read stands at a place that had none when its turn came: it is looked for once more. */
async function readAll(cli: Cli, strongroom: Strongroom, check: ChainCheck, sawAll: boolean): Promise<void> {
  await withProgress(cli, 'reading the audit trail', async (progress) => {
    await read(strongroom, cli, progress, check.see)
    if (sawAll && check.missing().length > 0)
      await read(strongroom, cli, progress, check.see, () => check.missing().length === 0)
  })
}

const WORDS: Readonly<Record<ChainProblem, string>> = {
  event_changed: 'the entry is not the one that was sealed there',
  link_broken: 'the entry does not follow the one before it',
  position_missing: 'there is no entry at this place',
  event_unsealed: 'an entry was recorded long ago and never sealed',
  history_rewritten: 'there is another entry, or none, where this machine has seen one',
}

const INVESTIGATE = 'nobody who only uses the API can do this: show it to whoever is responsible for security'

function refusal({ problem, position, eventId }: Break, remembered: RememberedEnd | undefined, file: string): CliError {
  const where = position === null ? '' : `, at entry ${position}`
  const seen = problem === 'history_rewritten' && remembered ? `, on ${remembered.at}` : ''
  return new CliError('audit_chain_broken', `the audit trail is not whole${where}: ${WORDS[problem]}${seen}`, {
    fix:
      problem === 'history_rewritten'
        ? `${INVESTIGATE}; if the server was restored from a backup since: ${shellLine`rm ${file}`}`
        : INVESTIGATE,
    details: { problem, position, eventId },
  })
}

/** A machine that cannot keep it can still check what there is. */
async function remember(cli: Cli, orgId: string, end: RememberedEnd): Promise<void> {
  await rememberEnd(cli.paths, orgId, end).catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error
    cli.say(`${error.message}: the end of the chain is not remembered`)
  })
}

const day = (at: string): string => `${at.slice(0, 16).replace('T', ' ')} UTC`

function textOf({ style }: Cli, check: ChainCheck, sawAll: boolean, remembered: RememberedEnd | undefined): string {
  const span = check.span()
  const tick = style.good('✓')
  const entries = check.entries()
  const waiting = check.waiting()
  const wait = waiting > 0 ? [`${style.warn('•')} Waiting     ${waiting} so new that they are not sealed yet`] : []
  if (!span) return [...wait, 'The audit trail has no sealed entry yet.'].join('\n')
  const { first, last, end } = span
  return [
    `${style.dim('Head')}   entry ${end.position}   hash ${end.hash}`,
    '',
    `${tick} Entries     ${entries}, each the one that was sealed`,
    sawAll
      ? `${tick} Chain       ${first.position} to ${last.position}, from the start of your organisation, none missing or moved`
      : `${tick} Chain       those that stand side by side follow each other`,
    ...(remembered
      ? [`${tick} Remembered  entry ${remembered.position}, seen here on ${day(remembered.at)}, is in it`]
      : []),
    ...wait,
    '',
    sawAll
      ? `The audit trail is whole: ${entries} entries, ${day(first.at)} to ${day(last.at)}.`
      : `What you may see is as it was sealed: ${entries} of ${last.position} entries. Owners and admins can check that none is missing.`,
  ].join('\n')
}

/** A chain is checked whole. */
function ensureAlone({ verify: _, ...others }: Readonly<Record<string, unknown>>): void {
  const [given] = Object.entries(others).find(([, value]) => value !== undefined && value !== false) ?? []
  if (given !== undefined) throw new CliError('usage', `--verify looks at everything, and takes no --${given}`)
}

export async function verifyAudit(cli: Cli, flags: Readonly<Record<string, unknown>>): Promise<Result> {
  ensureAlone(flags)
  const strongroom = await cli.strongroom()
  const { org, kind, orgRoles } = await strongroom.me({ signal: cli.signal })
  const sawAll = kind === 'operator' || orgRoles.some((role) => SEES_ALL.includes(role))
  const known = await rememberedEnd(cli.paths, org)
  const check = checkChain(org, Date.now())
  await readAll(cli, strongroom, check, sawAll)
  const found = check.firstBreak({ sawAll, remembered: known })
  if (found) throw refusal(found, known, rememberedFile(cli.paths, org))
  const span = check.span()
  if (sawAll && span) await remember(cli, org, { ...span.end, at: new Date().toISOString() })
  const remembered = sawAll ? known : undefined
  return {
    data: {
      ok: true,
      complete: sawAll,
      entries: check.entries(),
      waiting: check.waiting(),
      first: span?.first ?? null,
      last: span?.last ?? null,
      head: span?.end ?? null,
      remembered: remembered ?? null,
    },
    text: textOf(cli, check, sawAll, remembered),
    next: 'strongroom verify',
  }
}
