import { readFile } from 'node:fs/promises'
import { formatBundle, memoryTrust, parseBundle, Strongroom } from '@strongroom/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type KeyName, keysOf } from '../../sdk/test/engine/server.ts'
import { startWorld, type Tab, visit, type World } from './world.ts'

// API keys of several agents at once. Catches a key that is made and then lost, an agent that is left out without a word.
// Seen red: rotations that stop at the first refusal, a dialog that closes over keys that nobody has, a bundle with the old key in it.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.close())

const button = ({ page }: Tab, name: string) => page.getByRole('button', { name, exact: true })

it('gives several agents new API keys in one go, goes on past a refusal, and lets nobody leave without the keys', async () => {
  const { strongroom, stagingId } = world.demo
  const make = (name: string, keys: KeyName) =>
    strongroom.agents.create({
      name,
      keys: { material: keysOf(keys) },
      vaults: [{ vault: stagingId, role: 'read' }],
    })
  const [one, two] = [await make('many-1', 'worker'), await make('many-2', 'carol')]
  const reads = async (bundle: string): Promise<readonly string[]> =>
    (await new Strongroom({ bundle, trustStore: memoryTrust(), cache: false }).secrets.env({ vault: stagingId })).names
  expect(await reads(one.bundle.reveal())).toContain('DATABASE_URL')
  const tab = await world.alice()
  const { page } = tab
  await visit(tab, '/agents')
  for (const name of ['many-1', 'many-2']) await page.getByLabel(`Select ${name}`, { exact: true }).check()
  await button(tab, 'Rotate API keys').click()
  const dialog = page.getByRole('dialog', { name: 'New API keys for 2 agents' })
  const bundleFile = (name: string, text: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })
  await dialog
    .getByLabel('Their bundles, if you have them')
    .setInputFiles([bundleFile('many-1.bundle', `${one.bundle.reveal()}\n`), bundleFile('notes.txt', 'no bundle')])
  await dialog.getByText('Found: many-1', { exact: true }).waitFor()
  await dialog.getByText('No bundle of an agent that is chosen here: notes.txt').waitFor()
  await dialog.getByText('strongroom agent rotate-key many-1 --yes; strongroom agent rotate-key many-2 --yes').waitFor()

  const path = `**/api/v1/**/${one.agent.agentId}/**`
  await page.route(path, (route) =>
    route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'no' } } }),
  )
  await button(tab, 'Rotate').click()
  await dialog.getByRole('listitem').filter({ hasText: 'many-1' }).getByText('failed').waitFor()
  await dialog.getByRole('listitem').filter({ hasText: 'many-2' }).getByText('done').waitFor()
  await dialog.getByText('1 new key is in this page only').waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => dialog.getByRole('button', { name: 'Close' }).last().isDisabled()).toBe(true)
  await page.unroute(path)
  await button(tab, 'Try the rest again').click()
  await dialog.getByText('2 new keys are in this page only').waitFor()
  const [file] = await Promise.all([page.waitForEvent('download'), button(tab, 'Download the new keys').click()])
  const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n')
  const given = lines.map((line) => JSON.parse(line) as { agent: string; apiKey: string; bundle?: string })
  expect(given.map(({ agent }) => agent)).toEqual(['many-1', 'many-2'])
  const [first, second] = given
  await expect(reads(one.bundle.reveal())).rejects.toMatchObject({ status: 401 })
  expect(await reads(first?.bundle ?? '')).toContain('DATABASE_URL')
  expect(second?.bundle).toBeUndefined()
  expect(await reads(formatBundle({ ...parseBundle(two.bundle.reveal()), apiKey: second?.apiKey ?? '' }))).toContain(
    'DATABASE_URL',
  )
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await dialog.waitFor({ state: 'detached' })
  expect(tab.problems).toEqual([])
  await tab.context.close()
})
