import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readConfig } from './config.ts'
import { consoleFolder, describeConsole } from './console/files.ts'
import { StartError } from './errors.ts'
import { provideSetupToken } from './modules/setup/token.ts'
import { type RunningServer, start } from './start.ts'

// Environment in, listening server out, clean shutdown. Words go to standard error; standard output carries the structured log.

const DRAIN_MS = 15_000

const say = (line: string): void => {
  process.stderr.write(`strongroom: ${line}\n`)
}

// Whoever read our words may be gone before us: that must not keep us from finishing open requests and stopping PostgreSQL.
process.stderr.on('error', () => undefined)

/** Stops once, however often it is asked to. */
function makeStop(server: RunningServer): (reason: string, exitCode: number) => void {
  let stopping = false
  return (reason, exitCode) => {
    if (stopping) return
    stopping = true
    say(reason)
    // Whatever still hangs after the drain time is cut, so that a supervisor never has to.
    setTimeout(() => process.exit(1), DRAIN_MS).unref()
    server.stop().then(
      () => process.exit(exitCode),
      () => process.exit(1),
    )
  }
}

/** A program that started us as its child hears what it needs without reading our words; when it is gone, so are we. */
function tellParent(server: RunningServer, setupToken: string | undefined, stop: ReturnType<typeof makeStop>): void {
  if (!process.send) return
  process.send({ type: 'ready', url: server.url, ...(setupToken !== undefined && { setupToken }) })
  process.once('disconnect', () => stop('the program that started us has ended', 0))
}

function welcome(server: RunningServer, setupToken: string | undefined): void {
  const { config } = server.deps
  say(`ready at ${server.url}`)
  say(`  console        ${describeConsole(consoleFolder(), server.url)}`)
  say(`  documentation  ${server.url}/docs`)
  say(`  data           ${config.databaseUrl === undefined ? config.dataDirectory : 'the PostgreSQL of DATABASE_URL'}`)
  if (setupToken !== undefined) {
    say(`  setup token    ${setupToken}`)
    say('                 there is no organisation yet: whoever shows this token founds it, once')
  }
  say('  stop           Ctrl-C')
}

/** Loading leaves a third of the memory to be collected, and an idle server has no reason to ever collect it. */
function tidyUp(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: object) => void
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

try {
  const server = await start({ config: readConfig(), progress: say })
  const stop = makeStop(server)
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.on(signal, () => stop(`${signal}: finishing open requests`, 0))
  void server.databaseDied.then(() => stop('PostgreSQL ended; so do we, to be started again', 1))
  const setupToken = await provideSetupToken(server.deps)
  welcome(server, setupToken)
  tellParent(server, setupToken, stop)
  tidyUp()
} catch (error) {
  if (!(error instanceof StartError)) throw error
  const { code, message, nextStep } = error
  process.send?.({ type: 'refused', code, message, nextStep })
  say(`cannot start: ${message}`)
  say(`  next step: ${nextStep}`)
  process.exitCode = 1
}
