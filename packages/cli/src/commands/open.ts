import { spawn } from 'node:child_process'
import { type Cli, serverOf } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { arg, command } from '../model/command.ts'
import { nearest } from '../model/nearest.ts'
import { readConfigFile } from '../place/config-file.ts'

/** Pages by the word people use for them. */
const PAGES: Readonly<Record<string, string>> = {
  console: '/',
  activity: '/activity',
  agents: '/agents',
  vaults: '/vaults',
  projects: '/projects',
  log: '/log',
  access: '/access',
  docs: '/docs',
  api: '/docs/api',
  errors: '/docs/errors',
}

/** The server this machine uses, without asking it anything. */
export async function addressOf(cli: Cli): Promise<string> {
  const given = serverOf(cli)
  if (given !== undefined) return given.replace(/\/+$/, '')
  const { profiles, default: chosen } = await readConfigFile(cli.paths.config)
  const name = cli.globals.profile ?? (cli.io.env.STRONGROOM_PROFILE || chosen)
  const profile = name === undefined ? undefined : profiles[name]
  if (profile) return profile.server.replace(/\/+$/, '')
  throw new CliError('not_signed_in', 'this machine knows no server yet', {
    fix: 'strongroom init, or give --server URL',
  })
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
  args: { page: arg.maybe('console, activity, agents, vaults, projects, log, access, docs, errors') },
  flags: {},
  examples: [
    { run: 'strongroom open', does: 'the console' },
    { run: 'strongroom open activity', does: 'what happened' },
  ],
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
