import { makeCli, serverOf } from './cli.ts'
import { CliError } from './errors/cli-error.ts'
import { EXIT } from './errors/codes.ts'
import { shownError } from './errors/shown.ts'
import { type Command, isGroup, type Noun } from './model/command.ts'
import type { GlobalFlags } from './model/globals.ts'
import { findPath, globalsOf, parseInput } from './model/parse.ts'
import { TREE } from './model/tree.ts'
import { unknownCommand } from './model/unknown-command.ts'
import { type Speaker, speakerFor } from './output/speaker.ts'
import type { Io } from './place/io.ts'
import { LONGEST_TIMER_MS } from './place/timer.ts'
import { makeAsk } from './prompt/ask.ts'

// argv → one command → what it prints → the exit code.

interface Found {
  /** As it is typed: `vault list`. */
  readonly path: string
  readonly noun: Noun
  readonly command: Command | undefined
  readonly argv: readonly string[]
}

const without = (argv: readonly string[], at: readonly number[]): string[] => argv.filter((_, i) => !at.includes(i))

/** What people type out of habit. */
const HABITS: Readonly<Record<string, readonly string[]>> = { '--map': ['help', '--map'], '--version': ['version'] }

function withoutHabits(argv: readonly string[]): readonly string[] {
  const habit = argv.find((word) => Object.hasOwn(HABITS, word))
  const isAlone = habit !== undefined && findPath(argv).path.length === 0
  return isAlone ? [...(HABITS[habit] ?? []), ...argv.filter((word) => word !== habit)] : argv
}

async function findCommand(given: readonly string[]): Promise<Found | undefined> {
  const argv = withoutHabits(given)
  const { path, at } = findPath(argv)
  const [first, second] = path
  if (first === undefined) return undefined
  const entry = Object.hasOwn(TREE, first) ? TREE[first] : undefined
  if (!entry) throw unknownCommand(first, Object.keys(TREE), '')
  const noun = await entry.load()
  if (!isGroup(noun)) return { path: first, noun, command: noun, argv: without(argv, at.slice(0, 1)) }
  if (second === undefined) return { path: first, noun, command: undefined, argv: without(argv, at.slice(0, 1)) }
  const command = Object.hasOwn(noun.verbs, second) ? noun.verbs[second] : undefined
  if (!command) throw unknownCommand(second, Object.keys(noun.verbs), `${first} `)
  return { path: `${first} ${second}`, noun, command, argv: without(argv, at) }
}

async function printHelp({ io, speaker }: Place, found: Found | undefined): Promise<number> {
  const { commandHelp, groupHelp, rootHelp } = await import('./model/help.ts')
  const { style } = speaker
  if (!found) io.stdout.write(`${rootHelp(style)}\n`)
  else if (found.command) io.stdout.write(`${commandHelp(found.path, found.command, style)}\n`)
  else if (isGroup(found.noun)) io.stdout.write(`${groupHelp(found.path, found.noun, style)}\n`)
  return EXIT.ok
}

interface Place {
  readonly io: Io
  readonly globals: GlobalFlags
  readonly speaker: Speaker
}

/**
 * Ctrl-C once ends the work, and --timeout does; what was begun is told to stop through the signal. Made when it is first asked for,
 * since a command that becomes another is over before.
 */
function controllerFor({ timeout }: GlobalFlags): () => AbortController {
  let made: AbortController | undefined
  const controller = (): AbortController => {
    made ??= new AbortController()
    return made
  }
  if (timeout !== undefined)
    setTimeout(
      () =>
        controller().abort(
          new CliError('timeout', 'the time was over', { fix: 'give a longer --timeout, such as 30s' }),
        ),
      Math.min(timeout, LONGEST_TIMER_MS),
    ).unref()
  return controller
}

/** What cannot answer without the server says so, rather than ask it all the same. */
function ensureOffline({ offline }: GlobalFlags, path: string): void {
  const [noun = ''] = path.split(' ')
  if (!offline || TREE[noun]?.offline) return
  throw new CliError('usage', `strongroom ${path} needs the server, so it does not go with --offline`, {
    fix: 'leave --offline out; run, env, inject and read answer from what was read before',
  })
}

async function runCommand(
  place: Place,
  { command, path }: Found & { command: Command },
  found: Found,
): Promise<number> {
  const { io } = place
  const { input, globals } = parseInput(found.argv, command, path)
  const speaker = speakerFor(io, globals)
  if (globals.help) return printHelp({ ...place, speaker }, found)
  if (globals.schema) return printSchema(io, command)
  ensureOffline(globals, path)
  const controller = controllerFor(globals)
  // A command that hands its terminal to a child takes the signals itself.
  const onInterrupt = (): void => controller().abort(new CliError('interrupted', 'interrupted'))
  if (!command.takesCommand) process.once('SIGINT', onInterrupt)
  const canBeEnded = !command.takesCommand || globals.timeout !== undefined
  const signal = (): AbortSignal => controller().signal
  const cli = makeCli({ io, globals, speaker, canBeEnded, signal, ask: makeAsk(speaker) })
  try {
    const result = await command.run(cli, input)
    // A command whose output is its child's has none of its own.
    if (result && (result.data !== undefined || result.text !== undefined)) speaker.result(result)
    return result?.exitCode ?? EXIT.ok
  } catch (error) {
    // What the SDK says of an abort is less than why it was aborted.
    const { aborted: isAborted, reason: why } = signal()
    const reason: unknown = isAborted ? why : error
    const shown = shownError(reason instanceof CliError ? reason : error, await addressOf(cli))
    speaker.error(shown)
    return command.takesCommand ? EXIT.notStarted : shown.exitCode
  } finally {
    process.off('SIGINT', onInterrupt)
  }
}

const addressOf = async (cli: ReturnType<typeof makeCli>): Promise<string | undefined> => {
  const given = serverOf(cli)
  if (given !== undefined) return given.replace(/\/+$/, '')
  return cli.credential().then(
    ({ profile }) => profile?.server,
    () => undefined,
  )
}

async function printSchema({ stdout }: Io, { output }: Command): Promise<number> {
  if (!output) throw new CliError('usage', 'this command prints no JSON of its own')
  stdout.write(`${JSON.stringify(await output(), null, 2)}\n`)
  return EXIT.ok
}

/** Runs one command line; whatever happens, there is an exit code and at most one error. */
export async function runCli(io: Io): Promise<number> {
  const globals = globalsOf(io.argv)
  const speaker = speakerFor(io, globals)
  const place = { io, globals, speaker }
  let found: Found | undefined
  try {
    found = await findCommand(io.argv)
    if (!found?.command) {
      const isAsked = found === undefined || globals.help
      await printHelp(place, found)
      return isAsked ? EXIT.ok : EXIT.usage
    }
    return await runCommand(place, { ...found, command: found.command }, found)
  } catch (error) {
    const shown = shownError(error)
    speaker.error(shown)
    return found?.command?.takesCommand ? EXIT.notStarted : shown.exitCode
  }
}
