import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Locator, Page } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { putAway, startWorld, type Tab, unlock, visit, type World } from './world.ts'

// The pages of vaults, as a person with a keyboard uses them. Seen red with: items before the vault they are in; a value shown at the first
// Enter, and by a press that is too short; Escape that closes over what is being typed; a refused name that is saved, changed variables
// that are not; another vault that counts, a variable added to another vault; a revocation that is not deferred, a rotation without a new
// key; a file that lacks its first byte, one that is not removed; a vault or an item that is not archived, an Undo that says so and
// restores nothing, a vault that its page does not restore; calls that fail because another page's call was ended; a history that ends at
// the first version it meets, and one that takes any version for an earlier one; a holder whose key was wrapped by nobody; roles without
// keys that are not told from others; two files of one name that nobody can tell apart, capitals before small letters; the current value for that of a version, an Undo of a restored version that goes nowhere.

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

let world: World
let tab: Tab
let page: Page
beforeAll(async () => {
  world = await startWorld()
  tab = await world.alice()
  page = tab.page
})
afterAll(() => world?.close())

const read = async (ref: string): Promise<string> => (await world.demo.strongroom.secrets.get(ref)).reveal()
const drawer = () => page.getByRole('dialog')
const press = async (name: RegExp | string): Promise<void> => {
  await page.getByRole('button', { name, exact: typeof name === 'string' }).focus()
  await page.keyboard.press('Enter')
}

/** What the item was: what differs now, its value on purpose, and back to it and away from it again. */
async function seePast(history: Locator): Promise<void> {
  await press('Open version 1')
  await history.getByText('another value than now').waitFor()
  expect(await page.content()).not.toContain('hunter2-is-secret')
  await page.evaluate(AXE)
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }))
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`)).toEqual([])
  await history.getByRole('button', { name: /^Reveal SMTP_PASSWORD of version 1/ }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  const value = page.getByLabel('Value of SMTP_PASSWORD of version 1', { exact: true })
  await expect.poll(() => value.textContent()).toBe('hunter2-is-secret')
  await press('Hide SMTP_PASSWORD of version 1')
  await press('Restore this version')
  await page.getByRole('list', { name: 'What changes' }).getByText('SMTP_PASSWORD is as it was.').waitFor()
  await press('Sign and restore')
  await history.getByText('Restored version 1').waitFor()
  expect(await read('sr://prod/mailer%20<b>/SMTP_PASSWORD')).toBe('hunter2-is-secret')
  await press('Undo')
  await history.getByText('Restored version 1').waitFor({ state: 'detached' })
  expect(await read('sr://prod/mailer%20<b>/SMTP_PASSWORD')).toBe('hunter3')
}

it('shows nothing that could be pressed before it is known what may be done with the vault: nothing moves then', async () => {
  const { prodId, agentId } = world.demo
  // Here its items are asked for, and not what may be done with it.
  await visit(tab, `/agents/${agentId}/connect`)
  await page.getByRole('button', { name: 'TypeScript', exact: true }).click()
  await page.getByText(/sr:\/\/prod\/(?:database|stripe)\//).waitFor()
  let answer = (): void => undefined
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  const isVault = ({ pathname }: URL): boolean => pathname.endsWith(`/vault/${prodId}`)
  await page.route(isVault, async (route) => {
    await answered
    await route.continue()
  })
  const visited = visit(tab, `/vaults/${prodId}`)
  await page.getByRole('link', { name: 'Environment' }).waitFor()
  expect(await page.getByRole('table', { name: 'Items' }).count()).toBe(0)
  answer()
  await visited
  expect(await page.getByRole('checkbox', { name: 'Select database' }).count()).toBe(1)
  await page.unroute(isVault)
})

it('makes, reveals, edits and closes an item by keyboard, with no value in the page before it is revealed', async () => {
  await visit(tab, `/vaults/${world.demo.prodId}`)
  await press('New item')
  await page.keyboard.type('mailer <b>')
  await page.keyboard.press('Tab')
  await page.keyboard.type('javascript:alert(1)')
  await page.keyboard.press('Tab')
  await page.keyboard.type('PATH')
  await page.getByText('PATH changes how programs run').waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Encrypt and save' }).isDisabled()).toBe(true)
  await page.getByLabel('Label', { exact: true }).fill('SMTP_PASSWORD')
  await page.keyboard.press('Tab')
  await page.keyboard.type('hunter2-is-secret')
  await page.keyboard.press('Control+Enter')
  await drawer().getByRole('heading', { name: 'mailer <b>' }).waitFor()
  // A website that is no web address leads nowhere.
  expect(await drawer().getByRole('link').count()).toBe(0)
  expect(await page.content()).not.toContain('hunter2-is-secret')

  await drawer()
    .getByRole('button', { name: /^Reveal SMTP_PASSWORD/ })
    .focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Reveal SMTP_PASSWORD: press Enter once more' }).waitFor()
  expect(await page.content()).not.toContain('hunter2-is-secret')
  await page.keyboard.press('Enter')
  const value = page.getByLabel('Value of SMTP_PASSWORD', { exact: true })
  await value.waitFor()
  await expect.poll(() => value.textContent()).toBe('hunter2-is-secret')
  await press('Hide SMTP_PASSWORD')
  await value.waitFor({ state: 'detached' })

  // The reference is what is copied without revealing anything.
  await press('Copy the reference of SMTP_PASSWORD')
  await drawer().getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('sr://prod/mailer%20<b>/SMTP_PASSWORD')

  await press('Edit SMTP_PASSWORD')
  await page.getByLabel('New value').fill('hunter3')
  await page.keyboard.press('Control+Enter')
  await drawer().getByText('version 2', { exact: false }).first().waitFor()
  expect(await read('sr://prod/mailer%20<b>/SMTP_PASSWORD')).toBe('hunter3')

  // Who wrote which version, back from the one that was verified; and who has read it.
  const history = drawer().getByRole('region', { name: 'History' })
  await history.getByText(/Last read, as the server tells: .*Alice/).waitFor()
  await press('Show the versions')
  const versions = history.getByRole('list', { name: 'Versions, newest first' }).getByRole('listitem')
  await expect.poll(() => versions.allTextContents()).toHaveLength(2)
  expect((await versions.allTextContents()).map((text) => text.slice(0, 24))).toEqual([
    'version 2Alice changed i',
    'version 1Alice brought i',
  ])
  await seePast(history)

  // Escape ends what is being typed before it closes the drawer.
  await press('Add a field')
  await page.getByLabel('Label', { exact: true }).fill('HALF')
  await page.keyboard.press('Escape')
  await page.getByRole('form', { name: 'New field' }).waitFor({ state: 'detached' })
  await drawer().getByRole('heading', { name: 'mailer <b>' }).waitFor()
  await page.keyboard.press('Escape')
  await drawer().waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('')
})

it('reveals by holding and hides everything at a lock', async () => {
  const { prodId, itemId } = world.demo
  await visit(tab, `/vaults/${prodId}?item=${itemId}`)
  const button = drawer().getByRole('button', { name: /^Reveal STRIPE_KEY/ })
  await button.waitFor()
  const asked: string[] = []
  page.on('request', (request) => void (request.url().endsWith(`/items/${itemId}`) && asked.push(request.url())))
  // A press that is too short asks for nothing; the one read is that of the hold.
  await button.click({ delay: 250 })
  await button.hover()
  await page.mouse.down()
  await page.getByLabel('Value of STRIPE_KEY', { exact: true }).waitFor()
  await page.mouse.up()
  expect(asked).toHaveLength(1)
  await page.evaluate(() => document.querySelector<HTMLElement>('[aria-label="Lock now"]')?.click())
  await page.getByText('Your keys are gone from this page').waitFor()
  expect(await page.content()).not.toContain('sk_test_demo')
  await unlock(tab)
})

it('says what a pasted .env would do, saves it at once, and leaves out what would harm', async () => {
  const { strongroom, prodId } = world.demo
  await visit(tab, `/vaults/${prodId}`)
  await press('Paste a .env')
  await page.getByLabel('Variables').fill('DATABASE_POOL=40\nthis is nothing')
  await press('Compare')
  await page.getByRole('alert').getByText('line 2: this is not NAME=value').waitFor()
  await page
    .getByLabel('Variables')
    .fill('DATABASE_POOL=40\nexport STRIPE_KEY="sk_test_demo"\nSENTRY_DSN=one\nSENTRY_DSN=two\nPATH=/evil\nEMPTY=\n')
  await press('Compare')
  await page.getByText('1 new · 1 changed · 1 same · 1 refused name · 1 no value').waitFor()
  // Neither side's values are shown.
  expect(await page.getByRole('table', { name: 'Variables' }).textContent()).not.toMatch(/40|two|evil/)
  await page.getByLabel('Item for new variables').fill('monitoring')
  await press('Save 2 variables')
  await drawer().waitFor({ state: 'detached' })
  expect(await read('sr://prod/database/DATABASE_POOL')).toBe('40')
  expect(await read('sr://prod/monitoring/SENTRY_DSN')).toBe('two')
  const items = await strongroom.items.list(prodId)
  expect(items.find(({ name }) => name === 'database')?.version).toBe(2)
  expect(items.flatMap(({ labels }) => labels)).not.toContain('PATH')
  await page.getByRole('link', { name: 'monitoring' }).waitFor()
})

it('shows what a vault lacks beside the others of its project, and adds it there', async () => {
  const { prodId, stagingId } = world.demo
  await visit(tab, `/vaults/${prodId}/environment`)
  await page.getByText('missing', { exact: false }).first().waitFor()
  await press('Copy the names missing in prod')
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('DEBUG')
  await press('missing: add DEBUG to prod')
  await page.getByLabel('Value').fill('false')
  await press('Encrypt and save')
  await drawer().waitFor({ state: 'detached' })
  expect(await read(`sr://${prodId}/database/DEBUG`)).toBe('false')
  expect(await read(`sr://${stagingId}/database/DEBUG`)).toBe('true')
})

it('shares, explains, revokes without a new key, says that one is due, and rotates', async () => {
  const { strongroom, prodId } = world.demo
  await visit(tab, `/vaults/${prodId}/access`)
  await press('Share')
  await page.getByLabel('With').selectOption({ label: 'ci' })
  await press('Wrap the key and share')
  const row = page.getByRole('row', { name: /^ci / })
  await row.getByText('can decrypt').waitFor()
  expect((await strongroom.vaults.holders(prodId)).find(({ name }) => name === 'ci')).toMatchObject({ role: 'READ' })
  await press('Explain ci')
  await drawer().getByText('with the vault key wrapped for one key').waitFor()
  await putAway(drawer())

  await press('Change ci')
  await page.getByRole('menuitem', { name: 'Revoke' }).press('Enter')
  await page.getByLabel('Without a new key for now').check()
  await expect.poll(() => drawer().textContent()).toContain('strongroom access revoke ci --vault prod --defer')
  await press('Revoke')
  await row.waitFor({ state: 'detached' })
  await page.getByText('A new key is due.').waitFor()

  await page.getByRole('link', { name: 'Rotate it' }).click()
  await press('Rotate the key')
  await drawer().getByRole('button', { name: 'Rotate the key' }).click()
  await drawer()
    .getByText(/^Done\./)
    .waitFor()
  await drawer().getByRole('button', { name: 'Close' }).last().click()
  await page.getByText('A new key is due.').waitFor({ state: 'detached' })
  expect(await strongroom.vaults.get(prodId)).toMatchObject({ rotationDue: null, olderKeys: [] })
  // What the log says of the key, and the audit of who used it.
  await press('Since when and by whom, from the log')
  await page.getByRole('columnheader', { name: 'Since' }).waitFor()
  const bot = page.getByRole('table', { name: 'Holders' }).getByRole('row', { name: /checkout-bot/ })
  await expect.poll(() => bot.locator('[data-label="Wrapped by"]').textContent()).toBe('Alice')
  await expect.poll(() => bot.locator('[data-label="Last read"] time').count()).toBe(1)
})

it('shows who can decrypt what as lines, as a table and by arrow keys, and where a role has no key', async () => {
  const figure = page.getByRole('figure', { name: 'Who can decrypt what' })
  const rows = async (): Promise<string[]> =>
    (await figure.getByRole('row').allInnerTexts()).map((text) => text.split(/\s*\t\s*/).join(' | '))
  await visit(tab, '/vaults/access')
  await figure.getByText('lists and keys agree').waitFor()
  const slider = figure.getByRole('slider')
  await slider.focus()
  await slider.press('Home')
  await figure.getByText('Alice, mailer: admin, has a key').waitFor()
  for (const [name, place] of [
    ['prod', `/vaults/${world.demo.prodId}/access`],
    ['checkout-bot', `/agents/${world.demo.agentId}/access`],
    ['Alice', '/people'],
  ] as const)
    expect(await figure.getByRole('link', { name, exact: true }).getAttribute('href')).toBe(place)
  await figure.getByRole('button', { name: 'As a table' }).click()
  expect(await rows()).toEqual(expect.arrayContaining(['Alice, prod | person | admin | yes']))
  await page.getByLabel('Only a role or a key without the other').check()
  await page.getByText('Every role has its key').waitFor()

  // The server says that somebody has no key: the signed list still gives them a role.
  await page.route('**/holders', async (route) => {
    const answer = await (await route.fetch()).json()
    for (const one of answer.data) if (one.principal?.startsWith('agent:')) one.keys = []
    await route.fulfill({ json: answer })
  })
  await visit(tab, '/settings')
  await visit(tab, '/vaults/access?only=mismatches')
  await figure.getByText('without the other').waitFor()
  await figure.getByRole('button', { name: 'As a table' }).click()
  await expect.poll(rows).toEqual(expect.arrayContaining([expect.stringMatching(/^ci, staging \| agent \| .* \| no$/)]))
  expect(await rows()).not.toEqual(expect.arrayContaining([expect.stringContaining('Alice')]))
  await page.unrouteAll({ behavior: 'wait' })
})

it('refuses that the only admin takes the vault from herself, and changes nothing', async () => {
  const { strongroom, prodId } = world.demo
  await visit(tab, `/vaults/${prodId}/access`)
  await press('Change Alice')
  await page.getByRole('menuitem', { name: 'Revoke' }).press('Enter')
  await expect.poll(() => page.getByRole('button', { name: 'Revoke', exact: true }).isDisabled()).toBe(true)
  await page.getByLabel('I lose my own access').check()
  await press('Revoke')
  await drawer().getByRole('alert').waitFor()
  expect(await strongroom.permissions.list({ vault: prodId })).toContainEqual(
    expect.objectContaining({ role: 'ADMIN' }),
  )
  await page.keyboard.press('Escape')
})

it('attaches, downloads and removes a file', async () => {
  const { strongroom, prodId } = world.demo
  await visit(tab, `/vaults/${prodId}/files`)
  await page.getByText('webhook-signing.pem').waitFor()
  await page.getByLabel('Item').fill('database')
  const bytes = Buffer.from('-- a dump\n'.repeat(3000))
  await page.getByLabel('Files to attach').setInputFiles({ name: 'shop.sql', mimeType: 'text/plain', buffer: bytes })
  await page.getByRole('cell', { name: 'shop.sql', exact: true }).waitFor()
  const twin = await strongroom.attachments.upload(prodId, 'database', Buffer.from('short'), { name: 'shop.sql' })
  await visit(tab, `/vaults/${prodId}`)
  await visit(tab, `/vaults/${prodId}/files`)
  await press(/^More for shop\.sql, 5 B, signed /)
  await page.getByRole('menuitem', { name: 'Remove' }).press('Enter')
  await drawer().getByText(`strongroom file rm prod/database/${twin.assetId}`).waitFor()
  await page.getByLabel('Type shop.sql to go on').fill('shop.sql')
  await press('Remove')
  await drawer().waitFor({ state: 'detached' })
  const saving = page.waitForEvent('download')
  await press('Download shop.sql')
  const stream = await (await saving).createReadStream()
  expect(Buffer.concat(await stream.toArray()).equals(bytes)).toBe(true)
  await press('More for shop.sql')
  await page.getByRole('menuitem', { name: 'Remove' }).press('Enter')
  const remove = page.getByRole('button', { name: 'Remove', exact: true })
  await page.getByLabel('Type shop.sql to go on').fill('shop')
  await expect.poll(() => remove.isDisabled()).toBe(true)
  await page.getByLabel('Type shop.sql to go on').fill('shop.sql')
  await remove.click()
  await drawer().waitFor({ state: 'detached' })
  await page.getByRole('cell', { name: 'shop.sql', exact: true }).waitFor({ state: 'detached' })
  expect(await strongroom.attachments.list(prodId, 'database')).toEqual([])
})

it('moves and archives what is ticked, tells of it, and takes it back', async () => {
  const { strongroom, prodId, stagingId } = world.demo
  const { vaultId: emptyId } = await strongroom.vaults.create({ name: "Zoe's new", classification: 'internal' })
  await visit(tab, `/vaults/${emptyId}`)
  await page.getByText("strongroom set 'Zoe'\\''s new/app/API_KEY'").waitFor()
  await visit(tab, `/vaults/${emptyId}/files`)
  await page.getByText("strongroom file put server.pem 'Zoe'\\''s new/tls'").waitFor()
  await visit(tab, '/vaults')
  const links = page.getByRole('table', { name: 'Vaults' }).getByRole('link', { name: /[a-z]/ })
  const sorted = ['mailer', 'marketing site', 'prod', 'staging', "Zoe's new"]
  await expect.poll(() => links.allTextContents()).toEqual(sorted)

  await visit(tab, `/vaults/${prodId}`)
  await page.getByLabel('Select monitoring').check()
  await press('Move')
  await page.getByLabel('To the vault').selectOption({ label: 'staging' })
  await press('Encrypt anew and move')
  await page.getByText('Moved monitoring to staging').first().waitFor()
  expect((await strongroom.items.list(stagingId)).map(({ name }) => name)).toContain('monitoring')
  await visit(tab, `/vaults/${stagingId}/activity`)
  await page.getByRole('row', { name: /Alice moved/ }).waitFor()

  await visit(tab, `/vaults/${stagingId}`)
  await page.getByLabel('Select monitoring').check()
  await press('Archive')
  await drawer().getByRole('button', { name: 'Archive' }).click()
  await page.getByText('Archived monitoring').first().waitFor()
  const itemsInStaging = async () => (await strongroom.items.list(stagingId)).map(({ name }) => name)
  expect(await itemsInStaging()).not.toContain('monitoring')
  await press('Undo')
  await page.getByText('Restored monitoring').first().waitFor()
  await page.getByLabel('Select monitoring').check()
  expect(await itemsInStaging()).toContain('monitoring')
  await press('Archive')
  await drawer().getByRole('button', { name: 'Archive' }).click()
  await page.getByLabel('Select monitoring').waitFor({ state: 'detached' })
  await press('Archived items')
  await press('Restore monitoring')
  await drawer().getByText('Nothing is archived here.').waitFor()
  expect(await itemsInStaging()).toContain('monitoring')

  await visit(tab, '/vaults')
  await page.getByLabel('Select marketing site').check()
  await press('Archive')
  await drawer().getByRole('button', { name: 'Archive' }).click()
  const row = page.getByRole('row', { name: /marketing site/ })
  await row.getByText('archived').waitFor()
  await page.locator('li', { hasText: 'Archived marketing site' }).getByRole('button', { name: 'Undo' }).click()
  await row.getByText('active').waitFor()
  await page.getByLabel('Select marketing site').check()
  await press('Archive')
  await drawer().getByRole('button', { name: 'Archive' }).click()
  await row.getByText('archived').waitFor()
  await row.getByRole('link', { name: 'marketing site' }).click()
  await press('Restore')
  await press('Sign and restore')
  await drawer().waitFor({ state: 'detached' })
  expect((await strongroom.vaults.get('marketing site')).status).toBe('active')
  expect(tab.problems).toEqual([])
})

it('raises the alarm where an earlier version of the vault is not the one that the next one names', async () => {
  const { prodId } = world.demo
  await visit(tab, `/vaults/${prodId}`)
  await page.getByRole('link', { name: 'database', exact: true }).click()
  let served: string | undefined
  await page.route('**/transparency/doc/*', async (route) => {
    // The first one again and again, in the place of those before it.
    served ??= await (await route.fetch()).text()
    await route.fulfill({ contentType: 'application/json', body: served })
  })
  await press('Show the versions')
  await page.getByRole('heading', { name: 'The server gave an answer that does not verify' }).waitFor()
  expect(await page.getByRole('alert').locator('strong').first().textContent()).toBe('head_mismatch')
  expect(await page.getByRole('navigation').count()).toBe(0)
})
