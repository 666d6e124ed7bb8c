import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWorld, type Tab, unlock, visit, type World } from './world.ts'

// What is left when nobody is there: nothing. Catches a value that stays in the page, in a storage of the browser, in its history or in
// an answer that is kept; a lock that only covers the page; a person who is signed in after a reload without their passphrase.
// Seen red: no lock while nobody is there, a device secret and a private key that are stored as they are.

const VALUE = 'postgres://shop:s3cret@db/shop'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.close())

/** Everything a later user of this browser could find: the page, its storages, its history. */
async function remains({ page }: Tab): Promise<string> {
  return page.evaluate(async () => {
    const stores: unknown[] = []
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await new Promise<IDBDatabase>((resolve, reject) => {
        const request = indexedDB.open(name)
        request.onsuccess = () => resolve(request.result)
        request.onerror = () => reject(request.error)
      })
      for (const store of database.objectStoreNames)
        stores.push(
          await new Promise((resolve) => {
            const request = database.transaction(store).objectStore(store).getAll()
            request.onsuccess = () => resolve(request.result)
          }),
        )
      database.close()
    }
    const values = [...document.querySelectorAll('input, textarea')].map((one) => (one as HTMLInputElement).value)
    return JSON.stringify([
      document.documentElement.outerHTML,
      values,
      { ...localStorage },
      { ...sessionStorage },
      history.state,
      location.href,
      stores,
    ])
  })
}

async function revealDatabaseUrl(tab: Tab): Promise<void> {
  await visit(tab, `/vaults/${world.demo.prodId}`)
  await tab.page.getByRole('link', { name: 'database' }).click()
  const reveal = tab.page.getByRole('button', { name: /Reveal DATABASE_URL/ })
  await reveal.focus()
  await tab.page.keyboard.press('Enter')
  await tab.page.keyboard.press('Enter')
  await tab.page.getByText(VALUE).waitFor()
}

it('keeps no value and no key after a lock, and asks for the passphrase again', async () => {
  const tab = await world.alice()
  await revealDatabaseUrl(tab)
  await tab.page.keyboard.press('Escape')
  await tab.page.getByRole('button', { name: 'Lock now' }).click()
  await tab.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  const left = await remains(tab)
  for (const secret of [VALUE, 'PRIVATE KEY', world.server.founder.codes.deviceSecret])
    expect(left).not.toContain(secret)
  await unlock(tab)
  expect(await remains(tab)).not.toContain(VALUE)
  expect(tab.problems).toEqual([])
  await tab.context.close()
})

it('locks by itself when nobody is there, however long the machine slept', async () => {
  const tab = await world.stranger()
  await tab.page.clock.install()
  await tab.open('/')
  await tab.page.getByLabel('Email').fill(world.server.founder.email)
  await tab.page.getByLabel('Device secret').fill(world.server.founder.codes.deviceSecret)
  await unlock(tab)
  await tab.page.clock.fastForward('09:00')
  await tab.page.mouse.move(10, 10)
  await tab.page.clock.fastForward('09:00')
  await expect.poll(() => tab.page.locator('nav[aria-label=Places]').count()).toBe(1)
  await tab.page.clock.fastForward('02:00')
  await tab.page.getByText('Nobody was here for a while').waitFor()
  await tab.context.close()
})

it('is signed out by a reload, and knows the device but not the person’s keys', async () => {
  const tab = await world.alice()
  await tab.page.reload()
  await tab.page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await tab.page.getByLabel('Device secret').count()).toBe(0)
  expect(await remains(tab)).not.toContain('PRIVATE KEY')
  await tab.context.close()
})
