import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressesOf } from './addresses.ts'
import { startWorld, type Tab, visit, type World } from './world.ts'

// Every page, in both themes: nothing that shuts people out (axe, WCAG 2.2 A and AA), nothing that the policy of the page refuses, no
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

describe.each(['light', 'dark'] as const)('%s', (theme) => {
  it('shuts nobody out of any page, and the browser refuses nothing', async () => {
    const tab = await world.alice({ theme })
    const found: Record<string, string[]> = {}
    for (const { name, path } of addressesOf(world.demo)) {
      await visit(tab, path)
      const here = await violations(tab, RULES[theme])
      if (here.length > 0) found[name] = here
    }
    await tab.page.getByRole('button', { name: 'Show only the signs of the places' }).click()
    const narrow = await violations(tab, RULES[theme])
    if (narrow.length > 0) found['a narrow rail'] = narrow
    expect(found).toEqual({})
    expect(tab.problems).toEqual([])
    await tab.context.close()
  }, 300_000)
})

it('fits every page on a screen of 320 pixels', async () => {
  const tab = await world.alice({ width: 320, height: 640 })
  const wide: string[] = []
  for (const { name, path } of addressesOf(world.demo)) {
    await visit(tab, path)
    const width = await tab.page.evaluate(() => document.documentElement.scrollWidth)
    if (width > 320) wide.push(`${name}: ${width}`)
  }
  expect(wide).toEqual([])
  await tab.context.close()
}, 300_000)

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

it.each([360, 1280])(
  'shows whatever has the focus, %i pixels wide',
  async (width) => {
    const tab = await world.alice({ width, height: 740 })
    const unseen: Record<string, string[]> = {}
    for (const { name, path } of addressesOf(world.demo)) {
      await visit(tab, path)
      const here = await unseenStops(tab)
      if (here.length > 0) unseen[name] = here
    }
    expect(unseen).toEqual({})
    await tab.context.close()
  },
  300_000,
)
