import type { Page } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWorld, type Tab, visit, type World } from './world.ts'

// The pages of projects: what a project is made of, who is shown it, and how it ends. Seen red with: a slug that is not sent, an Undo
// that does nothing, an entry that is not revoked, a project that is not archived, vaults in the order of their ids.

let world: World
let tab: Tab
let page: Page
beforeAll(async () => {
  world = await startWorld()
  tab = await world.alice()
  page = tab.page
})
afterAll(() => world?.close())

const dialog = () => page.getByRole('dialog')

it('makes a project of vaults, signed here, and refuses a slug that is taken', async () => {
  const { strongroom, prodId } = world.demo
  await visit(tab, '/projects')
  await page.getByRole('button', { name: 'New project' }).click()
  await page.getByLabel('Name').fill('Warehouse')
  await page.getByLabel('Slug').fill('shop')
  await page.getByLabel('prod').check()
  await expect
    .poll(() => dialog().textContent())
    .toContain('strongroom project create Warehouse --slug shop --vault prod')
  await page.getByRole('button', { name: 'Sign and create' }).click()
  await dialog().getByRole('alert').getByText('slug_taken').waitFor()
  await page.getByLabel('Slug').fill('warehouse')
  await page.getByRole('button', { name: 'Sign and create' }).click()
  await page.getByRole('heading', { name: 'Warehouse' }).waitFor()
  expect(await strongroom.projects.get('warehouse')).toMatchObject({ isVerified: true, vaultIds: [prodId] })
  await page.getByRole('button', { name: 'Copy strongroom.toml' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('project = "warehouse"\n')
})

it('unlinks a vault and takes it back, and links others', async () => {
  const { strongroom } = world.demo
  await page.getByRole('button', { name: 'Unlink prod' }).click()
  await page.getByText('None yet').waitFor()
  expect((await strongroom.projects.get('warehouse')).vaultIds).toEqual([])
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('link', { name: 'prod' }).waitFor()
  await page.getByRole('button', { name: 'Link vaults' }).click()
  for (const name of ['staging', 'marketing site', 'mailer']) await page.getByLabel(name).check()
  await page.getByRole('button', { name: 'Sign and save' }).click()
  await page.getByRole('link', { name: 'staging' }).waitFor()
  const linked = page.getByRole('button', { name: /^Unlink / })
  const labels = await linked.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')))
  expect(labels).toEqual(['mailer', 'marketing site', 'prod', 'staging'].map((name) => `Unlink ${name}`))
  const vaultIds = (await strongroom.vaults.list()).map(({ vaultId }) => vaultId)
  expect((await strongroom.projects.get('warehouse')).vaultIds).toEqual(vaultIds.sort())
})

it('shows it to an agent and takes it back, and ends it only by its name', async () => {
  const { strongroom } = world.demo
  await page.getByRole('button', { name: 'Share' }).click()
  await page.getByLabel('With').selectOption({ label: 'checkout-bot' })
  await page.getByRole('button', { name: 'Sign and save' }).click()
  const row = page.getByRole('row', { name: /^checkout-bot read/ })
  await row.waitFor()
  expect(await strongroom.permissions.list({ project: 'warehouse' })).toHaveLength(2)
  await page.getByRole('button', { name: 'Change checkout-bot' }).click()
  await page.getByRole('menuitem', { name: 'Revoke' }).click()
  await page.getByRole('button', { name: 'Revoke', exact: true }).click()
  await dialog().waitFor({ state: 'detached' })
  await row.waitFor({ state: 'detached' })
  expect(await strongroom.permissions.list({ project: 'warehouse' })).toHaveLength(1)

  await page.getByRole('button', { name: 'Archive' }).click()
  const archive = dialog().getByRole('button', { name: 'Archive' })
  await dialog().getByText('This cannot be undone.').waitFor()
  await expect.poll(() => archive.isDisabled()).toBe(true)
  await page.getByLabel('Type Warehouse to go on').fill('Warehouse')
  await archive.click()
  await page.getByRole('row', { name: /Warehouse.*archived/ }).waitFor()
  expect(tab.problems).toEqual([])
})
