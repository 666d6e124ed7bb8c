import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addressesOf } from './addresses.ts'
import { startWorld, type Tab, visit, type World } from './world.ts'

// Every page, in both themes and three widths: nothing that shuts people out (axe, WCAG 2.2 A and AA), nothing that the policy of the page refuses, no
// error of a script, no page that must be scrolled sideways on a narrow screen, and nothing that has the focus and is not seen.
// Seen red: links in a sentence that only their colour shows, a narrow rail whose signs have no name, a bar and a word that are wider
// than the screen, headers of tables that sort and are hidden on a narrow screen.

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const ALL_RULES = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }
/** A theme changes colours and nothing else; `npm run test:console` asks everything of both. */
const OF_COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] }
const RULES = { light: ALL_RULES, dark: process.env.WHOLE_CONSOLE === undefined ? OF_COLOURS : ALL_RULES }

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.close())

declare global {
  var axe: { run(context: Document, options: object): Promise<AxeResults> }
}

async function violations({ page }: Tab, runOnly: typeof ALL_RULES): Promise<string[]> {
  const isThere = await page.evaluate(() => 'axe' in globalThis)
  if (!isThere) await page.evaluate(AXE)
  const { violations: found } = await page.evaluate(
    (only) => globalThis.axe.run(document, { runOnly: only, resultTypes: ['violations'] }),
    runOnly,
  )
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
}

/** What a keyboard stops at and a person does not see: hidden, cut off, or under something else. */
const unseenStops = ({ page }: Tab): Promise<string[]> =>
  page.evaluate(() => {
    const stops = document.querySelectorAll<HTMLElement>(
      'a[href], button, input, select, textarea, summary, [tabindex]',
    )
    const unseen: string[] = []
    for (const stop of stops) {
      stop.focus()
      if (stop.tabIndex < 0 || document.activeElement !== stop) continue
      // Of a link that goes over several lines, the first.
      const [{ x, y, width, height } = new DOMRect()] = stop.getClientRects()
      // What is larger than its place is scrolled to where one types: the middle of the part on the screen counts.
      const across = (Math.max(x, 0) + Math.min(x + width, innerWidth)) / 2
      const down = (Math.max(y, 0) + Math.min(y + height, innerHeight)) / 2
      const there = document.elementFromPoint(across, down)
      const isSeen = there !== null && (stop.contains(there) || there.closest('label')?.control === stop)
      if (!isSeen) unseen.push(`${stop.tagName} ${stop.textContent || stop.ariaLabel || stop.id}`.slice(0, 60))
    }
    return unseen
  })

/** Once drawn: what a page does of itself when its width or its theme is another. */
const drawn = ({ page }: Tab): Promise<unknown> =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))

/** One page after the other, each in every form: to come to a page takes longer than to look at it. */
const LOOKS: Readonly<Record<string, (tab: Tab) => Promise<string[]>>> = {
  'shuts nobody out': (tab) => violations(tab, RULES.light),
  'shuts nobody out in the dark': async (tab) => {
    await tab.page.emulateMedia({ colorScheme: 'dark' })
    await drawn(tab)
    const found = await violations(tab, RULES.dark)
    await tab.page.emulateMedia({ colorScheme: 'light' })
    return found
  },
  'shows whatever has the focus': unseenStops,
  'shows whatever has the focus, 360 pixels wide': async (tab) => {
    await tab.page.setViewportSize({ width: 360, height: 740 })
    await drawn(tab)
    return unseenStops(tab)
  },
  'fits on a screen of 320 pixels': async (tab) => {
    await tab.page.setViewportSize({ width: 320, height: 640 })
    await drawn(tab)
    const width = await tab.page.evaluate(() => document.documentElement.scrollWidth)
    return width > 320 ? [`it is ${width} wide`] : []
  },
}

async function look(tab: Tab, place: string, looks: readonly string[] = Object.keys(LOOKS)): Promise<string[]> {
  const found: string[] = []
  for (const name of looks) found.push(...((await LOOKS[name]?.(tab)) ?? []).map((what) => `${place} ${name}: ${what}`))
  return found
}

it('shuts nobody out of any page, hides nothing that has the focus, fits a narrow screen, and the browser refuses nothing', async () => {
  const tab = await world.alice({ width: 1280, height: 740 })
  const found: string[] = []
  for (const { name, path } of addressesOf(world.demo)) {
    await tab.page.setViewportSize({ width: 1280, height: 740 })
    await visit(tab, path)
    found.push(...(await look(tab, name)))
  }
  await tab.page.setViewportSize({ width: 1280, height: 740 })
  await tab.page.getByRole('button', { name: 'Show only the signs of the places' }).click()
  found.push(...(await look(tab, 'a narrow rail', ['shuts nobody out', 'shuts nobody out in the dark'])))
  expect(found).toEqual([])
  expect(tab.problems).toEqual([])
  await tab.context.close()
}, 300_000)
