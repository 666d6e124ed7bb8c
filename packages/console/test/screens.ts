import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildConsole } from '../scripts/build.ts'
import { addressesOf } from './addresses.ts'
import { startWorld, type Tab, visit } from './world.ts'

// Pictures of every page in both themes and at both widths: `npm run screens -- [--only vaults] [--out folder] [--theme dark] [--width 390]`.
// To be looked at, one by one.

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    out: { type: 'string', default: 'screens' },
    theme: { type: 'string', multiple: true, default: ['light', 'dark'] },
    width: { type: 'string', multiple: true, default: ['1440', '390'] },
  },
})
const out = resolve(values.out)
mkdirSync(out, { recursive: true })

async function take(tab: Tab, name: string, kind: string): Promise<void> {
  await tab.page.evaluate(() => document.fonts.ready)
  await tab.page.waitForTimeout(400)
  await tab.page.screenshot({ path: join(out, `${name}-${kind}.png`) })
}

await buildConsole(join(import.meta.dirname, '../../../.setup/console'))
const world = await startWorld()
try {
  const pages = addressesOf(world.demo).filter(
    ({ name }) => values.only === undefined || values.only.split(',').some((part) => name.includes(part)),
  )
  for (const theme of values.theme as ('light' | 'dark')[])
    for (const width of values.width.map(Number)) {
      const tab = await world.alice({ theme, width, height: width < 640 ? 844 : 900 })
      for (const { name, path } of pages) {
        await visit(tab, path)
        await take(tab, name, `${theme}-${width}`)
      }
      for (const problem of tab.problems) console.log(`problem: ${problem}`)
      await tab.context.close()
    }
  console.log(`${pages.length} pages in ${out}`)
} finally {
  await world.close()
}
