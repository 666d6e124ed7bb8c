import { readFileSync } from 'node:fs'
import { type Budget, type License, money } from '@strongroom/contract'
import type { CreditTransaction } from '@strongroom/sdk'
import type { Page } from 'playwright'
import decodeQR from 'qr/decode.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CONFIRMATIONS, startTokens } from '../../server/test/chain/funding-world.ts'
import {
  elapsedOf,
  paceSentence,
  purchasesOf,
  refusedBy,
  windowSentence,
  windowWords,
} from '../src/pages/billing/budget-windows.ts'
import { monthBeside } from '../src/pages/billing/charges-page.tsx'
import { spendSteps } from '../src/pages/billing/spend-over-time.ts'
import { startWorld, type Tab, visit, type World } from './world.ts'

// Credit, budgets and charges, with credit that comes over a real chain. Catches: a code that pays somebody else, progress that is not
// live, a budget that is saved with another limit, an end without a way back, sums that are rounded, a file that lacks something.
// Seen red: windows that are sent although the form cannot say them, a code that lacks its last digit, a limit that refuses what just
// fits, money that is only held drawn as spent, every rolling window called one of 24 hours.

let tokens: Awaited<ReturnType<typeof startTokens>>
let world: World
let tab: Tab
let page: Page
beforeAll(async () => {
  tokens = await startTokens()
  const { chain, account, token } = tokens
  world = await startWorld({
    env: {
      STRONGROOM_CHAIN_RPC: chain.url,
      STRONGROOM_CHAIN_ID: String(chain.chainId),
      STRONGROOM_CHAIN_XPUB: account.publicExtendedKey,
      STRONGROOM_CHAIN_ASSETS: JSON.stringify([{ symbol: 'TUSD', contract: token, decimals: 6 }]),
      STRONGROOM_CHAIN_CONFIRMATIONS: String(CONFIRMATIONS),
    },
  })
  tab = await world.alice()
  page = tab.page
})
afterAll(async () => {
  await world?.close()
  await tokens?.chain.close()
})

const dialog = () => page.getByRole('dialog')
const press = (name: RegExp | string) => page.getByRole('button', { name, exact: typeof name === 'string' }).click()
async function saved(button: string): Promise<string> {
  const saving = page.waitForEvent('download')
  await press(button)
  return readFileSync(await (await saving).path(), 'utf8')
}

/** What a camera reads: the squares as they are drawn, four pixels each. */
function readCode(path: string, side: number): string {
  const scale = 4
  const width = side * scale
  const data = new Uint8Array(width * width * 4).fill(255)
  for (const [, x, y] of path.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    for (let dy = 0; dy < scale; dy += 1)
      for (let dx = 0; dx < scale; dx += 1)
        data.fill(
          0,
          ((Number(y) * scale + dy) * width + Number(x) * scale + dx) * 4,
          ((Number(y) * scale + dy) * width + Number(x) * scale + dx) * 4 + 3,
        )
  return decodeQR({ width, height: width, data })
}

it('asks for an address, shows a code that pays to it, and follows the payment until it is credited', async () => {
  const { strongroom } = world.demo
  await visit(tab, '/billing')
  await page.getByText('87.50 USD').first().waitFor()
  await page.getByRole('link', { name: 'Pay credit in' }).click()
  await page.getByLabel('Amount in US dollars').fill('twenty')
  await page.getByText('An amount such as 25 or 12.50.').waitFor()
  await page.getByLabel('Amount in US dollars').fill('25.5')
  await page.getByText('strongroom billing fund 25.5 --expires 24h').waitFor()
  await press('Ask for an address')
  const code = page.getByRole('img', { name: 'QR code: pay 25.50 USD in TUSD' })
  await code.waitFor()
  const [intent] = await strongroom.billing.intents().all()
  const side = Number((await code.getAttribute('viewBox'))?.split(' ')[2])
  expect(readCode((await code.locator('path').getAttribute('d')) ?? '', side)).toBe(intent?.paymentUri)
  await dialog()
    .getByText(intent?.address ?? '')
    .first()
    .waitFor()
  const progress = page.getByRole('list', { name: 'Progress' })
  await tokens.chain.transfer(tokens.token, intent?.address ?? '', 25_500_000n)
  await progress.getByText(`1 of ${CONFIRMATIONS} confirmations`).waitFor()
  await tokens.chain.mine(CONFIRMATIONS)
  await progress.getByText('25.50 USD of 25.50 USD').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('table', { name: 'Payments' }).getByText('credited').waitFor()
  await visit(tab, '/billing')
  await page.getByText('113.00 USD').first().waitFor()
})

const budgetsOf = async (subjectType: Budget['subjectType']) =>
  (await world.demo.strongroom.budgets.list().all()).filter((one) => one.subjectType === subjectType)

it('says what a limit would have refused, sets it, changes it, and ends it with a way back', async () => {
  await visit(tab, '/billing/budgets')
  await page.getByText(/12\.50 USD spent, 0\.00 USD reserved, 27\.50 USD left, \d+ (days|h|min|day) to go/).waitFor()
  await press('New budget')
  await page.getByLabel('For', { exact: true }).selectOption({ label: 'Alice (person)' })
  await page.getByLabel('Limit in US dollars').fill('12.499999')
  await page.getByText('Of the one purchase of the last 30 days it would have refused 1.').waitFor()
  await page.getByLabel('Limit in US dollars').fill('12.5')
  await page.getByText('Of the one purchase of the last 30 days it would have refused none.').waitFor()
  await page.getByLabel('At most in one purchase').fill('10')
  await page.getByText('it would have refused 1.').waitFor()
  await press('Save')
  const change = page.getByRole('button', { name: 'Change the budget of Alice' })
  await change.click()
  await page.getByLabel('Limit in US dollars').fill('20.000001')
  await press('Save')
  await page.getByText('20.000001 USD', { exact: false }).first().waitFor()
  const [own] = await budgetsOf('user')
  expect(own).toMatchObject({
    perTransactionLimit: { amount: '10000000' },
    activeWindows: [{ kind: 'monthly', limit: { amount: '20000001' } }],
  })
  await press('End the budget of Alice')
  await change.waitFor({ state: 'detached' })
  expect((await budgetsOf('user'))[0]?.status).toBe('archived')
  await press('Undo')
  await change.waitFor()
  expect((await budgetsOf('user'))[0]?.status).toBe('active')
  await press('As a table')
  await page.getByRole('cell', { name: '20.000001', exact: true }).first().waitFor()
})

it('changes a budget of several windows and leaves them as they are, on the page of the agent too', async () => {
  const { strongroom } = world.demo
  const agents = await strongroom.agents.list().all()
  const agentId = agents.find(({ name }) => name === 'ci')?.agentId ?? ''
  const windows = [
    { kind: 'weekly', limit: money('5000000'), weekStart: 3, timezone: 'Europe/Berlin' },
    { kind: 'monthly', limit: money('9000000'), anchorDay: 15 },
  ] as const
  const { budgetId, activeWindows } = await strongroom.budgets.create({
    subjectType: 'agent',
    subjectId: agentId,
    windows: [...windows],
  })
  await visit(tab, `/agents/${agentId}/budget`)
  await press('Change')
  await page.getByText('Its windows stay as they are: 5.00 USD a week, 9.00 USD a month.').waitFor()
  await page.getByText(`strongroom budget update ${budgetId} --at-once 3`).waitFor({ state: 'detached' })
  await page.getByLabel('At most in one purchase').fill('3')
  await page.getByText(`strongroom budget update ${budgetId} --at-once 3`).waitFor()
  await press('Save')
  await page.getByText('At most 3.00 USD in one purchase.').waitFor()
  const after = (await strongroom.budgets.list().all()).find((one) => one.budgetId === budgetId)
  const rules = (all: typeof activeWindows) => all.map(({ kind, startsAt, limit }) => [kind, startsAt, limit.amount])
  expect(rules(after?.activeWindows ?? [])).toEqual(rules(activeWindows))
})

it('draws what was spent this month beside an even pace, and gives the same numbers as a table', async () => {
  await visit(tab, '/billing')
  const plot = page.getByRole('figure', { name: 'Spent this month, in USD' })
  await plot.getByText(/^12\.50 USD of 40\.00 USD spent; an even pace would be at [\d.]+ USD by now\.$/).waitFor()
  const slider = plot.getByRole('slider')
  await slider.focus()
  await page.keyboard.press('Home')
  await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/: spent 0, an even pace to the limit 0$/)
  await plot.getByRole('button', { name: 'As a table' }).click()
  // The beginning, the purchase, and now.
  const rows = plot.getByRole('row')
  await expect.poll(() => rows.count()).toBe(4)
  expect(await rows.nth(2).getByRole('cell').nth(1).textContent()).toBe('12.5')
  await visit(tab, '/billing/budgets')
  await page.getByText(/^Over time: checkout-bot, monthly/).click()
  await page
    .getByRole('figure', { name: 'checkout-bot, monthly: spent over time in USD' })
    .getByText(/^0\.00 USD of 25\.00 USD spent/)
    .waitFor()
})

it('gives every movement and every charge as a file, to the last digit', async () => {
  await visit(tab, '/billing/transactions')
  await page.getByRole('row', { name: /paid in/ }).waitFor()
  const movements = (await saved('Save all as CSV')).split('\r\n')
  expect(movements[0]).toBe('time,type,amount,currency,available after,posted after,for,id')
  expect(movements.map((line) => line.split(',')[1])).toEqual(['type', 'funding', 'capture', 'hold', 'grant'])
  await visit(tab, '/billing/charges')
  const part = page.getByRole('region', { name: 'Sandbox licence, by the month' })
  await part.getByText(/day by day/).click()
  await part.getByRole('row', { name: /a day of its period/ }).waitFor()
  const [, line] = (await saved('Save the month as CSV')).split('\r\n')
  const [license] = await world.demo.strongroom.billing.charges().all()
  expect(line).toContain(`recurring,1,0.${license?.subtotal.amount.padStart(6, '0')},USD`)
  await page.getByRole('navigation', { name: 'Months' }).getByRole('link').first().click()
  await page.getByText('Nothing was charged').waitFor()
  await page.getByText('final').waitFor()
  expect(tab.problems).toEqual([])
})

it('reckons with windows and months', () => {
  const now = new Date('2026-11-16T00:00:00Z')
  const window = {
    ...{ windowId: 'w', kind: 'monthly', timezone: 'UTC', startsAt: '2026-11-01T00:00:00Z' },
    ...{ endsAt: '2026-12-01T00:00:00Z', resetsAt: '2026-12-01T00:00:00Z', thresholdsReached: [] },
    ...{ limit: money('25000000'), spent: money('20000000'), reserved: money('1'), remaining: money('4999999') },
  } as Budget['activeWindows'][number]
  expect(windowSentence(window, now)).toBe('20.00 USD spent, 0.000001 USD reserved, 4.999999 USD left, 15 days to go')
  expect(elapsedOf(window, now)).toBe(0.5)
  expect(windowWords(window, now)).toBe('a month')
  // One that goes along with time is called by its length, also when the answer is some minutes old.
  const rolling = (startsAt: string): string => windowWords({ kind: 'rolling', startsAt }, now)
  expect(rolling('2026-11-14T23:48:00Z')).toBe('in any 24 hours')
  expect(rolling('2026-11-15T22:50:00Z')).toBe('in any hour')
  expect(rolling('2026-11-15T12:00:00Z')).toBe('in any 12 hours')
  expect(rolling('2026-08-18T00:00:00Z')).toBe('in any 90 days')
  expect(paceSentence(window, now)).toBe('At this pace it is used up in 4 days, before the window ends.')
  expect(paceSentence({ ...window, spent: money('12500000') }, now)).toBeUndefined()
  const bought = (createdAt: string, amount: string, buyer = 'agent:a'): License =>
    ({ createdAt, price: money(amount), buyer, domainTenantId: 't' }) as License
  const all = [
    bought('2026-11-15T23:00:00Z', '6'),
    bought('2026-11-15T01:00:00Z', '6'),
    bought('2026-11-14T01:00:00Z', '6', 'agent:b'),
    bought('2026-10-01T00:00:00Z', '6'),
  ]
  const own = purchasesOf(all, { subjectType: 'agent', subjectId: 'a' }, now)
  expect(own).toHaveLength(2)
  expect(purchasesOf(all, { subjectType: 'org', subjectId: 'o' }, now)).toHaveLength(3)
  expect(refusedBy(own, { kind: 'daily', limit: 6n })).toBe(1)
  expect(refusedBy(own, { kind: 'daily', limit: 12n, atOnce: 5n })).toBe(2)
  expect(refusedBy(purchasesOf(all, { subjectType: 'org', subjectId: 'o' }, now), { kind: 'daily', limit: 6n })).toBe(1)
  expect([monthBeside('2026-01', -1), monthBeside('2026-12', 1)]).toEqual(['2025-12', '2027-01'])
  // Of its own purchases in the window, oldest first; what is only held is not spent.
  const moved = (type: string, day: number, amount: string, id: string) => ({
    ...{ type, amount: money(amount), ref: { type: 'license_purchase', id } },
    occurredAt: `2026-11-${String(day).padStart(2, '0')}T00:00:00.000Z`,
  })
  const transactions = [
    moved('refund', 9, '2', 'one'),
    moved('capture', 8, '-5', 'two'),
    moved('capture', 3, '-6', 'one'),
    moved('hold', 2, '-6', 'one'),
  ] as CreditTransaction[]
  const licenses = [{ purchaseId: 'one', buyer: 'agent:a' }] as License[]
  const counted = { window: { ...window, spent: money('4') }, transactions, licenses, now }
  const amounts = (subjectType: 'agent' | 'org') =>
    spendSteps({ ...counted, subject: { subjectType, subjectId: 'a' } }).map(({ amount }) => amount)
  expect(amounts('agent')).toEqual([0n, 6n, 4n, 4n])
  expect(amounts('org')).toEqual([0n, 6n, 11n, 9n, 4n])
})
