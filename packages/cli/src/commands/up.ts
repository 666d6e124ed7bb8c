import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { command, flag } from '../model/command.ts'
import { withProgress } from '../prompt/progress.ts'
import { dataPath, ensureReachable, ensureResettable, lookAt, resetData } from '../up/data-directory.ts'
import { addressesOf, programName, type UpState, upScreen } from '../up/screen.ts'
import type { ServerChild } from '../up/server-child.ts'
import { VERSION } from './version.ts'

// The server with everything embedded, as a child process that ends with this one.

const DEFAULT_PORT = 8420
const DEFAULT_HOST = '127.0.0.1'

interface Place {
  readonly host: string
  readonly port: number
  readonly data: string
  readonly url: string
}

/** An address to be asked at; a server that listens everywhere is asked at this machine. */
const addressOf = (host: string, port: number): string => {
  const asked = host === '0.0.0.0' || host === '::' ? DEFAULT_HOST : host
  return `http://${asked.includes(':') ? `[${asked}]` : asked}:${port}`
}

function placeOf(
  { io }: Cli,
  flags: { host?: string | undefined; port?: number | undefined; data?: string | undefined },
) {
  const given = io.env.STRONGROOM_PORT
  const port = flags.port ?? (given && /^\d{1,5}$/.test(given) ? Number(given) : DEFAULT_PORT)
  if (port < 1 || port > 65_535) throw new CliError('usage', '--port is a number from 1 to 65535')
  const host = flags.host ?? (io.env.STRONGROOM_HOST || DEFAULT_HOST)
  return { host, port, data: dataPath(io, flags.data), url: addressOf(host, port) }
}

async function reset(cli: Cli, data: string): Promise<void> {
  if (!(await ensureResettable(data, cli.io))) return cli.say(`there is nothing in ${data} to delete`)
  const [name = data] = data.split(/[\\/]/).filter(Boolean).slice(-1)
  if (!cli.globals.yes) {
    const question = `This deletes every vault in ${data}. Type ${name} to go on`
    if (!cli.isInteractive)
      throw new CliError('confirmation_required', `every vault in ${data} would be deleted`, {
        fix: 'give --yes if you are sure',
      })
    if ((await cli.ask.text(question, '--yes')) !== name) throw new CliError('cancelled', 'nothing was deleted')
  }
  await resetData(data)
  if (cli.isJson) cli.emit({ type: 'reset', data }, '')
  else cli.say(`deleted what was in ${data}`)
}

/** What is only for clients does not go to the server. */
const CLIENT_ONLY = /^STRONGROOM_(BUNDLE|API_KEY|PRIVATE_KEY|ACCESS_TOKEN|TRUST_ANCHOR|PASSPHRASE)(_FILE)?$/

const childEnv = ({ io, globals }: Cli): Record<string, string | undefined> => ({
  // Requests are logged where somebody wants to see them.
  STRONGROOM_LOG_LEVEL: globals.verbose ? 'info' : 'warn',
  ...Object.fromEntries(Object.entries(io.env).filter(([name]) => !CLIENT_ONLY.test(name))),
})

const hasConsole = (url: string): Promise<boolean> =>
  fetch(url, { method: 'GET', redirect: 'manual', signal: AbortSignal.timeout(2000) }).then(
    ({ ok }) => ok,
    () => false,
  )

function readyEvent(cli: Cli, type: 'ready' | 'running', state: UpState, more: object = {}) {
  const named = Object.fromEntries(addressesOf(state).map(([name, address]) => [name.toLowerCase(), address]))
  const next = `${programName(cli.io)} ${state.isSetUp ? 'login' : 'init'}`
  return { type, url: state.url, ...named, ...more, organisation: state.isSetUp, next }
}

/** True if the address is taken by a Strongroom server, which is said; refuses if by anything else. */
async function isRunning(cli: Cli, { url, port, data }: Place, wantsReset: boolean): Promise<boolean> {
  const { probe, refusedBy } = await import('../up/probe.ts')
  const found = await probe(url)
  if (found.kind === 'nothing') return false
  if (found.kind === 'refusing') throw refusedBy(url, found)
  if (found.kind === 'other')
    throw new CliError('port_taken', `port ${port} is taken by another program`, {
      fix: `stop that program, or choose another port: ${programName(cli.io)} up --port ${port + 1}`,
    })
  if (wantsReset) throw new CliError('reset_refused', `a server runs at ${url}`, { fix: 'stop it first, with Ctrl-C' })
  const { isSetUp } = found
  const state = { url, version: VERSION, data: lookAt(data), isSetUp, hasConsole: await hasConsole(url), io: cli.io }
  const next = `${programName(cli.io)} ${isSetUp ? 'login' : 'init'}`
  cli.emit(readyEvent(cli, 'running', state), `A Strongroom server runs at ${url} already.\n\nNext   ${next}`)
  return true
}

async function start(cli: Cli, { host, port, data }: Place) {
  const { findNode } = await import('../up/node-program.ts')
  const { findServerProgram } = await import('../up/server-program.ts')
  const { startServer } = await import('../up/server-child.ts')
  const program = findServerProgram()
  const node = await findNode(cli)
  return withProgress(cli, 'starting the server', (progress) =>
    startServer({
      node,
      program,
      args: ['--data', data, '--port', String(port), '--host', host],
      env: childEnv(cli),
      signal: cli.signal,
      onLine: (line) => {
        if (cli.globals.verbose) cli.io.stderr.write(`server: ${line}\n`)
        else progress.update(line.length > 100 ? 'starting the server' : line)
      },
    }),
  )
}

/** Settles when somebody wants the server to stop: Ctrl-C, --timeout, or a supervisor. */
function stopWanted({ signal }: Cli): { readonly wanted: Promise<'wanted'>; dispose(): void } {
  let onStop: () => void = () => undefined
  const wanted = new Promise<'wanted'>((resolve) => {
    onStop = () => resolve('wanted')
    signal.addEventListener('abort', onStop)
    for (const name of ['SIGTERM', 'SIGHUP'] as const) process.on(name, onStop)
  })
  return {
    wanted,
    dispose: () => {
      for (const name of ['SIGTERM', 'SIGHUP'] as const) process.off(name, onStop)
    },
  }
}

/** Only `init` asks for what is kept, for the setup token: without it there is no way to an organisation, otherwise it can be done without. */
async function keepForInit(cli: Cli, { url, pid, setupToken, stop }: ServerChild, data: string): Promise<void> {
  const { keepLocalServer } = await import('../up/local-server.ts')
  const kept = { url, pid, data, ...(setupToken !== undefined && { setupToken }) }
  await keepLocalServer(cli.paths, kept).catch(async (cause: unknown) => {
    if (!(cause instanceof CliError)) throw cause
    if (setupToken === undefined) return cli.say(`${cause.message}: other commands have to be told the address`)
    await stop()
    throw new CliError('file_unwritable', `the setup token cannot be kept for init: ${cause.message}`, {
      fix: 'set HOME or XDG_STATE_HOME to a folder of yours, for up and for init alike',
      cause,
    })
  })
}

async function serve(cli: Cli, place: Place): Promise<undefined> {
  const { forgetLocalServer } = await import('../up/local-server.ts')
  const data = lookAt(place.data)
  const stop = stopWanted(cli)
  try {
    const server = await start(cli, place)
    const { url, pid, setupToken } = server
    const isSetUp = setupToken === undefined
    const state = { url, version: VERSION, data, isSetUp, hasConsole: await hasConsole(url), io: cli.io }
    await keepForInit(cli, server, place.data)
    cli.emit(readyEvent(cli, 'ready', state, { data: place.data, pid }), upScreen(state, cli.style))
    const end = await Promise.race([stop.wanted, server.ended])
    if (end === 'wanted') await withProgress(cli, 'finishing open requests', server.stop)
    await forgetLocalServer(cli.paths, url).catch(() => undefined)
    // Ctrl-C reaches the server by itself too, and it may be the quicker one.
    if (end !== 'wanted' && end.code !== 0) await reportDeath(cli, server.lastLines(), end)
    if (cli.isJson) cli.emit({ type: 'stopped', url, data: place.data }, '')
    else cli.say(`\nstopped; the data is kept in ${place.data}`)
    return undefined
  } finally {
    stop.dispose()
  }
}

async function reportDeath(
  cli: Cli,
  lines: readonly string[],
  end: { code: number | null; signal: NodeJS.Signals | null },
) {
  const { died } = await import('../up/server-child.ts')
  for (const line of lines) cli.say(`  ${line}`)
  throw died(end, lines)
}

export const up = command({
  summary: 'start a server on this machine, with everything it needs',
  about:
    'Starts the server as a child process with an embedded PostgreSQL, an object store on disk and a key for its log, all in one directory. Nothing has to be configured. The one-time setup token is kept for `strongroom init`, readable by you alone, and removed once it was used.',
  args: {},
  flags: {
    port: flag.count('port to listen on; 8420 if not given', 'PORT'),
    host: flag.text('address to listen on; 127.0.0.1 if not given', 'HOST'),
    data: flag.text('directory with all data', 'DIR', { completes: 'file' }),
    reset: flag.on('delete the data first; asks for the name of the directory'),
  },
  examples: [
    { run: 'strongroom up', does: 'a server at http://127.0.0.1:8420; Ctrl-C stops it' },
    { run: 'strongroom up --data ./strongroom-data --port 9000', does: 'another one, with its data here' },
  ],
  next: 'strongroom init',
  output: async () => (await import('../schemas/up.ts')).upEventShape,
  run: async (cli, { flags }) => {
    const place = placeOf(cli, flags)
    if (await isRunning(cli, place, flags.reset)) return undefined
    ensureReachable(place.data, cli.io)
    if (flags.reset) await reset(cli, place.data)
    return serve(cli, place)
  },
})
