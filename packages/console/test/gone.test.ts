import { acceptInvite, endorseInvite, makeUserInvite } from '@strongroom/sdk'
import type { Locator, Route } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keysOf } from '../../sdk/test/engine/server.ts'
import { signIn, startWorld, type Tab, visit, type World } from './world.ts'

// What was in sight and is not there any more. Catches: an archived item that the way back shows as if it were verified now; a vault that stays in sight
// of somebody who was taken off its list; a page that could not be asked for again and does not say so; an overview that calls what a
// colleague may not see nothing, and asks for it every five seconds; a list that says "none", "never" or an id of what nobody has answered yet;
// what is asked without a network waiting without a word, and a change that was asked for then made later. Seen red: all of these.

let world: World
let dave: Tab
/** `user:…` */
let principal: string
beforeAll(async () => {
  world = await startWorld()
  const { founder, url } = world.server
  const { tenantId } = founder
  const email = 'dave@northwind.example'
  const invite = await makeUserInvite(founder, { email, name: 'Dave', tenantId })
  const passphrase = 'correct horse battery staple'
  principal = `user:${invite.userId}`
  const { codes } = await acceptInvite({ baseUrl: url, link: invite.link, passphrase, keys: keysOf('dave') })
  await endorseInvite(founder, invite)
  dave = await world.stranger()
  await dave.open('/')
  await signIn(dave, { email, codes })
})
afterAll(() => world?.close())

/** As when somebody comes back to the window. */
const lookAgain = ({ page }: Tab) => page.evaluate(() => dispatchEvent(new Event('visibilitychange')))

it('does not show an archived item to who goes back to it', async () => {
  const { strongroom, stagingId } = world.demo
  const { itemId } = await strongroom.items.create(stagingId, { name: 'passing', fields: [{ label: 'K', value: 'v' }] })
  const tab = await world.alice()
  const { page } = tab
  await visit(tab, `/vaults/${stagingId}?item=${itemId}`)
  const drawer = page.getByRole('dialog').filter({ has: page.getByRole('region', { name: 'Fields' }) })
  await drawer.getByRole('button', { name: 'Archive' }).click()
  await page.getByRole('dialog', { name: 'Archive passing' }).getByRole('button', { name: 'Archive' }).click()
  await page.waitForURL((url) => !url.searchParams.has('item'))
  await page.goBack()
  await page.getByText('This item is not in staging, or not any more.').waitFor()
  expect(await drawer.count()).toBe(0)
  await page.keyboard.press('Escape')
  await tab.done()
})

it('takes a vault out of sight of who was taken off its list, and says of what was not asked again that it was not', async () => {
  const { strongroom, stagingId } = world.demo
  const { page } = dave
  await strongroom.permissions.grant({ vault: stagingId }, { principal, role: 'READ' })
  await visit(dave, `/vaults/${stagingId}`)
  await page.getByRole('link', { name: 'database' }).waitFor()

  await page.route('**/api/**', (route) => route.abort())
  await lookAgain(dave)
  await page.getByText('This is how it was; it could not be asked for again.').first().waitFor()
  expect(await page.getByRole('link', { name: 'database' }).count()).toBe(1)
  await page.unrouteAll({ behavior: 'wait' })

  await strongroom.permissions.revoke({ vault: stagingId }, principal)
  await lookAgain(dave)
  await page.getByText('It may have been archived or removed, or is not shared with you any more.').first().waitFor()
  expect(await page.getByRole('link', { name: 'database' }).count()).toBe(0)
})

it('does not tell a colleague that there is nothing where they may not look, nor asks for it again and again', async () => {
  const { page } = dave
  await visit(dave, '/')
  const numbers = page.getByRole('list', { name: 'In numbers' })
  await expect.poll(() => numbers.getByText('not yours to see').count()).toBe(2)
  await page.getByText('Your roles do not include what may be spent.').waitFor()
  expect(await page.getByText('Make an agent here').count()).toBe(0)
  const refused: string[] = []
  page.on('response', (response) => {
    if (response.status() === 403) refused.push(response.url())
  })
  // Its own events are asked for every five seconds: twice is longer than anything else would wait.
  for (let time = 0; time < 2; time += 1) await page.waitForResponse(/audit-events/)
  expect(refused).toEqual([])
})

it('claims nothing of what it has not been told, and says it once it is', async () => {
  const tab = await world.stranger()
  const { page } = tab
  const held: Route[] = []
  await page.route(/\/(?:vault|budget|tenant|monitoring\/audit-events)(?:\?|$)/, (route) => void held.push(route))
  await tab.open('/settings')
  await signIn(tab, world.server.founder)
  const cell = (row: string, text: string | RegExp): Locator =>
    page
      .getByRole('row')
      .filter({ has: page.getByText(row, { exact: true }) })
      .getByText(text, { exact: true })

  await visit(tab, '/agents')
  await cell('checkout-bot', '–').first().waitFor()
  expect(await cell('checkout-bot', '–').count()).toBe(3)
  expect(await cell('checkout-bot', /never|none|no budget/).count()).toBe(0)
  await visit(tab, '/projects')
  await cell('shop', '–').waitFor()
  await visit(tab, '/people')
  await cell('Alice', 'Owner, Administrator of a tenant').waitFor()
  expect(await page.getByText(/ten_/).count()).toBe(0)

  await page.unrouteAll({ behavior: 'ignoreErrors' })
  // What was left meanwhile is not asked for any more.
  for (const route of held) await route.continue().catch(() => undefined)
  await cell('Alice', 'Owner, Administrator of main').waitFor()
  await visit(tab, '/projects')
  await cell('shop', 'prod, staging').waitFor()
  await visit(tab, '/agents')
  await cell('checkout-bot', 'prod').waitFor()
  await cell('checkout-bot', /0\.00 of 25\.00 USD/).waitFor()
  await tab.done()
})

it('says that there is no network, makes nothing of it later, and reads by itself when there is one', async () => {
  const { strongroom } = world.demo
  const tab = await world.alice({})
  const { page } = tab
  await visit(tab, '/vaults')
  await page.getByRole('button', { name: 'New vault' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('from nowhere')
  await tab.context.setOffline(true)
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await page.getByRole('dialog').getByRole('alert').getByText('connection_failed').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await visit(tab, '/settings')
  await visit(tab, '/vaults')
  const refused = page.getByRole('alert').getByText('connection_failed')
  await refused.waitFor()
  await tab.context.setOffline(false)
  await refused.waitFor({ state: 'detached' })
  await tab.context.setOffline(true)
  // Of which not even the page is there.
  void visit(tab, '/webhooks').catch(() => {})
  await refused.waitFor()
  await tab.context.setOffline(false)
  await page.getByRole('table', { name: 'Endpoints' }).waitFor()
  expect((await strongroom.vaults.list()).map(({ name }) => name)).not.toContain('from nowhere')
  await tab.context.close()
})
