import { afterAll, beforeAll, expect, it } from 'vitest'
import { signIn, startWorld, type Tab, unlock, visit, type World } from './world.ts'

// What is left when nobody is there: nothing. Catches a value that stays in the page, in a storage of the browser, in its history or in
// an answer that is kept; a lock that only covers the page; a person who is signed in after a reload without their passphrase.
// Tabs share what is open through a worker: catches a tab that asks for the passphrase although another is open, a lock that leaves one
// open, keys for a tab of somebody else, and keys that outlive the last tab.
// Seen red: no lock while nobody is there, a device secret and a private key that are stored as they are, a keeper that gives to whoever
// asks, one that keeps what no tab holds, a lock and a sign-out that the other tabs do not hear, a tab that is idle by itself.

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

/** Another tab of the same browser. */
async function anotherTab({ context, problems }: Tab): Promise<Tab> {
  const page = await context.newPage()
  page.on('pageerror', (error) => problems.push(String(error)))
  const open = async (path: string): Promise<void> => {
    await page.goto(`${world.server.url}${path}`)
  }
  await open('/')
  return { page, context, problems, open, done: () => page.close() }
}

/** Whom this browser remembers, in the manner of the console itself. */
const remember = ({ page }: Tab, person: { readonly email: string; readonly trustAnchor: string }): Promise<void> =>
  page.evaluate(async (device) => {
    const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
    const iv = crypto.getRandomValues(new Uint8Array(12))
    const sealed = await crypto.subtle.encrypt(
      { name: 'AES-GCM', iv },
      key,
      new TextEncoder().encode(JSON.stringify({ ...device, deviceSecret: 'SRD1-', lastKdf: '' })),
    )
    await new Promise<void>((resolve, reject) => {
      const opening = indexedDB.open('strongroom-console')
      opening.onerror = () => reject(opening.error)
      opening.onsuccess = () => {
        const transaction = opening.result.transaction('device', 'readwrite')
        transaction.objectStore('device').put({ key, iv, sealed }, 'me')
        transaction.oncomplete = () => {
          opening.result.close()
          resolve()
        }
      }
    })
  }, person)

const isOpen = ({ page }: Tab): Promise<void> => page.locator('nav[aria-label=Places]').waitFor({ state: 'attached' })
const asksForPassphrase = ({ page }: Tab): Promise<void> => page.getByLabel('Passphrase').waitFor()

it('opens a second tab with the keys of the first, and locks, unlocks and signs out of both at once', async () => {
  const first = await world.alice()
  const second = await anotherTab(first)
  await isOpen(second)
  await revealDatabaseUrl(second)
  await second.page.keyboard.press('Escape')
  expect(await remains(second)).not.toContain('PRIVATE KEY')

  await first.page.getByRole('button', { name: 'Lock now' }).click()
  await second.page.getByText('Locked. Your keys are gone').waitFor()
  const left = await remains(second)
  for (const secret of [VALUE, 'PRIVATE KEY', world.server.founder.codes.deviceSecret])
    expect(left).not.toContain(secret)
  await asksForPassphrase(await anotherTab(first))

  await unlock(second)
  await isOpen(first)
  // With another tab open, a reload is no end.
  await first.page.reload()
  await isOpen(first)
  await first.page.getByRole('button', { name: world.server.founder.email }).click()
  await first.page.getByRole('menuitem', { name: 'Sign out' }).click()
  await second.page.getByText('Your session has ended.').waitFor()
  expect(first.problems).toEqual([])
  await first.context.close()
})

it('forgets the keys with the last tab that has them', async () => {
  const first = await world.alice()
  const second = await anotherTab(first)
  await isOpen(second)
  // The browser itself goes on.
  await first.context.newPage()
  await first.page.close()
  const third = await anotherTab(first)
  await isOpen(third)
  await second.page.close()
  await third.page.close()
  await asksForPassphrase(await anotherTab(first))
  await first.context.close()
})

it('gives nothing to a tab of somebody else', async () => {
  const first = await world.alice()
  await remember(first, { email: 'bob@northwind.example', trustAnchor: 'vta1.of-another-organisation' })
  const second = await anotherTab(first)
  await second.page.getByText('bob@northwind.example').waitFor()
  await asksForPassphrase(second)
  const { email } = world.server.founder
  await remember(first, { email, trustAnchor: 'vta1.of-another-organisation' })
  await second.page.reload()
  await second.page.getByText(email).waitFor()
  await asksForPassphrase(second)
  // What happens to it is none of their business either.
  await first.page.getByRole('button', { name: email }).click()
  await first.page.getByRole('menuitem', { name: 'Sign out' }).click()
  await asksForPassphrase(first)
  expect(await second.page.getByText('Your session has ended.').count()).toBe(0)
  await first.context.close()
})

it('locks no tab while somebody is at another, and then all of them', async () => {
  const first = await world.stranger()
  await first.page.clock.install()
  await first.open('/')
  await signIn(first, world.server.founder)
  const second = await anotherTab(first)
  await isOpen(second)
  await first.page.clock.fastForward('09:00')
  await second.page.mouse.move(10, 10)
  await second.page.mouse.move(20, 20)
  await first.page.clock.fastForward('09:00')
  await expect.poll(() => first.page.locator('nav[aria-label=Places]').count()).toBe(1)
  await first.page.clock.fastForward('02:00')
  for (const { page } of [first, second]) await page.getByText('Nobody was here for a while').waitFor()
  await first.context.close()
})
