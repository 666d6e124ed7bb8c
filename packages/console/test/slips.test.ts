import type { Page } from 'playwright'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { putAway, startWorld, type Tab, unlock, visit, type World } from './world.ts'

// What a hand does by accident. Catches: a press beside a form that throws away what was typed, or what was shown this once; a double click
// that makes something twice and shows the refusal of the second in place of the first. Seen red: an invite whose link nobody ever saw, a value
// that was typed and gone, what was copied told again after a lock to whoever came in next. And what the browser does not do for the hand:
// a copy that it refuses and nobody hears of, a revealed value that stays in sight for it, a key that counts as stored.

let world: World
let tab: Tab
let page: Page
beforeAll(async () => {
  world = await startWorld()
})
beforeEach(async () => {
  tab = await world.alice()
  page = tab.page
})
afterEach(async () => {
  expect(tab.problems).toEqual([])
  await tab.done()
})
afterAll(() => world?.close())

const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
const dialog = () => page.getByRole('dialog')
/** On the page that a dialog lies over. */
const pressBeside = () => page.mouse.click(4, 600)

it('keeps an invite that is being typed, makes it once by a double click, and its link until somebody has it', async () => {
  await visit(tab, '/people/invites')
  await press('Invite')
  await pressBeside()
  await dialog().waitFor({ state: 'detached' })
  await press('Invite')
  await dialog().getByLabel('Email').fill('erin@northwind.example')
  await pressBeside()
  expect(await dialog().getByLabel('Email').inputValue()).toBe('erin@northwind.example')
  await dialog().getByRole('button', { name: 'Make the link' }).dblclick()
  await dialog()
    .getByText(/\/join#vin1\./)
    .waitFor()
  await pressBeside()
  await page.keyboard.press('Escape')
  expect(
    await dialog()
      .getByText(/\/join#vin1\./)
      .count(),
  ).toBe(1)
  await press('I have it')
  await dialog().waitFor({ state: 'detached' })
})

it('shows what comes of a change that is under way, also to who presses beside it', async () => {
  await visit(tab, '/vaults')
  await press('New vault')
  await dialog().getByLabel('Name').fill('held up')
  let goOn = (): void => undefined
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  await page.route('**/api/**', async (route) => {
    if (route.request().method() === 'POST') await held
    await route.continue()
  })
  await dialog().getByRole('button', { name: 'Create' }).click()
  await dialog().locator('[aria-busy=true]').waitFor()
  await pressBeside()
  await page.keyboard.press('Escape')
  expect(await dialog().count()).toBe(1)
  goOn()
  await page.getByRole('heading', { name: 'held up', level: 1 }).waitFor()
})

it('keeps a value that is being typed in the drawer of an item', async () => {
  const { prodId, itemId } = world.demo
  await visit(tab, `/vaults/${prodId}?item=${itemId}`)
  await press('Edit STRIPE_KEY')
  await dialog().getByLabel('New value').fill('sk_typed')
  await pressBeside()
  expect(await dialog().getByLabel('New value').inputValue()).toBe('sk_typed')
  await page.keyboard.press('Escape')
  await pressBeside()
  await dialog().waitFor({ state: 'detached' })
})

it('says what the browser did not let it copy, and shows it for copying by hand', async () => {
  const { prodId, itemId } = world.demo
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new DOMException('refused', 'NotAllowedError'))
  })
  const byHand = page.getByLabel('Copy it by hand')
  const chosen = () =>
    byHand.evaluate((area: HTMLTextAreaElement) => area.value.slice(area.selectionStart, area.selectionEnd))
  await visit(tab, '/vaults')
  await page.keyboard.press('Control+k')
  await page.getByRole('option', { name: 'Copy a link to this page' }).click()
  await byHand.waitFor()
  await expect.poll(chosen).toBe(`${world.server.url}/vaults`)
  await putAway(byHand)
  await press('New vault')
  await dialog().getByRole('button', { name: 'Copy as CLI' }).click()
  await byHand.waitFor()
  await expect.poll(chosen).toBe('strongroom vault create NAME --classification confidential')
  await putAway(byHand)
  await dialog().getByLabel('Name').waitFor()
  await press('Cancel')

  await visit(tab, `/vaults/${prodId}?item=${itemId}`)
  await press(`${itemId.slice(0, 6)}…${itemId.slice(-6)}, copy ${itemId}`)
  await byHand.waitFor()
  await expect.poll(chosen).toBe(itemId)
  await putAway(byHand)
  await page.getByRole('button', { name: /^Reveal note/ }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await press('Copy the value of note')
  await byHand.waitFor()
  await expect.poll(chosen).toBe('rotated every quarter')
  expect(await page.getByRole('button', { name: 'Clear the clipboard', includeHidden: true }).count()).toBe(0)
  // Gone with what is hidden, whichever way it is.
  await page
    .getByRole('button', { name: 'Hide note', includeHidden: true })
    .evaluate((hide: HTMLButtonElement) => hide.click())
  await byHand.waitFor({ state: 'detached' })
  await page.evaluate(() => Reflect.deleteProperty(navigator.clipboard, 'writeText'))
})

it('tells nobody after a lock what was done before it', async () => {
  await visit(tab, '/vaults')
  await page.keyboard.press('Control+k')
  await page.getByRole('option', { name: 'Copy a link to this page' }).click()
  const told = page.getByText(/^Copied http/)
  await told.first().waitFor()
  await press('Lock now')
  await unlock(tab)
  expect(await told.count()).toBe(0)
})
