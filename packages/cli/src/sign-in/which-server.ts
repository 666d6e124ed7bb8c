import { type Cli, serverOf } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { localServers } from '../up/local-server.ts'
import { type Probed, probe, refusedBy } from '../up/probe.ts'
import { programName } from '../up/screen.ts'

const DEFAULT_URL = 'http://127.0.0.1:8420'

export interface FoundServer {
  readonly url: string
  readonly isSetUp: boolean
}

function notThere(cli: Cli, url: string, found: Probed): CliError {
  if (found.kind === 'refusing') return refusedBy(url, found)
  const isLocal = /^https?:\/\/(127\.|localhost|\[::1\])/.test(url)
  const start = `${programName(cli.io)} up`
  return new CliError('server_not_running', `no Strongroom server answers at ${url}`, {
    fix: isLocal ? `start one: ${start}` : `check the address given with --server, or start one here: ${start}`,
    details: { url, found: found.kind },
  })
}

async function ensureServer(cli: Cli, given: string): Promise<FoundServer> {
  const url = given.replace(/\/+$/, '')
  if (!/^https?:\/\/[^/?#@\s]+$/.test(url))
    throw new CliError('usage', 'the address of a server is written https://host', { fix: 'without a path or a user' })
  const found = await probe(url, 10_000)
  if (found.kind !== 'strongroom') throw notThere(cli, url, found)
  return { url, isSetUp: found.isSetUp }
}

/** The server that is meant: the one given, one that `up` started here, or the default address. */
export async function whichServer(cli: Cli): Promise<FoundServer> {
  const given = serverOf(cli)
  if (given !== undefined) return ensureServer(cli, given)
  const here = [...(await localServers(cli.paths)).map(({ url }) => url), DEFAULT_URL]
  const live: FoundServer[] = []
  for (const url of new Set(here)) {
    const found = await probe(url)
    if (found.kind === 'strongroom') live.push({ url, isSetUp: found.isSetUp })
  }
  const [first, ...others] = live
  if (first && others.length > 0 && !cli.isInteractive)
    throw new CliError('input_required', `several servers run here: ${live.map(({ url }) => url).join(', ')}`, {
      fix: 'give --server URL',
    })
  for (const one of live) {
    if (!cli.isInteractive || (await cli.ask.yes(`Found a local server at ${one.url}. Use it?`))) return one
  }
  if (!cli.isInteractive) throw notThere(cli, DEFAULT_URL, { kind: 'nothing', reason: '' })
  return ensureServer(cli, await cli.ask.text('Address of the server', '--server URL', { initial: 'https://' }))
}
