import { afterAll, beforeAll, expect, it } from 'vitest'
import { buy, giveCredit, makeBuyer, makeLicenseOrg } from '../../../test/provider/license-buyer.ts'
import { withManners } from '../../../test/provider/provider-scene.ts'
import type { Fault } from '../../../test/provider/reference-provider.ts'
import { type Shop, startShop } from '../../../test/provider/shop.ts'
import { inOrg } from '../../context.ts'
import { applyTransfers, creditOf } from '../../ledger/ledger.ts'
import { closesAt, dayOf, monthOf } from './rules.ts'
import { takeLineTurn, takeMonthTurn } from './turns.ts'
import { fetchUsage } from './usage.ts'
import { startChargeWork } from './work.ts'
import { writeLines } from './write.ts'

// Usage that a provider reports afterwards. Catches: a line charged twice, a line that is charged anew when its amount changes, one of a
// closed month that is lost or changes it, a line without its transfer, one that keeps others from being charged. Seen red: a line under
// another name each time; the transfer left out; the usage of what somebody else has sold; a changed amount charged again; a line
// written into a closed month; the licence or the day left out of the name of a transfer; lines of before not recognised; what one line or one
// provider throws not caught; a day behind the end of the licence not looked at; pages that go round asked for a thousand times; providers asked
// one after the other; lines of days written in the turns of usage.

let shop: Shop
let license: { readonly id: string; readonly externalId: string }
beforeAll(async () => {
  shop = await startShop()
  const { purchaseId, licenseInstanceId } = await buy(shop.buyer, 'mail-pro')
  await shop.turns()
  license = { id: licenseInstanceId, externalId: purchaseId }
})
afterAll(() => shop.close())

const today = (): string => dayOf(shop.h.deps.now())
const use = (lineId: string, amount: bigint, date = today(), month?: string): void =>
  shop.provider.use({ lineId, externalId: license.externalId, date, quantity: 3, amount: String(amount) }, month)
const fetched = (...faults: readonly Fault[]): Promise<void> => {
  shop.provider.misbehave(...faults)
  return fetchUsage(shop.works())
}
const linesOf = async () => {
  const rows = await shop.inDb((db) =>
    db
      .selectFrom('charge_line')
      .select(['kind', 'date', 'corrects_date', 'amount', 'transfer_id'])
      .where('source', 'like', 'usage:%')
      .orderBy('source')
      .execute(),
  )
  return rows.map(({ kind, date, corrects_date, amount, transfer_id }) =>
    [kind, date, corrects_date ?? '-', String(amount), transfer_id].join(' '),
  )
}
const spent = async (before: bigint): Promise<bigint> => before - (await shop.balance()).available

it('charges each line once, however often it is listed and however many ask', async () => {
  const before = (await shop.balance()).available
  for (const [i, name] of ['a', 'b', 'c'].entries()) use(name, BigInt(1000 + i))
  // Of the month before, then the first page of this one.
  await fetched('delay', 'duplicate_lines')
  await Promise.all([fetchUsage(shop.works()), fetchUsage(shop.works())])
  const day = today()
  expect(await linesOf()).toEqual([
    `usage ${day} - 1000 charge:acme:${license.id}:${day}:a`,
    `usage ${day} - 1001 charge:acme:${license.id}:${day}:b`,
    `usage ${day} - 1002 charge:acme:${license.id}:${day}:c`,
  ])
  expect(await spent(before)).toBe(3003n)
  await shop.booksAreRight()
})

it.each(['error_before', 'error_after_commit', 'lost_answer', 'bad_signature'] as const)(
  'charges nothing of a list that did not come, and all of it when it does: %s',
  async (fault) => {
    const [before, known] = [(await shop.balance()).available, (await linesOf()).length]
    use(`after-${fault}`, 500n)
    await fetched('delay', fault)
    expect((await linesOf()).length).toBe(known)
    await fetched()
    expect([(await linesOf()).length - known, await spent(before)]).toEqual([1, 500n])
  },
)

it('keeps to the amount that was listed first, and to orders of its own', async () => {
  const before = (await shop.balance()).available
  const known = await linesOf()
  await fetched('delay', 'wrong_amount', 'wrong_amount', 'wrong_amount', 'wrong_amount')
  shop.provider.use({ lineId: 'x', externalId: 'pur_nobodys', date: today(), quantity: 1, amount: '9' })
  await fetched()
  expect([await linesOf(), await spent(before)]).toEqual([known, 0n])
  use('sold-by-another', 9n)
  const elsewhere = withManners(shop.providers, ({ usage }) => ({ id: 'other', ...(usage && { usage }) }))
  await fetchUsage(shop.works(elsewhere))
  expect([await linesOf(), await spent(before)]).toEqual([known, 0n])
  await fetched()
  expect([(await linesOf()).length - known.length, await spent(before)]).toEqual([1, 9n])
})

const DAY_MS = 86_400_000
/** What the lines of usage of an organisation say, and what was paid for them. */
const charged = (orgId = shop.org.orgId) =>
  inOrg(shop.h.deps, orgId, async (db) => {
    const sum = db.fn.sum<string>('amount')
    const lines = await db
      .selectFrom('charge_line')
      .select(sum.as('sum'))
      .where('source', 'like', 'usage:%')
      .executeTakeFirst()
    const paid = await db
      .selectFrom('ledger_transfer')
      .select(sum.as('sum'))
      .where('code', '=', 'charge')
      .executeTakeFirst()
    return [BigInt(lines?.sum ?? 0), BigInt(paid?.sum ?? 0)] as const
  })

it('charges one name once for each licence and each day, and lines are what was paid', async () => {
  const second = await buy(shop.buyer, 'mail-pro')
  await shop.turns()
  shop.h.advance(DAY_MS)
  const [before, [known]] = [(await shop.balance()).available, await charged()]
  const listed = [license.externalId, second.purchaseId].flatMap((externalId) =>
    [today(), dayOf(new Date(shop.h.deps.now().getTime() - DAY_MS))].map((date) => ({ externalId, date })),
  )
  for (const about of listed) shop.provider.use({ ...about, lineId: '1', quantity: 1, amount: '700' })
  shop.provider.use({ externalId: second.purchaseId, date: today(), lineId: 'one', quantity: 1, amount: '40' })
  use('one', 30n)
  await fetched()
  await Promise.all([fetchUsage(shop.works()), fetchUsage(shop.works())])
  expect(await spent(before)).toBe(2870n)
  expect(await charged()).toEqual([known + 2870n, known + 2870n])
  await shop.booksAreRight()
})

it('recognises what was charged under the names of before, also in a month that was closed', async () => {
  const { h, org } = shop
  const [day, orgId] = [today(), org.orgId]
  const dayBefore = dayOf(new Date(h.deps.now().getTime() - DAY_MS))
  const earlier = { instanceId: license.id, date: day, quantity: 3, kind: 'usage' } as const
  await shop.inDb(async (db) => {
    const names = ['old', 'old-late'].map((lineId) => ({
      source: `usage:${lineId}`,
      transferId: `charge:acme:${lineId}`,
    }))
    const [plain, late] = names.map((name) => ({ ...earlier, ...name, amount: 60n }))
    if (!plain || !late) return
    await writeLines(h.deps, db, { orgId, tenantId: org.tenantId }, [plain, { ...late, correctsDate: dayBefore }])
    const about = { group: `charge:${license.id}`, code: 'charge', refType: 'license', refId: license.id } as const
    const legs = { dr: 'credit', cr: 'payable:acme', amount: 60n, phase: 'single' } as const
    const paid = names.map(({ transferId: id }) => ({ ...about, ...legs, id }))
    await applyTransfers(db, orgId, paid, h.deps.now())
  })
  const [before, known] = [(await shop.balance()).available, await linesOf()]
  use('old', 60n)
  use('old-late', 60n, dayBefore)
  await fetched()
  expect([await linesOf(), await spent(before)]).toEqual([known, 0n])
})

it('is not kept by one line, nor by one provider, from charging the others', async () => {
  const { h, org } = shop
  const other = await makeLicenseOrg(h, 'others')
  await giveCredit(h, other.orgId, 100_000_000n)
  const { purchaseId } = await buy(await makeBuyer(h, other, 'hybrid'), 'mail-pro')
  await shop.turns()
  const day = today()
  // Somebody has paid something else under that very name.
  const taken = {
    id: `charge:acme:${license.id}:${day}:taken`,
    group: 'charge:x',
    refType: 'license',
    refId: 'x',
  } as const
  const legs = { code: 'charge', phase: 'single', dr: 'credit', cr: 'payable:acme', amount: 1n } as const
  await shop.inDb((db) => applyTransfers(db, org.orgId, [{ ...taken, ...legs }], h.deps.now()))
  use('taken', 50n)
  shop.provider.use({ lineId: 'theirs', externalId: purchaseId, date: day, quantity: 1, amount: '80' })
  const told: Record<string, unknown>[] = []
  const log = { ...h.deps.log, warn: (about: object) => told.push({ ...about }) } as unknown as typeof h.deps.log
  const throwing = { usage: () => Promise.reject(Object.assign(new Error('whsec_of_theirs'), { code: 'EBROKEN' })) }
  const [first] = [...withManners(shop.providers, () => ({ id: 'broken', ...throwing })).values()]
  const providers = new Map([...(first ? [['broken', first] as const] : []), ...shop.providers])
  const before = await inOrg(h.deps, other.orgId, (db) => creditOf(db, other.orgId))
  await fetchUsage({ ...shop.works(providers), deps: { ...h.deps, log } })
  const after = await inOrg(h.deps, other.orgId, (db) => creditOf(db, other.orgId))
  expect([before.available - after.available, await charged(other.orgId)]).toEqual([80n, [80n, 80n]])
  expect((await linesOf()).filter((line) => line.includes(':taken'))).toEqual([])
  expect(told.map(({ provider, lineId, ending, cause }) => [provider, lineId ?? cause, ending])).toEqual(
    expect.arrayContaining([
      ['broken', 'EBROKEN', undefined],
      ['acme', 'taken', 'failed:error'],
    ]),
  )
  expect(JSON.stringify(told)).not.toContain('whsec')
})

it('takes what the credit does not cover when it does', async () => {
  const { available } = await shop.balance()
  const known = (await linesOf()).length
  use('too-much', available + 1n)
  use('little', 7n)
  await fetched()
  expect([(await linesOf()).length - known, await spent(available)]).toEqual([1, 7n])
  await shop.booksAreRight()
})

it('puts what comes late into the month it comes in, and leaves a closed month as it is', async () => {
  const { h } = shop
  const day = today()
  const month = monthOf(day)
  h.advance(closesAt(month).getTime() + 3_600_000 - h.deps.now().getTime())
  while (await takeLineTurn(h.deps, h.worker));
  while (await takeMonthTurn(h.deps, h.worker));
  while (await takeMonthTurn(h.deps, h.worker));
  const before = (await shop.balance()).available
  use('late', 40n, day)
  await fetched()
  await fetched()
  expect((await linesOf()).filter((line) => line.includes(':late'))).toEqual([
    `adjustment ${today()} ${day} 40 charge:acme:${license.id}:${day}:late`,
  ])
  expect(await spent(before)).toBe(40n)
})

it('charges what was used until a licence has ended, and nothing of the days after', async () => {
  const { h, buyer } = shop
  const { purchaseId: externalId, licenseInstanceId } = await buy(buyer, 'mail-pro')
  await shop.turns()
  await buyer.client.licenses.terminate({ body: { licenseInstanceId } })
  await shop.turns()
  const lastDay = today()
  h.advance(DAY_MS)
  const before = (await shop.balance()).available
  shop.provider.use({ lineId: 'to-its-end', externalId, date: lastDay, quantity: 1, amount: '300' })
  shop.provider.use({ lineId: 'after-it', externalId, date: today(), quantity: 1, amount: '9000' })
  await fetched()
  expect(await spent(before)).toBe(300n)
})

it('does not follow pages that go round in a circle', async () => {
  const asked: (string | null)[] = []
  const round = withManners(shop.providers, () => ({
    usage: async ({ cursor }) => {
      asked.push(cursor)
      return { kind: 'listed', lines: [], next: cursor === 'b' ? 'a' : 'b' }
    },
  }))
  await fetchUsage(shop.works(new Map([...round].slice(-1))))
  const month = [null, 'b', 'a']
  expect(asked).toEqual([...month, ...month])
})

it('charges the usage and the days of others while a provider does not answer', async () => {
  const { h } = shop
  let [asked, answer] = [0, (): void => undefined]
  const silence = new Promise<{ kind: 'unavailable'; cause: string }>((resolve) => {
    answer = () => resolve({ kind: 'unavailable', cause: 'not_reachable' })
  })
  const silent = withManners(shop.providers, () => ({
    usage: () => {
      asked += 1
      return silence
    },
  }))
  const before = (await shop.balance()).available
  use('beside-silence', 70n)
  const [mute] = [...silent.values()].slice(-1)
  const fetching = fetchUsage(shop.works(new Map([...(mute ? [['mute', mute] as const] : []), ...shop.providers])))
  await expect.poll(() => spent(before)).toBe(70n)
  const work = startChargeWork(h.deps, h.worker, silent)
  const known = asked
  work.nudge()
  await expect.poll(() => asked).toBeGreaterThan(known)
  h.advance(DAY_MS)
  const due = () => {
    work.nudge()
    return shop.inDb((db) =>
      db.selectFrom('license_period').select('period_no').where('next_at', '<=', h.deps.now()).execute(),
    )
  }
  await expect.poll(due).toEqual([])
  answer()
  await Promise.all([fetching, work.stop()])
})
