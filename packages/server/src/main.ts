import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readConfig } from './config.ts'
import { unknownNames } from './config-names.ts'
import { consoleFolder, describeConsole } from './console/files.ts'
import { StartError } from './errors.ts'
import { provideSetupToken } from './modules/setup/token.ts'
import { keepOthersFromWriting } from './own-files.ts'
import { type RunningServer, start } from './start.ts'

// Environment in, listening server out, clean shutdown. Words go to standard error; standard output carries the structured log.

const DRAIN_MS = 15_000

const say = (line: string): void => {
  process.stderr.write(`strongroom: ${line}\n`)
}

// Whoever read our words may be gone before us: that must not keep us from finishing open requests and stopping PostgreSQL.
process.stderr.on('error', () => undefined)
keepOthersFromWriting()

const wanted = new AbortController()

/** Ends once, however often it is asked to, and also while it still starts: what was begun is undone first, PostgreSQL among it. */
function end(reason: string): void {
  if (wanted.signal.aborted) return
  say(reason)
  // Whatever still hangs after the drain time is cut, so that a supervisor never has to.
  setTimeout(() => process.exit(1), DRAIN_MS).unref()
  wanted.abort()
}

/** Each step begins with it, and none does any more once somebody wants the end. */
function progress(step: string): void {
  wanted.signal.throwIfAborted()
  say(step)
}

async function stopWhenWanted(server: RunningServer): Promise<void> {
  const asked = new Promise<0>((resolve) => {
    if (wanted.signal.aborted) resolve(0)
    wanted.signal.addEventListener('abort', () => resolve(0))
  })
  const exitCode = await Promise.race([asked, server.databaseDied.then(() => 1)])
  if (exitCode !== 0) end('PostgreSQL ended; so do we, to be started again')
  await server.stop().then(
    () => process.exit(exitCode),
    () => process.exit(1),
  )
}

/** A program that started us as its child hears what it needs without reading our words. */
function tellParent(message: object): void {
  if (process.connected) process.send?.(message)
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

function refuse({ code, message, nextStep }: StartError): void {
  tellParent({ type: 'refused', code, message, nextStep })
  say(`cannot start: ${message}`)
  say(`  next step: ${nextStep}`)
  process.exitCode = 1
}

/** Loading leaves a third of the memory to be collected, and an idle server has no reason to ever collect it. */
function tidyUp(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: object) => void
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
  process.on(signal, () => end(`${signal}: finishing open requests`))
// When the program that started us is gone, so are we.
if (process.send) process.once('disconnect', () => end('the program that started us has ended'))
// To listen for its end must not keep us, where we are refused.
process.channel?.unref()

try {
  const config = readConfig()
  for (const name of unknownNames(process.env)) say(`there is no setting ${name}: nothing reads it`)
  const server = await start({ config, progress })
  void stopWhenWanted(server)
  const setupToken = await provideSetupToken(server.deps)
  welcome(server, setupToken)
  tellParent({ type: 'ready', url: server.url, ...(setupToken !== undefined && { setupToken }) })
  tidyUp()
} catch (error) {
  // What is stopped under way fails, as it should.
  if (wanted.signal.aborted) process.exitCode = 0
  else if (error instanceof StartError) refuse(error)
  else throw error
}
