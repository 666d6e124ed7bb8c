import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWorld, type Tab, visit, type World } from './world.ts'

// People and groups in the console: invited by a link that travels another way, signed for after comparing words, given roles, removed.
// Seen red: an endorsement without comparing, a removal without the typed address, roles of a group that are not saved, a tenant
// that is archived at a press, or not at all; somebody who waits to be confirmed told that the passphrase is wrong, without the words that
// whoever confirms asks for; a key that may sign more without anybody having compared it.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.close())

const button = ({ page }: Tab, name: string | RegExp) => page.getByRole('button', { name, exact: true })
const PASSPHRASE = 'a long passphrase of dora'

it('invites somebody, compares the words of their key, signs, and they come in', async () => {
  const tab = await world.alice()
  const { page } = tab
  await visit(tab, '/people')
  await button(tab, 'Invite').click()
  await page.getByLabel('Email').fill('dora@northwind.example')
  await page.getByLabel('Name', { exact: true }).fill('Dora Vey')
  await button(tab, 'Make the link').click()
  const link = await page.getByText(/\/join#vin1\./).textContent()
  await button(tab, 'I have it').click()

  const dora = await world.stranger()
  await dora.page.goto(String(link))
  await dora.page.getByLabel('Passphrase', { exact: true }).fill(PASSPHRASE)
  await dora.page.getByLabel('Passphrase again').fill(PASSPHRASE)
  await button(dora, 'Make my keys and join').click()
  await dora.page.getByRole('checkbox', { name: 'I stored it another way' }).check({ timeout: 60_000 })
  await button(dora, 'Go on').click()
  const words = String(await dora.page.getByRole('main').getByRole('strong').textContent())
  await dora.page.getByRole('link', { name: 'Sign in' }).click()
  await dora.page.getByLabel('Passphrase').fill(PASSPHRASE)
  await button(dora, 'Sign in').click()
  await dora.page.getByRole('alert').getByText('not_confirmed').waitFor()
  await dora.page.getByRole('alert').getByText(`over the phone: ${words}.`).waitFor()

  await visit(tab, '/people/invites')
  await button(tab, 'Compare and sign for dora@northwind.example').click()
  await page.getByRole('dialog').getByText(words).waitFor()
  await expect.poll(() => button(tab, 'Sign').isDisabled()).toBe(true)
  await page.getByRole('checkbox', { name: /reads the same words to me/ }).check()
  await button(tab, 'Sign').click()
  await page.getByText('dora@northwind.example is one of you').first().waitFor()

  await button(dora, 'Sign in').click()
  await dora.page.locator('nav[aria-label=Places]').waitFor({ state: 'attached' })
  await visit(dora, '/people')
  await dora.page.getByText('You cannot see the people of the organisation').waitFor()
  expect([...tab.problems, ...dora.problems]).toEqual([])
  await dora.context.close()
  await tab.done()
})

it('lets a key sign more after comparing it, keeps the last who runs the directory, and takes it back', async () => {
  const tab = await world.alice()
  const { page } = tab
  const open = async (name: string) => {
    await button(tab, `Change ${name}`).click()
    await page.getByRole('menuitem', { name: 'What they may sign' }).click()
    await page.getByRole('dialog').getByText('what everybody else accepts').waitFor()
  }
  const runs = page.getByRole('checkbox', { name: /May run the directory/ })
  await visit(tab, '/people')
  await open('Alice')
  expect(await runs.isChecked()).toBe(true)
  await expect.poll(() => button(tab, 'Sign').isDisabled()).toBe(true)
  await runs.uncheck()
  await button(tab, 'Sign').click()
  await page.getByRole('alert').getByText('quorum_unreachable').waitFor()
  await button(tab, 'Cancel').click()

  await open('Dora Vey')
  await runs.check()
  await expect.poll(() => button(tab, 'Sign').isDisabled()).toBe(true)
  await page.getByText('strongroom key caps dora@northwind.example --cap dir-admin').waitFor()
  await page.getByRole('checkbox', { name: /reads the same words to me/ }).check()
  await button(tab, 'Sign').click()
  await page.getByText('What Dora Vey may sign is in the log').first().waitFor()
  await open('Dora Vey')
  await expect.poll(() => runs.isChecked()).toBe(true)
  await runs.uncheck()
  await button(tab, 'Sign').click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await open('Dora Vey')
  await expect.poll(() => runs.isChecked()).toBe(false)
  await button(tab, 'Cancel').click()
  expect(tab.problems).toEqual([])
  await tab.done()
})

it('gives roles and removes for good by the typed address, and never the last owner', async () => {
  const tab = await world.alice()
  const { page } = tab
  await visit(tab, '/people')
  await button(tab, 'Change Dora Vey').click()
  await page.getByRole('menuitem', { name: 'Roles' }).click()
  await page.getByRole('checkbox', { name: /Billing manager/ }).check()
  await button(tab, 'Save').click()
  await page.getByRole('cell', { name: /Billing manager/ }).waitFor()

  await button(tab, 'Change Alice').click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await page.getByLabel('Type alice@example.com to go on').fill('alice@example.com')
  await button(tab, 'Remove for good').click()
  await page.getByText('last_owner').waitFor()
  await button(tab, 'Cancel').click()

  await button(tab, 'Change Dora Vey').click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await expect.poll(() => button(tab, 'Remove for good').isDisabled()).toBe(true)
  await page.getByLabel('Type dora@northwind.example to go on').fill('dora@northwind.example')
  await button(tab, 'Remove for good').click()
  await page.getByText('Dora Vey is removed').first().waitFor()
  await page.getByRole('row', { name: /Dora Vey/ }).waitFor({ state: 'detached' })
  expect(tab.problems).toEqual([])
  await tab.done()
})

it('takes an invite back, and makes, fills and deletes a group', async () => {
  const tab = await world.alice()
  const { page } = tab
  await visit(tab, '/people/invites')
  await button(tab, 'Take back the invite of carol@northwind.example').click()
  await page
    .getByRole('row', { name: /carol@/ })
    .getByText('taken back')
    .waitFor()

  await visit(tab, '/people/groups')
  await button(tab, 'New group').click()
  await page.getByLabel('Name').fill('deployers')
  await button(tab, 'Create').click()
  await button(tab, 'Change deployers').click()
  await page.getByRole('checkbox', { name: 'ci, agent' }).check()
  await page
    .getByRole('group', { name: 'In main' })
    .getByRole('checkbox', { name: /Budget manager/ })
    .check()
  await button(tab, 'Save').click()
  await page.getByRole('row', { name: /deployers Budget manager of main/ }).waitFor()
  await button(tab, 'Change deployers').click()
  await button(tab, 'Delete this group').click()
  await page.getByLabel('Type deployers to go on').fill('deployers')
  await button(tab, 'Delete').click()
  await page.getByRole('row', { name: /deployers/ }).waitFor({ state: 'detached' })
  expect(tab.problems).toEqual([])
  await tab.done()
})

it('makes a tenant, refuses to archive one with somebody in it, and archives an empty one by its name', async () => {
  const tab = await world.alice()
  const { page } = tab
  const statusOf = async (name: string): Promise<string | undefined> =>
    (await world.server.founder.client.tenants.list({})).data.find((one) => one.name === name)?.status
  await visit(tab, '/people/groups')
  await button(tab, 'New tenant').click()
  await page.getByLabel('Name').fill('warehouse')
  await button(tab, 'Save').click()
  await button(tab, 'Change warehouse').click()
  await button(tab, 'Archive this tenant').click()
  await page.getByText('This cannot be undone.').waitFor()
  await expect.poll(() => button(tab, 'Archive').isDisabled()).toBe(true)
  expect(await statusOf('warehouse')).toBe('active')
  await page.getByLabel('Type warehouse to go on').fill('warehouse')
  await button(tab, 'Archive').click()
  await page.getByRole('row', { name: /warehouse.*archived/ }).waitFor()
  expect(await statusOf('warehouse')).toBe('archived')

  await button(tab, 'Change main').click()
  await button(tab, 'Archive this tenant').click()
  await page.getByLabel('Type main to go on').fill('main')
  await button(tab, 'Archive').click()
  await page.getByText('tenant_not_empty').waitFor()
  expect(await statusOf('main')).toBe('active')
  expect(tab.problems).toEqual([])
  await tab.done()
})
