import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.ts'
import { startBackground } from './background.ts'
import type { Config } from './config.ts'
import type { Deps } from './context.ts'
import { type Database, openDatabase } from './db/database.ts'
import { migrate } from './db/migrate.ts'
import { type Logins, provideEmbeddedRoles, provideExternalRoles } from './db/roles.ts'
import { checkOwner, checkSettings, checkSight } from './db/settings.ts'
import { refusalOf } from './db/start-refusals.ts'
import { StartError } from './errors.ts'
import { checkChain } from './modules/funding/check-chain.ts'
import { unmark } from './operator/unfinished-restore.ts'
import { lockDataDirectory } from './postgres/data-lock.ts'
import { type EmbeddedPostgres, startEmbedded } from './postgres/embedded.ts'
import { makeRandomText } from './secrets/random-text.ts'
import { loadRootKey } from './secrets/root-key.ts'
import { loadPepper } from './secrets/server-secrets.ts'
import { makeLog } from './telemetry/log.ts'
import { makeTelemetry } from './telemetry/telemetry.ts'

// From a configuration to a listening server, and back. Each step is undone in reverse order, also when a later one fails.

export interface RunningServer {
  readonly url: string
  readonly deps: Deps
  /** Settles if PostgreSQL ends by itself. */
  readonly databaseDied: Promise<void>
  stop(): Promise<void>
}

export interface StartOptions {
  readonly config: Config
  readonly progress?: (step: string) => void
  /** Where the databases are, if not where the configuration says; what is opened is undone like every other step. */
  readonly provide?: typeof provideDatabase
}

/** Sealing, telemetry and removal of what is old: each one turn at a time. */
export const WORKER_POOL = 3

const CROCKFORD = Buffer.from('0123456789abcdefghjkmnpqrstvwxyz')
const randomCrockford = makeRandomText((random) => {
  for (let i = 0; i < random.length; i++) random[i] = CROCKFORD[(random[i] as number) & 31] as number
  return random.toString('latin1')
})
/** 110 random bits: unguessable, and shorter than a UUID. */
export const newId = (prefix: string): string => `${prefix}_${randomCrockford(22)}`

export async function start({
  config,
  progress = () => undefined,
  provide = provideDatabase,
}: StartOptions): Promise<RunningServer> {
  const undo: (() => Promise<void>)[] = []
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const { database, worker, databaseDied } = await provide(config, progress, undo)
    unmark(config.dataDirectory)
    const log = makeLog(config)
    const telemetry = makeTelemetry({ exportsSpans: config.otlpEndpoint !== undefined })
    const keeper = { database, rootKey: await loadRootKey(config, database), now: () => new Date() }
    const deps: Deps = { ...keeper, config, pepper: await loadPepper(keeper), log, telemetry, newId }
    await checkChain(config.chain)
    undo.push(startBackground(deps, worker))
    const app = buildApp(deps)
    undo.push(() => close(app))
    progress('opening the door')
    const url = await listen(app, config)
    return { url, deps, databaseDied, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

interface ProvidedDatabase {
  readonly database: Database
  readonly worker: Database
  readonly logins: Logins
  readonly databaseDied: Promise<void>
}

export async function provideDatabase(
  config: Config,
  progress: (step: string) => void,
  undo: (() => Promise<void>)[],
  { migrates }: { readonly migrates: boolean } = { migrates: true },
): Promise<ProvidedDatabase> {
  try {
    return await openIn(config, progress, undo, migrates)
  } catch (error) {
    throw refusalOf(error)
  }
}

async function openIn(
  config: Config,
  progress: (step: string) => void,
  undo: (() => Promise<void>)[],
  migrates: boolean,
): Promise<ProvidedDatabase> {
  const { logins, databaseDied } =
    config.databaseUrl === undefined
      ? await provideEmbedded(config, progress, undo)
      : {
          logins: await provideExternalRoles(config.databaseUrl, config.migrationUrl),
          databaseDied: new Promise<void>(() => undefined),
        }
  await migrate({ connection: logins.owner, progress, onlyCheck: !migrates })
  const database = openDatabase({ connection: logins.app, poolSize: config.poolSize }, () => undefined)
  undo.push(() => database.close())
  await checkSight(database.pool)
  await checkOwner(database.pool)
  await checkSettings(database.pool)
  const worker = openDatabase({ connection: logins.worker, poolSize: WORKER_POOL }, () => undefined)
  undo.push(() => worker.close())
  return { database, worker, logins, databaseDied }
}

async function provideEmbedded(
  config: Config,
  progress: (step: string) => void,
  undo: (() => Promise<void>)[],
): Promise<{ logins: Logins; databaseDied: Promise<void> }> {
  const lock = await lockDataDirectory(config.dataDirectory)
  undo.push(lock.release)
  const postgres: EmbeddedPostgres = await startEmbedded({ dataDirectory: config.dataDirectory, progress })
  undo.push(postgres.stop)
  const superuser = {
    host: postgres.socketDirectory,
    port: postgres.port,
    user: 'postgres',
    password: postgres.superuserPassword,
  }
  return { logins: await provideEmbeddedRoles(superuser), databaseDied: postgres.died }
}

/** Less than a supervisor gives us: PostgreSQL has to end in order after it. */
const REQUESTS_END_MS = 10_000

/** Finishes open requests. Whoever sends or takes nothing any more does not keep us: what is open by then is cut off. */
async function close(app: FastifyInstance): Promise<void> {
  const limit = setTimeout(() => app.server.closeAllConnections(), REQUESTS_END_MS)
  await app.close().finally(() => clearTimeout(limit))
}

async function listen(app: FastifyInstance, { host, port }: Config): Promise<string> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new StartError(
        'port_taken',
        `port ${port} on ${host} is taken`,
        `stop what listens there, or choose another: --port ${port + 1}`,
      )
    if (code === 'EACCES')
      throw new StartError('port_forbidden', `port ${port} may not be opened by this user`, 'choose a port above 1023')
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new StartError('host_unknown', `${host} is not an address of this machine`, 'choose another with --host')
    throw error
  }
  const address = app.server.address() as AddressInfo
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
}
