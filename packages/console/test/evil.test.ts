import { type Browser, chromium } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM_FLAGS, findChromium } from '../../../scripts/chromium.mjs'
import type { Attack, Deed } from '../../sdk/evil-server/attack.ts'
import { ATTACKS } from '../../sdk/evil-server/attacks/all.ts'
import { CANARY, type EvilWorld, startEvilWorld } from '../../sdk/test/evil/world.ts'
import { newTab, signIn, type Tab, unlock, visit } from './world.ts'

// The attacks of the evil server on what the console reads: nothing decrypted is shown, and the page is replaced by the alarm with the
// code that the attack has. (What the environment route lies about is met by the same client in the SDK's own tests in Chromium.)
// Seen red: an alarm that is not raised for what a page asks, one that is raised and shown beside the page.

let world: EvilWorld
let browser: Browser
let tab: Tab
beforeAll(async () => {
  world = await startEvilWorld()
  world.evil.choose(undefined)
  browser = await chromium.launch({ executablePath: findChromium() as string, args: CHROMIUM_FLAGS })
  tab = await newTab(browser, world.evil.url, {})
  await tab.open('/')
  await signIn(tab, world.founder)
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await world?.close()
})

async function openItem(): Promise<void> {
  await visit(tab, `/vaults/${world.place.vaultId}`)
  await tab.page.getByRole('link', { name: world.place.item, exact: true }).click()
}

/** What a person does so that an answer of this kind is read. */
const DONE: Partial<Record<Deed, () => Promise<void>>> = {
  list: () => visit(tab, `/vaults/${world.place.vaultId}`),
  item: async () => {
    await openItem()
    const reveal = tab.page.getByRole('button', { name: /^Reveal/ }).first()
    await Promise.race([reveal.focus(), tab.page.getByRole('alert').waitFor()])
    if (await reveal.isVisible()) for (let i = 0; i < 2; i += 1) await tab.page.keyboard.press('Enter')
  },
  download: async () => {
    await openItem()
    await tab.page
      .getByRole('button', { name: /^Download/ })
      .first()
      .click()
  },
}

/** On a page that asks for none of it: an honest answer would be kept for a moment. */
async function startAnew(): Promise<void> {
  world.evil.choose(undefined)
  await tab.open('/settings')
  await unlock(tab)
}

describe('an honest server behind the same proxy', () => {
  it('is read', async () => {
    await DONE.item?.()
    await tab.page.getByText(CANARY).first().waitFor()
    await startAnew()
  })
})

/** These forge one answer of a log that the page has asked about a moment before: it is met as a fork, which has its own rows. */
const isForgedInBetween = ({ deed, name }: Attack): boolean => deed === 'download' && name.endsWith('-signed')
const isMet = (attack: Attack): boolean => DONE[attack.deed] !== undefined && !isForgedInBetween(attack)

/** Each takes a sign-in of its own: `npm run test:console` tries them all. */
const met = ATTACKS.filter(isMet).filter((_, at) => process.env.WHOLE_CONSOLE !== undefined || at % 6 === 0)

describe('a lying server', () => {
  it.each(met.map((attack) => [`${attack.number} ${attack.name}`, attack] as const))(
    'gets nothing out of the console: %s',
    async (_, attack) => {
      world.evil.choose(attack.name, 0)
      await DONE[attack.deed]?.()
      await tab.page.getByRole('heading', { name: 'The server gave an answer that does not verify' }).waitFor()
      expect(await tab.page.getByRole('navigation').count()).toBe(0)
      const alarm = tab.page.getByRole('alert')
      expect(attack.expect.codes).toContain(await alarm.locator('strong').first().textContent())
      expect(await tab.page.content()).not.toContain(CANARY)
      await startAnew()
    },
  )
})
