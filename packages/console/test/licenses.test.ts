import { type License, money } from '@strongroom/contract'
import type { Page } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { refundOf } from '../../server/test/operator.ts'
import { refundAt } from '../src/pages/licenses/refund.ts'
import { putAway, startWorld, type Tab, visit, type World } from './world.ts'

// Licences, as a person buys, uses and ends them. Catches: a price that is not the one on the button, a hand-off that does not happen in
// the page, money under the wrong step, a refund said before that is another than the one that comes, a refusal that leaves something.
// Seen red: the taken money under another step, a wait that does not hand over, a first day that is not counted as used, the wrong number
// in a refusal, a Resume that does nothing, a policy that cannot be named from here, a second purchase where the answer to the first was lost.

let world: World
let tab: Tab
let page: Page
beforeAll(async () => {
  world = await startWorld()
  tab = await world.alice()
  page = tab.page
})
afterAll(() => world?.close())

const step = (name: string) =>
  page.getByRole('list', { name: 'Lifecycle' }).getByRole('listitem').filter({ hasText: name })
const done = (name: string) => step(name).getByText('done', { exact: true })
const press = (name: RegExp | string) => page.getByRole('button', { name, exact: typeof name === 'string' }).click()
const owned = () => world.demo.strongroom.licenses.list().all()

it('buys for exactly the price on the button, and puts the credential into its vault in the page', async () => {
  const { strongroom, stagingId } = world.demo
  await visit(tab, '/licenses')
  await page.getByRole('link', { name: 'Buy a licence' }).click()
  await page.getByLabel('Search licences, or type a slug').fill('sandbox')
  await page.getByRole('link', { name: 'Sandbox licence, once' }).click()
  const buy = page.getByRole('button', { name: 'Buy for 2.00 USD once' })
  await page.getByLabel('At most, in US dollars').fill('1.999999')
  await page.getByText('It costs 2.00 USD now.').waitFor()
  await expect.poll(() => buy.isDisabled()).toBe(true)
  await page.getByLabel('At most, in US dollars').fill('2')
  await page.getByLabel('Where its credential goes').selectOption({ label: 'staging' })
  await page.getByText('strongroom license buy sandbox-once --vault staging --max 2').waitFor()
  await page.getByText('87.50 USD → 85.50 USD').waitFor()
  await buy.click()
  await done('Handed over').waitFor()
  await done('Active').waitFor()
  await step('Reserved').getByText('2.00 USD held').waitFor()
  await step('Provisioned').getByText('2.00 USD taken').waitFor()
  expect((await strongroom.licenses.env('sandbox-once')).names).toEqual(['SANDBOX_ONCE_KEY'])
  const [item] = (await strongroom.items.list(stagingId)).filter(({ labels }) => labels.includes('SANDBOX_ONCE_KEY'))
  await page.getByRole('link', { name: 'staging', exact: true }).click()
  const shown = page.getByRole('dialog').getByRole('heading', { name: item?.name ?? '' })
  await shown.waitFor()
  await putAway(shown)
})

it('says in numbers what is too little, and holds nothing', async () => {
  const { strongroom } = world.demo
  const before = { count: (await owned()).length, credit: (await strongroom.billing.balance()).available }
  await visit(tab, '/licenses/buy?slug=sandbox-monthly')
  await page.getByLabel('Quantity').fill('3')
  await page.getByText('25.50 USD left: 12.00 USD too little').waitFor()
  await press('Buy for 37.50 USD a month')
  await page.getByRole('alert').getByText('budget_exceeded').waitFor()
  await page.getByText('37.50 USD is more than the 25.50 USD that are left of a budget.').waitFor()
  expect((await owned()).length).toBe(before.count)
  expect((await strongroom.billing.balance()).available).toEqual(before.credit)
})

it('buys once where the answer was lost and the button is pressed again', async () => {
  const before = (await owned()).length
  let made = 0
  await page.route('**/licenses/purchase', async (route) => {
    if ((await route.fetch()).ok()) made += 1
    await route.abort()
  })
  await visit(tab, '/licenses/buy?slug=sandbox-once')
  await page.getByLabel('Name of the new vault').fill('pressed twice')
  await press('Buy for 2.00 USD once')
  await page.getByRole('alert').getByText('outcome_unknown').waitFor()
  await page.getByText('Load the page again and look before you repeat it.').waitFor()
  expect(made).toBeGreaterThan(0)
  await page.unrouteAll({ behavior: 'wait' })
  await press('Buy for 2.00 USD once')
  await done('Active').waitFor()
  expect((await owned()).length).toBe(before + 1)
})

it('takes over what was bought elsewhere and waits for its vault', async () => {
  const { strongroom } = world.demo
  const bought = await strongroom.licenses.buy({ license: 'sandbox-once', vault: { create: 'elsewhere' } })
  await bought.wait({ handOff: false })
  await visit(tab, '/licenses')
  const waiting = page.getByRole('table', { name: 'Purchases under way' })
  await waiting.getByText('waits for its vault').waitFor()
  await waiting.getByRole('link').click()
  await done('Handed over').waitFor()
  const [vault] = (await strongroom.vaults.list()).filter(({ name }) => name === 'elsewhere')
  expect(vault?.itemCount).toBe(1)
  await visit(tab, '/licenses')
  await waiting.waitFor({ state: 'detached' })
})

it('says what is given back as the server will give it', () => {
  const price = money('12500000')
  const [start, end] = [new Date('2026-01-31T22:10:00Z'), new Date('2026-02-28T22:10:00Z')]
  const license = { price, periodStart: start.toISOString(), periodEnd: end.toISOString() } as License
  for (let hours = -30; hours < 24 * 30; hours += 7) {
    const now = new Date(start.getTime() + hours * 3_600_000)
    const said = refundAt(license, now)?.amount.amount ?? '0'
    expect(said, now.toISOString()).toBe(refundOf(12_500_000n, start, end, now).toString())
  }
  expect(refundAt({ ...license, periodEnd: null }, start)).toBeUndefined()
})

it('says what is given back, ends by the typed name only, and gives back just that', async () => {
  const { strongroom, purchaseId } = world.demo
  const license = (await owned()).find((one) => one.purchaseId === purchaseId)
  await visit(tab, `/licenses/purchases/${purchaseId}`)
  await press('End the licence')
  const dialog = page.getByRole('dialog')
  const said = (await dialog.getByText(/are given back/).textContent())?.split(' of ')[0] ?? ''
  expect(said).toBe(`${(Number(license && refundAt(license, new Date())?.amount.amount) / 1e6).toFixed(6)} USD`)
  await dialog.getByLabel('When').selectOption('period_end')
  await dialog.getByText('Nothing is given back.').waitFor()
  await dialog.getByLabel('When').selectOption('immediate')
  const end = dialog.getByRole('button', { name: 'End the licence' })
  await expect.poll(() => end.isDisabled()).toBe(true)
  await dialog.getByLabel('Type sandbox-monthly to go on').fill('sandbox-monthly')
  await end.click()
  await done('Ended').waitFor()
  await page.getByText(`${said} were given back.`).waitFor()
  await step('Ended').getByText(`${said} given back`).waitFor()
  const [refund] = (await strongroom.billing.transactions().all()).filter(({ type }) => type === 'refund')
  expect(`${Number(refund?.amount.amount) / 1e6} USD`).toBe(said)
  await visit(tab, '/licenses')
  await page
    .getByRole('row', { name: /Sandbox licence, by the month/ })
    .getByText('terminated')
    .waitFor()
})

it('shows where a purchase stopped and why, and resumes it', async () => {
  const bought = await world.demo.strongroom.licenses.buy({ license: 'sandbox-once', vault: { create: 'third' } })
  await bought.wait()
  let isResumed = false
  await page.route('**/licenses/purchases/*/status', async (route) => {
    const answer = (await (await route.fetch()).json()) as { transitions: { to: string }[] }
    const until = answer.transitions.findIndex(({ to }) => to === 'awaiting_handoff')
    const stopped = {
      ...answer,
      status: 'failed',
      statusReason: 'provider_unreachable',
      retryable: true,
      resumableUntil: new Date(Date.now() + 86_400_000).toISOString(),
      transitions: answer.transitions.slice(0, until),
    }
    await route.fulfill({ json: isResumed ? answer : stopped })
  })
  await page.route('**/licenses/purchases/*/resume', async (route) => {
    isResumed = true
    await route.fulfill({
      response: await route.fetch({ url: route.request().url().replace('/resume', '/status'), method: 'GET' }),
    })
  })
  await visit(tab, `/licenses/purchases/${bought.id}`)
  await step('Failed').getByText('it has stopped: provider unreachable').waitFor()
  await page.getByRole('alert').getByText(`strongroom license resume ${bought.id}`).waitFor()
  await press('Resume')
  await done('Handed over').waitFor()
  await page.unrouteAll({ behavior: 'wait' })
})

it('offers to name the key of the server where the organisation has not', async () => {
  await page.route('**/licenses/purchase', (route) =>
    route.fulfill({
      status: 409,
      json: { error: { code: 'provisioner_not_named', message: 'The policy names no key.', details: {} } },
    }),
  )
  await visit(tab, '/licenses/buy?slug=sandbox-once')
  await page.getByLabel('Name of the new vault').fill('later')
  await press('Buy for 2.00 USD once')
  await page.getByText('Licences cannot be handed over in your organisation yet.').waitFor()
  await press('Sign the policy that names it')
  await page.getByText('Licences cannot be handed over').waitFor({ state: 'detached' })
  await page.unrouteAll({ behavior: 'wait' })
  expect(tab.problems).toEqual([])
})
