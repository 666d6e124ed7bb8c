import type { ChargedMonth, LicenseCharges } from '@strongroom/sdk'
import { CliError } from '../../errors/cli-error.ts'
import { command, flag } from '../../model/command.ts'
import { shownMoney } from '../../output/money.ts'
import { table } from '../../output/table.ts'

type Column = Parameters<typeof table<Row>>[1][number]

interface Row {
  readonly license: string
  readonly id: string
  readonly date: string
  readonly kind: string
  readonly amount: string
}

const subtotalOf = ({ name, licenseInstanceId, subtotal }: LicenseCharges): Row => ({
  ...{ license: name, id: licenseInstanceId, date: '', kind: '', amount: shownMoney(subtotal) },
})

/** A correction says which day it is for. */
const linesOf = ({ name, licenseInstanceId, lines = [] }: LicenseCharges): Row[] =>
  lines.map(({ date, kind, amount, correctsDate }) => ({
    ...{ license: name, id: licenseInstanceId, amount: shownMoney(amount), kind },
    date: correctsDate === null ? date : `${date} for ${correctsDate}`,
  }))

const AMOUNT: Column = { title: 'AMOUNT', of: ({ amount }) => amount, right: true }
const LICENSE: Column = { title: 'LICENCE', of: ({ license }) => license }
const BY_LICENSE: readonly Column[] = [LICENSE, { title: 'ID', of: ({ id }) => id }, AMOUNT]
const BY_DAY: readonly Column[] = [
  LICENSE,
  { title: 'DATE', of: ({ date }) => date },
  { title: 'WHAT', of: ({ kind }) => kind },
  AMOUNT,
]

/** By its id, its slug or its name; several may have one name. */
const isNamed =
  (asked: string) =>
  ({ licenseInstanceId, licenseId, name }: LicenseCharges): boolean =>
    [licenseInstanceId, licenseId, name].includes(asked)

const sumOf = (licenses: readonly LicenseCharges[]): string =>
  licenses.reduce((sum, { subtotal }) => sum + BigInt(subtotal.amount), 0n).toString()

const MONTH = /^[0-9]{4}-(?:0[1-9]|1[0-2])$/

function readMonth(asked: string | undefined): { readonly month?: string } {
  if (asked === undefined) return {}
  if (!MONTH.test(asked))
    throw new CliError('usage', `--month ${asked} is no month`, { fix: 'strongroom billing charges --month 2026-11' })
  return { month: asked }
}

const headline = ({ month, status, total }: ChargedMonth): string => `${month} (${status}): ${shownMoney(total)}`

export const charges = command({
  summary: 'what licences cost in a month, by licence or day by day',
  about: 'A month is open, then closing for two days after its end, then final: it never changes again.',
  args: {},
  flags: {
    month: flag.text('another month than this one', 'YYYY-MM'),
    license: flag.text('only this licence', 'LICENCE'),
    tenant: flag.text('only of this tenant', 'ID'),
    lines: flag.on('a line for each day'),
  },
  examples: [
    { run: 'strongroom billing charges', does: 'this month, with a subtotal for each licence' },
    { run: 'strongroom billing charges --month 2026-11 --lines --json', does: 'a closed month, day by day' },
  ],
  next: 'strongroom billing transactions',
  output: async () => (await import('../../schemas/charges.ts')).chargesShape,
  run: async (cli, { flags }) => {
    const strongroom = await cli.strongroom()
    const { month, tenant, license, lines } = flags
    const asked = {
      ...readMonth(month),
      ...(tenant !== undefined && { tenantId: tenant }),
    }
    const options = { signal: cli.signal }
    const whole = await strongroom.billing.chargedMonth(asked, options)
    // The month that was answered, should this one end meanwhile.
    const wanted = { ...asked, month: whole.month, includeLines: lines }
    const all = await strongroom.billing.charges(wanted, options).all()
    const licenses = license === undefined ? all : all.filter(isNamed(license))
    const charged = license === undefined ? whole : { ...whole, total: { ...whole.total, amount: sumOf(licenses) } }
    cli.say(headline(charged))
    const rows = lines ? licenses.flatMap(linesOf) : licenses.map(subtotalOf)
    return {
      data: { ...charged, licenses },
      meta: { total: licenses.length },
      ...(rows.length > 0 && { text: table(rows, lines ? BY_DAY : BY_LICENSE, cli.style) }),
      next: 'strongroom billing transactions',
    }
  },
})
