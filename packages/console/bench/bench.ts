import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Strongroom } from '@strongroom/sdk'
import { chromium, type Page } from 'playwright'
import { CHROMIUM_FLAGS, findChromium } from '../../../scripts/chromium.mjs'
import { startServer } from '../../sdk/test/engine/server.ts'
import { buildConsole } from '../scripts/build.ts'
import { newTab, signIn, visit } from '../test/world.ts'

// What a person waits for: the scripts of the first visit, the list of a vault of 20,000 items from the click to its first row, and
// scrolling through it. Prints what it measured; these machines are noisy, so nothing here is a limit but the size.

const ITEMS = Number(process.argv[2] ?? 20_000)
const LIMIT = 230_000
const CONSOLE = join(import.meta.dirname, '../../../.setup/console')

/** The scripts that the page names: loaded before anybody has done anything. */
function initialScripts(): number {
  const page = readFileSync(join(CONSOLE, 'index.html'), 'utf8')
  const names = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(([, name]) => name ?? '')
  return names.reduce((sum, name) => sum + gzipSync(readFileSync(join(CONSOLE, name)), { level: 9 }).length, 0)
}

async function fill(strongroom: Strongroom): Promise<string> {
  const { vaultId } = await strongroom.vaults.create({ name: 'large' })
  const items = Array.from({ length: ITEMS }, (_, i) => ({
    name: `service ${String(i).padStart(5, '0')}`,
    fields: [{ label: `KEY_${i}`, value: 'x', isEnvironmentVariable: true }],
  }))
  await strongroom.items.import(vaultId, items)
  return vaultId
}

/** Scrolls to the end in steps of a screen, and says how long the frames were. */
const scroll = (page: Page) =>
  page.evaluate(async () => {
    const frames: number[] = []
    let last = performance.now()
    const next = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve))
    for (let i = 0; i < 240; i += 1) {
      window.scrollBy(0, innerHeight / 2)
      const now = await next()
      frames.push(now - last)
      last = now
    }
    frames.sort((a, b) => a - b)
    const at = (part: number): number => Math.round(frames[Math.floor((frames.length - 1) * part)] ?? 0)
    return { medianFrameMs: at(0.5), p95FrameMs: at(0.95), rowsInPage: document.querySelectorAll('tbody tr').length }
  })

await buildConsole(CONSOLE)
const initialBytes = initialScripts()
const server = await startServer()
const browser = await chromium.launch({ executablePath: findChromium() as string, args: CHROMIUM_FLAGS })
try {
  const { accessToken, trustAnchor } = server.founder
  const privateKey = server.founder.exportPem().reveal()
  const vaultId = await fill(new Strongroom({ server: server.url, accessToken, privateKey, trustAnchor, cache: false }))
  const tab = await newTab(browser, server.url, {})
  await tab.open('/')
  await signIn(tab, server.founder)
  const signedInBytes = await tab.page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.endsWith('.js') && !name.includes('worker'))
      .reduce((sum, entry) => sum + (entry as PerformanceResourceTiming).encodedBodySize, 0),
  )
  const started = performance.now()
  await visit(tab, `/vaults/${vaultId}`)
  await tab.page.getByRole('link', { name: 'service 00000' }).waitFor({ timeout: 300_000 })
  const listedMs = Math.round(performance.now() - started)
  const again = performance.now()
  await visit(tab, '/vaults')
  await visit(tab, `/vaults/${vaultId}`)
  await tab.page.getByRole('link', { name: 'service 00000' }).waitFor()
  const shownAgainMs = Math.round(performance.now() - again)
  console.log(
    JSON.stringify({
      console: {
        items: ITEMS,
        initialBytes,
        signedInBytes,
        limit: LIMIT,
        listedMs,
        shownAgainMs,
        ...(await scroll(tab.page)),
      },
    }),
  )
} finally {
  await browser.close()
  await server.close()
}
if (initialBytes > LIMIT) process.exit(1)
