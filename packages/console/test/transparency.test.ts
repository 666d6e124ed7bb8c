import { checkEvidence, type EvidenceVerdict } from '@strongroom/protocol'
import { type LogEntry, memoryTrust, Strongroom, VerificationError } from '@strongroom/sdk'
import type { Page, Route } from 'playwright'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWorld, type Tab, unlock, visit, type World } from './world.ts'

// What stands as verified was recomputed in this browser. Catches a proof that is shown without being checked, entries that are not the
// log that was signed, a refusal that only looks like an error, an alarm that is forgotten, and evidence that is believed.
// Seen red: the proof drawn without `verifyInclusion`, the ledger without the signed root, a verdict that says something else than the
// check, a confirmation that cannot be taken back, a browser that has pinned nothing yet.

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.close())

type Json = { hashes?: string[]; entries?: { leaf: string }[] }

/** Another first byte, in base64 that is as valid as before. */
const flipped = (text: string): string => (text.startsWith('A') ? 'B' : 'A') + text.slice(1)

async function tamper(page: Page, url: string, change: (answer: Json) => void): Promise<void> {
  await page.route(url, async (route: Route) => {
    const response = await route.fetch()
    const json = (await response.json()) as Json
    change(json)
    await route.fulfill({ response, json })
  })
}

async function expectAlarm({ page }: Tab, code: string): Promise<void> {
  await page.getByRole('heading', { name: 'The server gave an answer that does not verify' }).waitFor()
  expect(await page.getByRole('alert').innerText()).toContain(code)
  // Nothing else is left: no place to go, no page, no answer.
  expect(await page.getByRole('navigation').count()).toBe(0)
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(await page.getByRole('heading', { name: 'Transparency' }).count()).toBe(0)
}

it('verifies the log step by step, and proves an entry by recomputing every hash on its way to the root', async () => {
  const tab = await world.alice()
  const { page } = tab
  await visit(tab, '/transparency')
  await page.getByRole('button', { name: 'Verify now' }).click()
  await page.getByRole('region', { name: 'Verification' }).getByRole('status').waitFor()
  await expect.poll(() => page.getByRole('list', { name: 'Steps' }).getByText(': done').count()).toBe(4)

  const entries: LogEntry[] = []
  for await (const entry of world.demo.strongroom.transparency.entries()) entries.push(entry)
  const ledger = page.getByRole('list', { name: 'Entries of the log, newest first' })
  await expect.poll(() => ledger.getByRole('link', { name: /^Prove entry/ }).count()).toBe(entries.length)
  await expect.poll(() => ledger.innerText()).toContain('a key of checkout-bot')

  await ledger.getByRole('link', { name: 'Prove entry 4' }).click()
  const drawer = page.getByRole('dialog', { name: 'Entry 4' })
  await drawer.getByText('In the log.').waitFor()
  await drawer.getByText('Every hash, in words').click()
  const hashes = await drawer
    .getByRole('list', { name: 'Every hash' })
    .getByRole('listitem')
    .locator('code')
    .allInnerTexts()
  const { rootHash } = await world.demo.strongroom.transparency.head()
  expect(hashes[0]).toBe(entries[4]?.leafHash)
  expect(hashes.at(-1)).toBe(rootHash)
  expect(hashes).toHaveLength(Math.ceil(Math.log2(entries.length)) + 1)
  expect(page.url()).toMatch(/\?entry=4$/)
  expect(tab.problems).toEqual([])
  await tab.done()
})

it('raises the alarm for one wrong byte in a proof, shows nothing of it, and remembers it', async () => {
  const tab = await world.alice()
  await visit(tab, '/transparency')
  await tamper(tab.page, '**/transparency/proof/*', (answer) => {
    answer.hashes = answer.hashes?.map((hash, at) => (at === 1 ? flipped(hash) : hash)) ?? []
  })
  await visit(tab, '/transparency?entry=4').catch(() => undefined)
  await expectAlarm(tab, 'bad_inclusion')
  await tab.page.unrouteAll({ behavior: 'wait' })

  await tab.page.reload()
  await unlock(tab)
  await visit(tab, '/transparency/evidence')
  const alarms = tab.page.getByRole('table', { name: 'Alarms' })
  await expect.poll(() => alarms.getByRole('row').count()).toBe(2)
  await expect.poll(() => alarms.innerText()).toContain('bad_inclusion')
  await tab.context.close()
})

it('raises the alarm where an entry is not the one that was signed', async () => {
  const tab = await world.alice()
  await tamper(tab.page, '**/transparency/entries*', (answer) => {
    const [entry] = answer.entries ?? []
    // Still an entry to who only reads it: one bit of the time it was made.
    if (entry)
      entry.leaf = Buffer.from(
        Buffer.from(entry.leaf, 'base64')
          .toString()
          .replace(/"at":\d/, '"at":3'),
      ).toString('base64')
  })
  await visit(tab, '/transparency').catch(() => undefined)
  await expectAlarm(tab, 'bad_inclusion')
  await tab.context.close()
})

it('shows who signs with which key, and lets a person confirm one', async () => {
  const tab = await world.alice()
  const { page } = tab
  // A read of a vault brings the keys of its writers into what this browser knows.
  await visit(tab, `/vaults/${world.demo.prodId}`)
  await page.getByRole('link', { name: 'database' }).waitFor()
  await visit(tab, '/transparency/signers')
  const keys = page.getByRole('table', { name: 'Keys of signers' })
  await expect.poll(() => keys.innerText()).toContain('checkout-bot')

  const bands = page.getByRole('slider', { name: 'Signer continuity' })
  await bands.focus()
  await page.keyboard.press('Home')
  await expect
    .poll(() => bands.getAttribute('aria-valuetext'))
    .toMatch(/^Alice, [a-z-]+\d+: from .* until now, their first key$/)

  await keys
    .getByRole('button', { name: /^Compare the key/ })
    .first()
    .click()
  const form = page.getByRole('dialog', { name: /^Confirm the key of/ })
  await expect.poll(() => form.innerText()).toContain('strongroom trust pin user:')
  await form.getByRole('button', { name: 'They are the same' }).click()
  await keys.getByText('compared with its owner').waitFor()
  await page.getByRole('button', { name: 'Undo', exact: true }).click()
  await keys
    .getByRole('button', { name: /^Compare the key/ })
    .first()
    .waitFor()
  expect(tab.problems).toEqual([])
  await tab.done()
})

/** What a client of a server that leaves an item out keeps as evidence. */
async function evidence(): Promise<string> {
  const { server, demo } = world
  const withoutOne: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (!/\/vault\/[^/]+\/items$/.test(new URL(String(input)).pathname)) return response
    const body = (await response.json()) as { data: unknown[] }
    return Response.json({ ...body, data: body.data.slice(1) }, { headers: response.headers })
  }
  const cheated = new Strongroom({
    server: server.url,
    accessToken: server.founder.accessToken,
    privateKey: server.founder.exportPem().reveal(),
    trustAnchor: server.founder.trustAnchor,
    cache: false,
    trustStore: memoryTrust(),
    onEvidence: () => undefined,
    fetch: withoutOne,
  })
  const refused: unknown = await cheated.items.list(demo.prodId).then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(refused instanceof VerificationError)) throw new Error('the client was not cheated')
  return refused.evidence
}

it('checks an evidence file in the page, and believes none that is not one', async () => {
  const tab = await world.alice()
  const { page } = tab
  await visit(tab, '/transparency/evidence')
  const text = await evidence()
  const verdict: EvidenceVerdict = await checkEvidence(JSON.parse(text))
  const choose = (name: string, content: string): Promise<void> =>
    page
      .getByLabel(/drop an evidence file/)
      .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(content) })

  await choose('evidence.json', text)
  const said = page.getByRole('region', { name: 'Check an evidence file' }).getByRole('status')
  await said.waitFor()
  await expect.poll(() => said.innerText()).toContain(`refused for the same reason: ${verdict.claimed}`)

  await choose('other.json', '{"version":1}')
  await page.getByText('The file does not have the form of evidence').waitFor()
  await choose('notes.txt', 'not JSON')
  await page.getByText('The file is not JSON').waitFor()
  expect(tab.problems).toEqual([])
  await tab.done()
})
