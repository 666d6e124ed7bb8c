import type { Page, Route } from 'playwright'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { startWorld, type Tab, unlock, visit, type World } from './world.ts'

// Files on their way. Catches: an upload that nobody can stop, that goes on with keys after the page said they are gone, or that ends unheard after its
// drawer was closed; a refusal that does not say which of several files it was. Seen red: no Stop, no word, parts sent after a lock, a page
// that is left with a file on its way and without a question, and one that asks for nothing.

let world: World
let tab: Tab
let page: Page
beforeAll(async () => {
  world = await startWorld()
})
beforeEach(async () => {
  tab = await world.alice()
  page = tab.page
  await visit(tab, `/vaults/${world.demo.prodId}?item=${world.demo.itemId}`)
})
afterEach(async () => {
  expect(tab.problems).toEqual([])
  await tab.done()
})
afterAll(() => world?.close())

const file = (name: string) => ({ name, mimeType: '', buffer: Buffer.from(`the content of ${name}`) })

/** Contents go nowhere until they are let go. */
async function holdContents(): Promise<{ sent(): number; letGo(): Promise<void> }> {
  const held: Route[] = []
  let isOpen = false
  await page.route('**/*', async (route) => {
    if (route.request().method() !== 'PUT' || isOpen) return route.continue()
    held.push(route)
  })
  return {
    sent: () => held.length,
    letGo: async () => {
      isOpen = true
      for (const route of held) await route.continue().catch(() => undefined)
    },
  }
}

const attach = (...names: readonly string[]) => page.locator('input[type=file]').setInputFiles(names.map(file))

it('stops when it is told to, and says which files were not attached', async () => {
  const { sent } = await holdContents()
  await attach('first.bin', 'second.bin')
  await expect.poll(sent).toBeGreaterThan(0)
  const asked = page.waitForEvent('dialog')
  await page.close({ runBeforeUnload: true })
  expect((await asked).type()).toBe('beforeunload')
  await (await asked).dismiss()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('first.bin was not attached, nor the file after it.').waitFor()
  expect(await page.getByRole('dialog').getByRole('alert').count()).toBe(0)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  // Nothing is on its way any more, and nobody is asked.
  expect(await page.evaluate(() => dispatchEvent(new Event('beforeunload', { cancelable: true })))).toBe(true)
  const { strongroom, prodId, itemId } = world.demo
  const names = (await strongroom.attachments.list(prodId, itemId)).map(({ name }) => name)
  expect(names).toEqual(['webhook-signing.pem'])
})

it('goes on when its drawer is closed, and is heard of', async () => {
  const { sent, letGo } = await holdContents()
  await attach('later.bin')
  await expect.poll(sent).toBeGreaterThan(0)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await letGo()
  await page.getByText('Attached later.bin', { exact: true }).waitFor()
})

it('ends at a lock', async () => {
  const { sent, letGo } = await holdContents()
  await attach('locked.bin')
  await expect.poll(sent).toBeGreaterThan(0)
  await page.keyboard.press('Escape')
  const ended = page.waitForEvent('requestfailed', (request) => request.method() === 'PUT')
  await page.getByRole('button', { name: 'Lock now' }).click()
  await page.getByText('Locked. Your keys are gone from this page.').waitFor()
  await ended
  await letGo()
  const { strongroom, prodId, itemId } = world.demo
  const names = (await strongroom.attachments.list(prodId, itemId)).map(({ name }) => name)
  expect(names).not.toContain('locked.bin')
  await unlock(tab)
})
