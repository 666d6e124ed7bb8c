import {
  type ActivityEvent,
  type AuditEvent,
  type CreditTransaction,
  PermissionDeniedError,
  type VaultEvent,
} from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { shownMoney } from '../output/money.ts'
import { shortTime } from '../output/time.ts'
import { commerceNames } from './names.ts'

// What happened, from three places: changes of vaults, what was done about licences and money, and how the credit moved.

/** Of each kind of record, at most so many are looked at. */
const MOST = 1000

export const KINDS = ['vault', 'license', 'money'] as const

export interface Row {
  readonly kind: (typeof KINDS)[number]
  readonly at: string
  /** Empty where the server itself did it. */
  readonly who: string
  readonly what: string
  /** Empty for what is in no vault. */
  readonly vault: string
  /** What it was done to, where that is no vault. */
  readonly subject: string
  /** The same by name, where it has one. */
  readonly name: string
  readonly requestId: string
  /** Why it was refused, where it was. */
  readonly errorCode?: string
}

export type Namer = (id: string) => string

export async function vaultNamer(cli: Cli): Promise<Namer> {
  const strongroom = await cli.strongroom()
  const names = new Map(
    (await strongroom.vaults.list({ signal: cli.signal })).map(({ vaultId, name }) => [vaultId, name]),
  )
  return (id) => names.get(id) ?? id
}

export const rowOf = (event: ActivityEvent | VaultEvent, who: Namer, vault: Namer): Row => ({
  kind: 'vault',
  at: event.occurredAt,
  who: who(event.actor),
  what: event.action,
  vault: vault(event.vaultId),
  subject: '',
  name: '',
  requestId: event.requestId,
})

const MONEY = /^(?:billing|budget|funding_intent|domain|catalogue)\./
/** Who only looks changes nothing. */
const LOOKS = /\.read$/

function auditRow(event: AuditEvent, who: Namer): Row | undefined {
  const { action, actor, occurredAt: at, targets, context, errorCode } = event
  const kind = MONEY.test(action) ? 'money' : action.startsWith('license.') ? 'license' : undefined
  if (kind === undefined || LOOKS.test(action)) return undefined
  const [target] = targets
  return {
    ...{ kind, at, who: who(actor.id), what: action, vault: '', subject: target?.id ?? '', name: '' },
    ...{ requestId: context.requestId, ...(errorCode !== null && { errorCode }) },
  }
}

const movementRow = ({ type, amount, ref, occurredAt }: CreditTransaction): Row => ({
  ...{ kind: 'money', at: occurredAt, who: '', what: `credit.${type} ${shownMoney(amount)}`, vault: '' },
  ...{ subject: ref.id, name: '', requestId: '' },
})

/** The newest first, until they are older than asked for; nothing where the caller may not see them. */
async function since<T extends { readonly occurredAt: string }>(
  cli: Cli,
  what: string,
  rows: AsyncIterable<T>,
  from: number,
): Promise<T[]> {
  const found: T[] = []
  try {
    for await (const row of rows) {
      if (Date.parse(row.occurredAt) < from) break
      if (found.length >= MOST) {
        cli.say(`only the newest ${MOST} ${what} were looked at, back to ${shortTime(found.at(-1)?.occurredAt ?? '')}`)
        break
      }
      found.push(row)
    }
  } catch (error) {
    if (!(error instanceof PermissionDeniedError)) throw error
  }
  return found
}

/** What was bought, budgeted and paid in, and how the credit moved. */
export async function commerceRows(cli: Cli, who: Namer, from: number): Promise<readonly Row[]> {
  const { monitoring, billing } = await cli.strongroom()
  const options = { signal: cli.signal }
  const [acts, movements] = await Promise.all([
    since(cli, 'records of what was done', monitoring.audit({}, options), from),
    since(cli, 'movements of credit', billing.transactions({}, options), from),
  ])
  const rows = [...acts.flatMap((event) => auditRow(event, who) ?? []), ...movements.map(movementRow)]
  const nameOf = await commerceNames(
    cli,
    rows.map(({ subject }) => subject),
  )
  return rows.map((row) => ({ ...row, name: nameOf(row.subject) }))
}
