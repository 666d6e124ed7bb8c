import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Route } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { signIn, startWorld, visit, type World } from './world.ts'

// Which console this is: the list of its files, the same for whoever builds the same sources, shown in the page and held against what
// the server serves, and against the build that the log names. Seen red: a build with the time in it, one that depends on
// NODE_ENV, a list that leaves a file out, a page that takes another build for its own, or for the one that the log names; a tab that is
// loaded anew, without its keys, because one page did not come, and an empty one after a sign-in whose page did not; a search that stays away;
// an empty page until the script is there, and a sign-in that says nothing while it works.

const BUILT = join(import.meta.dirname, '../../../.setup/console')
const BUILDER = join(import.meta.dirname, '../scripts/build.ts')
const CLI = join(import.meta.dirname, '../../cli/bin/strongroom.mjs')

interface Manifest {
  readonly build: string
  readonly files: Readonly<Record<string, string>>
}
const manifestIn = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'build.json'), 'utf8'))

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.close())

it('builds the same files from the same sources, and lists every one of them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sr-again-'))
  try {
    // As somebody else has it: another program, with nothing set that this one has.
    await promisify(execFile)(process.execPath, [BUILDER, folder], { env: { PATH: process.env.PATH } })
    const again = manifestIn(folder)
    expect(again).toEqual(manifestIn(BUILT))
    const served = globSync('**/*.*', { cwd: folder }).filter((path) => !/^(build\.json|built-from\.txt)$/.test(path))
    expect(Object.keys(again.files)).toEqual(served.sort())
    for (const [path, hash] of Object.entries(again.files))
      expect(
        `sha384-${createHash('sha384')
          .update(readFileSync(join(folder, path)))
          .digest('base64')}`,
      ).toBe(hash)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

it('shows its build under Settings, and the command line finds the same at the server', async () => {
  const { build } = manifestIn(BUILT)
  const tab = await world.alice()
  await visit(tab, '/settings')
  await tab.page.getByTitle(build).waitFor()
  await tab.page.getByText(`strongroom verify-console ${world.server.url}`, { exact: true }).waitFor()
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, 'verify-console', world.server.url, '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ data: { matches: true, build, claimed: build } })
  expect(tab.problems).toEqual([])
  await tab.done()
})

it('says whether the log names this build, another one or none, and what to run', async () => {
  const { build } = manifestIn(BUILT)
  const { transparency } = world.demo.strongroom
  const tab = await world.alice()
  const { page } = tab
  const about = page.getByRole('region', { name: 'About' })
  const command = (flag: string) => about.getByText(`strongroom verify-console ${world.server.url} ${flag}`)
  const reread = async (): Promise<void> => {
    await visit(tab, '/')
    await visit(tab, '/settings')
  }
  await visit(tab, '/settings')
  await about.getByText('The log names no console').waitFor()
  await command('--record').waitFor()
  const other = await transparency.recordConsole('b6'.repeat(32))
  await reread()
  const warning = about.getByRole('status').filter({ hasText: `Entry ${other.entry} of the log names another build` })
  await warning.waitFor()
  await about.getByTitle('b6'.repeat(32)).waitFor()
  await command('--record').waitFor()
  const { entry } = await transparency.recordConsole(build)
  await reread()
  await about.getByText(`Entry ${entry} of the log names this build.`).waitFor()
  await command('--log').waitFor()
  expect(await about.getByRole('status').count()).toBe(0)
  await about.getByRole('link', { name: `Entry ${entry} of the log` }).click()
  await page.getByRole('dialog').getByText('policy changed').waitFor()
  expect(tab.problems).toEqual([])
  await tab.done()
})

it('says so when the page is of another build than the server lists', async () => {
  const { files } = manifestIn(BUILT)
  // One that has not looked at the list yet.
  const tab = await world.stranger()
  await tab.open('/')
  await signIn(tab, world.server.founder)
  const newer = {
    ...files,
    [Object.keys(files).find((path) => path.endsWith('.js')) ?? '']: `sha384-${'A'.repeat(64)}`,
  }
  await tab.page.route('**/build.json', (route) => route.fulfill({ json: { build: 'x', files: newer } }))
  await visit(tab, '/settings')
  await tab.page.getByText('The scripts of this page are not those').waitFor()
  await tab.context.close()
})

it('keeps the tab and its keys where a page does not come, and shows it when it is asked for again', async () => {
  const tab = await world.stranger()
  const { page } = tab
  await tab.open('/vaults')
  await page.route('**/assets/signed-in*', (route) => route.abort())
  const signedIn = signIn(tab, world.server.founder)
  await page.getByText('A part of the console could not be loaded').waitFor()
  await page.unroute('**/assets/signed-in*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await signedIn
  await visit(tab, '/vaults')
  await page.evaluate(() => document.body.setAttribute('data-same', 'yes'))
  await page.route('**/assets/**', (route) => route.abort())
  await page.getByRole('link', { name: 'Transparency' }).first().click()
  const note = page.getByRole('alert').filter({ hasText: 'a part of the console could not be loaded' })
  await note.waitFor()
  await page.unroute('**/assets/**')
  await note.getByRole('button', { name: 'Try again' }).click()
  await page.locator('[data-shown="/transparency"]').waitFor()
  await page.route('**/assets/**', (route) => route.abort())
  await page.keyboard.press('Control+k')
  await page.getByText('could not be loaded. Try again in a moment.', { exact: false }).first().waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.unroute('**/assets/**')
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').waitFor()
  expect(await page.locator('body[data-same=yes]').count()).toBe(1)
  await tab.context.close()
})

it('says that it loads before its script is there, and that a sign-in takes a while', async () => {
  const tab = await world.stranger()
  const { page } = tab
  const held: Route[] = []
  const hold = (route: Route): void => void held.push(route)
  const letGo = async (): Promise<void> => {
    for (const route of held.splice(0)) await route.continue()
  }
  await page.route(/\.js$/, hold, { times: 1 })
  await page.goto(`${world.server.url}/settings`, { waitUntil: 'commit' })
  await page.getByText('Loading the console…').waitFor()
  await letGo()
  await page.getByLabel('Email').waitFor()
  expect(await page.getByText('Loading the console…').count()).toBe(0)
  await tab.context.route('**/login/start', hold)
  const signedIn = signIn(tab, world.server.founder)
  await page.getByRole('status').getByText('Your passphrase is stretched in this browser').waitFor()
  await expect.poll(() => held.length).toBe(1)
  await letGo()
  await signedIn
  await tab.context.close()
})
