import type { Page } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWorld, type Tab, visit, type World } from './world.ts'

// With a keyboard alone: whatever is laid over a page gives the focus back to what opened it. Seen red: the focus left to Radix, which
// gives it to nobody; a choice of a menu that is remembered in place of the button of the menu; nothing in place of what is gone; a drawer that
// takes for its own what was pressed in the form over it.

let world: World
let tab: Tab
let page: Page
beforeAll(async () => {
  world = await startWorld()
  tab = await world.alice({ width: 360, height: 740 })
  page = tab.page
})
afterAll(() => world?.close())

const focused = (): Promise<string> =>
  page.evaluate(() => {
    const { activeElement: one } = document
    return one === document.body ? 'nothing' : one?.id || one?.getAttribute('aria-label') || one?.textContent || ''
  })
const open = async (role: 'button' | 'link', name: string): Promise<void> => {
  await page.getByRole(role, { name, exact: true }).first().focus()
  await page.keyboard.press('Enter')
}
/** Also those that lie under another one. */
const layers = (): Promise<number> => page.locator('[role=dialog]').count()
const isInTop = (): Promise<boolean> =>
  page.evaluate(() => [...document.querySelectorAll('[role=dialog]')].at(-1)?.contains(document.activeElement) ?? false)
const closed = async (left: number): Promise<void> => {
  await expect.poll(isInTop).toBe(true)
  // What is pressed before a layer listens is lost, as it is to a user, who presses again.
  await expect
    .poll(async () => {
      if ((await layers()) > left) await page.keyboard.press('Escape')
      return layers()
    })
    .toBe(left)
}

it('gives the focus back to the button of a form that is left, also where a field of it took the focus at once', async () => {
  for (const [path, name] of [
    ['/vaults', 'New vault'],
    ['/projects', 'New project'],
  ] as const) {
    await visit(tab, path)
    await open('button', name)
    await page.getByRole('dialog').waitFor()
    await closed(0)
    await expect.poll(focused).toBe(name)
  }
})

it('gives it back one layer after the other: from a form to the drawer below it, and from that to the row', async () => {
  await visit(tab, `/vaults/${world.demo.prodId}`)
  const row = page.getByRole('table').getByRole('link').first()
  const name = (await row.textContent()) ?? ''
  await row.focus()
  await page.keyboard.press('Enter')
  await open('button', 'Archive')
  await expect.poll(layers).toBe(2)
  await closed(1)
  await expect.poll(focused).toBe('Archive')
  await closed(0)
  await expect.poll(focused).toBe(name)
})

it('keeps what lies below a form from a key that comes before the form listens', async () => {
  await visit(tab, `/vaults/${world.demo.prodId}`)
  await page.getByRole('table').getByRole('link').first().press('Enter')
  const archive = page.getByRole('button', { name: 'Archive', exact: true })
  await archive.waitFor()
  await archive.evaluate(
    (one) =>
      new Promise<void>((resolve) => {
        new MutationObserver((_, observer) => {
          const form = [...document.querySelectorAll('[role=dialog]')][1]
          if (!form) return
          observer.disconnect()
          form.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true }))
          resolve()
        }).observe(document.body, { childList: true, subtree: true })
        if (one instanceof HTMLElement) one.click()
      }),
  )
  expect(await layers()).toBe(2)
  await closed(1)
})

it('gives it back to the button of a menu, to what the search was called from, and to the page where that is gone', async () => {
  await visit(tab, `/vaults/${world.demo.prodId}/access`)
  const menu = page.locator('#page button[aria-haspopup=menu]').first()
  await menu.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem').first().press('Enter')
  await page.getByRole('dialog').waitFor()
  await closed(0)
  await expect.poll(() => menu.evaluate((one) => one === document.activeElement)).toBe(true)

  await visit(tab, '/vaults')
  await page.getByRole('button', { name: 'New vault' }).focus()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').waitFor()
  await closed(0)
  await expect.poll(focused).toBe('New vault')

  await open('button', 'New vault')
  await page.getByRole('dialog').waitFor()
  await page.getByRole('button', { name: 'New vault', includeHidden: true }).evaluate((one) => one.remove())
  await closed(0)
  await expect.poll(focused).toBe('page')
})
