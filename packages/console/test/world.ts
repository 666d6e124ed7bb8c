import type { FirstPerson } from '@strongroom/sdk'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright'
import { CHROMIUM_FLAGS, findChromium } from '../../../scripts/chromium.mjs'
import { keptRest } from '../../sdk/test/engine/kept-server.ts'
import { keepServer, type ServerOptions, startServer, type TestServer } from '../../sdk/test/engine/server.ts'
import { isTestRun } from '../../server/test/server-here.ts'
import { clientOf, type Demo, seedDemo } from './demo.ts'

// The console as people have it: served by a real server, in a real Chromium, with the browser's own refusals counted.

export const PASSPHRASE = 'correct horse battery staple'

export interface Tab {
  readonly page: Page
  readonly context: BrowserContext
  /** What the browser refused or reported so far: violations of the policy, errors of scripts. */
  readonly problems: string[]
  open(path: string): Promise<void>
  /** Not needed any more: Alice's own, as she signed in, is given to the next who asks for it. */
  done(): Promise<void>
}

export interface World {
  readonly server: TestServer
  readonly demo: Demo
  readonly browser: Browser
  /** A browser that knows nobody yet. */
  stranger(options?: TabOptions): Promise<Tab>
  /** Alice, signed in. */
  alice(options?: TabOptions): Promise<Tab>
  close(): Promise<void>
}

export interface TabOptions {
  readonly width?: number
  readonly height?: number
  readonly theme?: 'light' | 'dark'
  /** Where the console is served, if not by the server itself. */
  readonly origin?: string
}

declare module 'vitest' {
  interface TaskMeta {
    /** Said again in the summary of a run. */
    seen?: string
  }
}

/** What a person would have seen where a test of this page fails: most wait for something that an alert explains. */
async function tellOnFailure(page: Page, problems: readonly string[]): Promise<void> {
  if (!isTestRun()) return
  const { TestRunner } = await import('vitest')
  TestRunner.getCurrentTest()?.context.onTestFailed(async ({ task }) => {
    if (page.isClosed()) return
    const seen = await page.locator('[role=alert], [role=dialog], [role=status], h1').allInnerTexts()
    const { pathname, search } = new URL(page.url())
    const lines = [`left at ${pathname}${search}`, ...seen, ...problems].map((one) => one.replace(/\s+/g, ' '))
    task.meta.seen = lines.map((line) => line.slice(0, 200)).join('\n')
  })
}

/** A browser that knows nobody yet. */
export async function newTab(browser: Browser, url: string, options: TabOptions): Promise<Tab> {
  const { width = 1440, height = 900, theme = 'light', origin = url } = options
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    permissions: ['clipboard-read', 'clipboard-write'],
    reducedMotion: 'reduce',
  })
  // A busy machine is slow, not wrong. This only ends what hangs.
  context.setDefaultTimeout(90_000)
  const problems: string[] = []
  const page = await context.newPage()
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) problems.push(message.text())
  })
  await tellOnFailure(page, problems)
  const open = async (path: string): Promise<void> => {
    await page.goto(`${origin}${path}`)
  }
  return { page, context, problems, open, done: () => context.close() }
}

export async function signIn({ page }: Tab, founder: Pick<FirstPerson, 'email' | 'codes'>): Promise<void> {
  await page.getByLabel('Email').fill(founder.email)
  await page.getByLabel('Device secret').fill(founder.codes.deviceSecret)
  await page.getByLabel('Passphrase').fill(PASSPHRASE)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('nav[aria-label=Places]').waitFor({ state: 'attached' })
}

/** After a lock or a reload: the device is known. */
export async function unlock({ page }: Tab): Promise<void> {
  await page.getByLabel('Passphrase').fill(PASSPHRASE)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('nav[aria-label=Places]').waitFor({ state: 'attached' })
}

/** By Escape, pressed again where it came before what is to go listened. */
export async function putAway(layer: Locator): Promise<void> {
  while ((await layer.count()) > 0) {
    await layer.page().keyboard.press('Escape')
    await layer.waitFor({ state: 'detached', timeout: 1000 }).catch(() => undefined)
  }
}

/** Goes to a page of the console without loading it anew, which would end the session. */
export async function visit({ page }: Tab, path: string): Promise<void> {
  await page.evaluate((to) => {
    history.pushState(null, '', to)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)
  await page.locator('#page').waitFor()
  // Until it is there, the page before is, with buttons of the same names. An alarm stands alone.
  await page.waitForFunction(() => {
    const shown = document.querySelector<HTMLElement>('[data-shown]')?.dataset.shown
    const isThere = shown === undefined || shown === location.pathname
    return isThere && document.querySelector('[role=status][aria-label=Loading]') === null
  })
}

// Webhooks go to receivers on this machine.
const ENV = { STRONGROOM_EGRESS_ALLOW: '127.0.0.0/8' }

/** Made once in a worker of a test run. */
let kept: Promise<string> | undefined

async function startDemo({ env }: ServerOptions): Promise<Pick<World, 'server' | 'demo'>> {
  const options = { env: { ...ENV, ...env } }
  if (!isTestRun()) {
    const server = await startServer(options)
    return { server, demo: await seedDemo(server) }
  }
  kept ??= keepServer({ env: ENV }, async (server) => {
    const { strongroom, ...demo } = await seedDemo(server)
    return demo
  })
  const like = await kept
  const server = await startServer({ ...options, like })
  return { server, demo: { strongroom: clientOf(server), ...keptRest<Omit<Demo, 'strongroom'>>(like) } }
}

export async function startWorld(options: ServerOptions = {}): Promise<World> {
  const { server, demo } = await startDemo(options)
  const executablePath = findChromium() as string
  const browser = await chromium.launch({ executablePath, args: CHROMIUM_FLAGS })
  const stranger = (options: TabOptions = {}): Promise<Tab> => newTab(browser, server.url, options)
  // To sign in is to stretch a passphrase and to verify the log, which takes longer than most tests.
  const idle: Tab[] = []
  const handBack = async (tab: Tab): Promise<void> => {
    await tab.page.unrouteAll({ behavior: 'wait' })
    await visit(tab, '/settings')
    tab.problems.length = 0
    idle.push({ ...tab, done: () => handBack(tab) })
  }
  return {
    server,
    demo,
    browser,
    stranger,
    alice: async (options) => {
      const [kept] = options === undefined ? idle.splice(0, 1) : []
      if (kept) {
        await tellOnFailure(kept.page, kept.problems)
        return kept
      }
      const tab = await stranger(options)
      // A page that asks for little: the overview loads what few tests are about.
      await tab.open('/settings')
      await signIn(tab, server.founder)
      return options === undefined ? { ...tab, done: () => handBack(tab) } : tab
    },
    close: async () => {
      await browser.close()
      await server.close()
    },
  }
}

/** What whoever sets a server up types into its first page. */
export async function makeOrganisation({ page, open }: Tab, setupToken: string): Promise<void> {
  await open('/')
  await page.getByLabel('Setup token').fill(setupToken)
  await page.getByLabel('Organisation').fill('Northwind')
  await page.getByLabel('Your name').fill('Ada')
  await page.getByLabel('Your email').fill('ada@northwind.example')
  await page.getByLabel('Passphrase', { exact: true }).fill('correct horse battery staple')
  await page.getByLabel('Passphrase again').fill('correct horse battery staple')
  await page.getByRole('button', { name: 'Make the organisation', exact: true }).click()
}
