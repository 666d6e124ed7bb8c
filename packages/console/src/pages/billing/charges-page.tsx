import { shellLine } from '@strongroom/contract'
import type { LicenseCharges } from '@strongroom/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { saveCsv } from '../../plot/twin.tsx'
import { useStrongroom } from '../../session/session.ts'
import { Button, buttonClasses } from '../../ui/button.tsx'
import { MonoId } from '../../ui/copy.tsx'
import { decimalOf } from '../../ui/decimal.ts'
import { Page } from '../../ui/page.tsx'
import { Answer, Empty } from '../../ui/states.tsx'
import { Status, type Tone } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { When } from '../../ui/when.tsx'
import { BILLING_TABS } from './billing-tabs.ts'
import { MoneyAmount, moneyText } from './money.tsx'
import { chargesQuery, type MonthCharges } from './queries.ts'

type Line = NonNullable<LicenseCharges['lines']>[number]

const STATES: Record<MonthCharges['status'], { readonly tone: Tone; readonly says: string }> = {
  open: { tone: 'money', says: 'The month runs: more may come.' },
  closing: { tone: 'warn', says: 'The month is over; corrections are taken for two days.' },
  final: { tone: 'good', says: 'The month is closed and never changes again.' },
}

const KINDS: Record<Line['kind'], string> = {
  recurring: 'a day of its period',
  usage: 'usage',
  setup: 'bought once',
  credit: 'given back',
  adjustment: 'correction',
}

const LINES: readonly Column<Line>[] = [
  { id: 'date', header: 'Day (UTC)', sort: ({ date }) => date, cell: ({ date }) => date },
  {
    id: 'kind',
    header: 'For',
    grows: true,
    cell: ({ kind, correctsDate }) => `${KINDS[kind]}${correctsDate === null ? '' : ` of ${correctsDate}`}`,
  },
  { id: 'quantity', header: 'Quantity', align: 'right', cell: ({ quantity }) => quantity },
  { id: 'state', header: 'State', cell: ({ state }) => state },
  { id: 'amount', header: 'Amount', align: 'right', cell: ({ amount }) => <MoneyAmount of={amount} /> },
]

const BREAKDOWN = ['recurring', 'usage', 'setup', 'credit', 'adjustment'] as const

function LicencePart({ license }: { readonly license: LicenseCharges }) {
  const { name, provider, subtotal, breakdown, lines = [], licenseInstanceId } = license
  const parts = BREAKDOWN.filter((part) => /[1-9]/.test(breakdown[part].amount))
  return (
    <section aria-label={name} className="border-b border-rule py-4">
      <div className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1 px-6">
        <h2 className="text-dialog">{name}</h2>
        <strong>
          <MoneyAmount of={subtotal} />
        </strong>
      </div>
      <p className="px-6 text-label text-ink-3">
        {provider} · {parts.map((part) => `${part} ${moneyText(breakdown[part])}`).join(' · ')} ·{' '}
        <MonoId id={licenseInstanceId} keep={5} />
      </p>
      <details className="mt-1">
        <summary className="min-h-6 cursor-pointer px-6 text-link">
          {lines.length === 1 ? '1 line' : `${lines.length} lines`}, day by day
        </summary>
        <Table
          label={`Charges of ${name}, day by day`}
          rows={lines}
          columns={LINES}
          keyOf={({ ledgerTransferId, date, kind }) => `${ledgerTransferId} ${date} ${kind}`}
        />
      </details>
    </section>
  )
}

function save({ month, licenses }: MonthCharges): void {
  saveCsv(`charges ${month}`, {
    columns: ['date', 'licence', 'id', 'kind', 'quantity', 'amount', 'currency', 'state', 'corrects'],
    rows: licenses.flatMap(({ name, licenseInstanceId, lines = [] }) =>
      lines.map(({ date, kind, quantity, amount, state, correctsDate }) => [
        ...[date, name, licenseInstanceId, kind],
        quantity,
        ...[decimalOf(amount), amount.currency, state, correctsDate ?? ''],
      ]),
    ),
  })
}

/** `2026-11` and so many months before or after. */
export function monthBeside(month: string, steps: number): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 1 + steps, 1)).toISOString().slice(0, 7)
}

const monthName = (month: string): string =>
  new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(new Date(`${month}-01`))

function MonthHead({ charges }: { readonly charges: MonthCharges }) {
  const { month, status, total, asOf } = charges
  const isNow = month >= new Date().toISOString().slice(0, 7)
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 border-b border-rule px-6 py-4">
      <div className="grid gap-0.5">
        <span className="flex flex-wrap items-baseline gap-x-3">
          <span className="text-figure font-[550] text-money">{moneyText(total)}</span>
          <span>in {monthName(month)}</span>
          <Status tone={STATES[status].tone}>{status}</Status>
        </span>
        <span className="text-label text-ink-3">
          {STATES[status].says} As of <When at={asOf} />.
        </span>
      </div>
      <nav aria-label="Months" className="flex flex-wrap gap-2">
        <Link to="/billing/charges" search={{ month: monthBeside(month, -1) }} className={buttonClasses()}>
          {monthName(monthBeside(month, -1))}
        </Link>
        {!isNow && (
          <Link to="/billing/charges" search={{ month: monthBeside(month, 1) }} className={buttonClasses()}>
            {monthName(monthBeside(month, 1))}
          </Link>
        )}
      </nav>
    </div>
  )
}

export function ChargesPage() {
  const { month } = useSearch({ from: '/billing/charges' })
  const charges = useQuery(chargesQuery(useStrongroom(), month))
  return (
    <Page
      title="Budgets &amp; billing"
      tabs={BILLING_TABS}
      actions={
        charges.data &&
        charges.data.licenses.length > 0 && (
          <Button onClick={() => charges.data && save(charges.data)}>Save the month as CSV</Button>
        )
      }
    >
      <Answer of={charges} what="what licences cost">
        {(found) => (
          <>
            <MonthHead charges={found} />
            {found.licenses.map((license) => (
              <LicencePart key={license.licenseInstanceId} license={license} />
            ))}
            {found.licenses.length === 0 && (
              <Empty
                title="Nothing was charged"
                cli={shellLine`strongroom billing charges --month ${found.month} --lines`}
              >
                <p>Each licence that cost something in the month stands here with its days.</p>
              </Empty>
            )}
          </>
        )}
      </Answer>
    </Page>
  )
}
