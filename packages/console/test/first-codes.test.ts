import { type Browser, chromium } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CHROMIUM_FLAGS, findChromium } from '../../../scripts/chromium.mjs'
import { type NewServer, startNewServer } from '../../sdk/test/engine/server.ts'
import { makeOrganisation, newTab, PASSPHRASE, unlock } from './world.ts'

// The codes of whoever sets a server up. Catches: a browser that cannot keep anything, or an answer that is lost, after which the organisation is
// there and the only codes to it were never shown. Seen red: the page told of a full disk, or that the server was not reached, and nobody could
// enter that server any more.

let server: NewServer
let browser: Browser
beforeAll(async () => {
  server = await startNewServer()
  browser = await chromium.launch({ executablePath: findChromium() as string, args: CHROMIUM_FLAGS })
})
afterAll(async () => {
  await browser?.close()
  await server?.close()
})

it('are shown although the answer was lost and the browser keeps nothing, and open the organisation', async () => {
  const tab = await newTab(browser, server.url, {})
  const { page } = tab
  await page.addInitScript(() => {
    IDBObjectStore.prototype.put = () => {
      throw new DOMException('the disk is full', 'QuotaExceededError')
    }
  })
  await page.route('**/setup/finish', async (route) => {
    await route.fetch()
    await route.abort()
  })
  await makeOrganisation(tab, server.setupToken)
  await page.getByRole('heading', { name: 'Your recovery kit' }).waitFor()
  const [deviceSecret] = /SRD1-[0-9A-Z-]+/.exec(await page.getByRole('main').innerText()) ?? []

  // Elsewhere, with what was shown.
  const other = await newTab(browser, server.url, {})
  await other.open('/')
  await other.page.getByLabel('Email').fill('ada@northwind.example')
  await other.page.getByLabel('Device secret').fill(String(deviceSecret))
  await other.page.getByLabel('Passphrase').fill(PASSPHRASE)
  await other.page.route('**/api/**', (route) => route.abort())
  await other.page.getByRole('button', { name: 'Sign in' }).click()
  await other.page.getByText('no answer came from the server').waitFor()
  await other.page.unrouteAll({ behavior: 'wait' })
  await unlock(other)
  expect(other.problems).toEqual([])
})
