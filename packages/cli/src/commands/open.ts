import { spawn } from 'node:child_process'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { arg, command } from '../model/command.ts'
import { nearest } from '../model/nearest.ts'
import { addressOf } from '../place/server-address.ts'

/** Pages by the word people use for them. */
export const PAGES: Readonly<Record<string, string>> = {
  console: '/',
  approvals: '/approvals',
  vaults: '/vaults',
  access: '/vaults/access',
  projects: '/projects',
  agents: '/agents',
  people: '/people',
  licenses: '/licenses',
  billing: '/billing',
  activity: '/activity',
  log: '/transparency',
  webhooks: '/webhooks',
  domains: '/domains',
  settings: '/settings',
  docs: '/docs',
  api: '/docs/api',
  errors: '/docs/errors',
}

/** Somebody sits there, in front of a desktop of this very machine. */
function hasDesktop({ io, isInteractive }: Cli): boolean {
  const { env } = io
  if (!isInteractive || !io.stdout.isTTY || env.SSH_CONNECTION || env.CI) return false
  return process.platform === 'darwin' || process.platform === 'win32' || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY)
}

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

function openBrowser(url: string): Promise<boolean> {
  const [program = 'xdg-open', ...args] = OPENERS[process.platform] ?? ['xdg-open']
  return new Promise((resolve) => {
    const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      child.unref()
      resolve(true)
    })
  })
}

export const open = command({
  summary: 'the address of a page, opened where there is a browser',
  args: { page: arg.maybe('console, vaults, access, agents, activity, log, docs, or any other') },
  flags: {},
  examples: [
    { run: 'strongroom open', does: 'the console' },
    { run: 'strongroom open activity', does: 'what happened' },
  ],
  next: 'strongroom open docs',
  output: async () => (await import('../schemas/config.ts')).openShape,
  run: async (cli, { args }) => {
    const page = args.page ?? 'console'
    const path = Object.hasOwn(PAGES, page) ? PAGES[page] : undefined
    if (path === undefined) {
      const near = nearest(page, Object.keys(PAGES))
      throw new CliError('usage', `there is no page ${page}`, {
        fix: near ? `did you mean ${near}?` : `use one of ${Object.keys(PAGES).join(', ')}`,
      })
    }
    const url = `${await addressOf(cli)}${path === '/' ? '' : path}`
    const opened = hasDesktop(cli) && (await openBrowser(url))
    return { data: { url, opened }, text: url }
  },
})
