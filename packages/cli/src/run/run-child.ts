import { fileCache, type Secret } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/codes.ts'
import { shownError } from '../errors/shown.ts'
import { type LateCache, lateCache } from '../place/late-cache.ts'
import { type FreshnessFlags, freshnessOf } from '../project/freshness.ts'
import { readNamedPart } from '../project/missing-reference.ts'
import { type Part, partsOf, type Read } from '../project/read-sources.ts'
import { envFilesIn, type Source, type SourceFlags, sourcesFor } from '../project/sources.ts'
import type { Ending, Order } from './child.ts'
import { maskedValues, ownEnvironment, revealed } from './child-env.ts'
import { endHurry } from './hurry.ts'
import { type Loaded, loadedFrom } from './loaded.ts'
import { maskersOf } from './mask.ts'
import type { Mount, MountOrder } from './mount.ts'
import type { OnChange } from './on-change.ts'
import { findProgram } from './program.ts'
import { type Conflict, forProcess, type ShapeFlags, shaped, unified } from './shape.ts'
import type { Supervised } from './supervise.ts'
import { isUnread } from './unread.ts'
import type { PartRead, Watching } from './watching.ts'

export interface RunFlags extends SourceFlags, ShapeFlags, FreshnessFlags {
  readonly 'clean-env': boolean
  readonly conflict: Conflict | undefined
  readonly mask: 'auto' | 'always' | 'never' | undefined
  readonly mount: readonly string[]
  readonly 'mount-reads': number | undefined
  readonly stdin: string | undefined
  readonly watch: boolean
  readonly 'on-change': string | undefined
  readonly receipt: string | undefined
  readonly grace: number | undefined
}

async function ensureSensible({ io, isAgent, globals }: Cli, flags: RunFlags): Promise<OnChange | undefined> {
  if (flags.receipt !== undefined) (await import('../place/given-file.ts')).ensureFolderFor({ io }, flags.receipt)
  if (flags.mask === 'never' && (isAgent || !io.stdout.isTTY))
    throw new CliError('mask_refused', 'unmasked output is for a person at a terminal', { fix: 'leave --mask out' })
  if (flags['on-change'] !== undefined && !flags.watch)
    throw new CliError('usage', '--on-change belongs to --watch', { fix: 'add --watch' })
  if (flags.watch && (globals.offline || flags.fresh !== undefined))
    throw new CliError('usage', '--watch asks the server, so it does not go with --offline or --fresh')
  if (flags['mount-reads'] !== undefined && flags.mount.length === 0)
    throw new CliError('usage', '--mount-reads belongs to --mount')
  return flags.watch ? (await import('./on-change.ts')).onChangeOf(flags['on-change']) : undefined
}

const isSourceGiven = (flags: RunFlags): boolean =>
  flags.vault.length + (flags.license ?? []).length + flags.env.length + envFilesIn(flags).length > 0 ||
  flags.project !== undefined

export interface Sources {
  readonly read: readonly PartRead[]
  readonly watching: Watching | undefined
  readonly input: Secret | undefined
  readonly cache: LateCache
}

const STDIN = 'stdin'
async function stdinPart(given: string): Promise<Part> {
  const { fieldPlace, referenceOf } = await import('../place/reference.ts')
  const ref = referenceOf(fieldPlace(given))
  return { source: { refs: { [STDIN]: ref } }, from: ref, options: {}, texts: {}, placeholders: {} }
}

/** Whoever only wants a secret on standard input asks for nothing else. */
const wantedSources = async (cli: Cli, flags: RunFlags): Promise<readonly Source[]> =>
  flags.stdin === undefined || isSourceGiven(flags) ? sourcesFor(cli, flags) : []

/** Reads and verifies; nothing is started yet. */
export async function readSources(cli: Cli, flags: RunFlags, sources: readonly Source[]): Promise<Sources> {
  try {
    return await readEach(cli, flags, sources)
  } finally {
    endHurry()
  }
}

async function readEach(cli: Cli, flags: RunFlags, sources: readonly Source[]): Promise<Sources> {
  const freshness = freshnessOf(cli, flags)
  const cache = lateCache(fileCache(cli.paths.cache))
  // A stream of changes needs Node's own web; one question does not.
  const network = flags.watch ? undefined : cli.io.leanWeb?.()
  const strongroom = await cli.strongroom({ ...(!flags.watch && { cache }), ...(network && { fetch: network }) })
  const parts = await partsOf(cli, strongroom, sources)
  const input =
    flags.stdin === undefined
      ? undefined
      : (await readNamedPart(cli, strongroom, await stdinPart(flags.stdin), freshness))?.get(STDIN)
  if (flags.watch) {
    const watching = await (await import('./watching.ts')).watchParts(cli, strongroom, parts)
    return { read: watching.first, watching, input, cache }
  }
  const read = await Promise.all(
    parts.map(async (part) => ({ part, bundle: await readNamedPart(cli, strongroom, part, freshness) })),
  )
  return { read, watching: undefined, input, cache }
}

/** What the child is started with; made anew with each change. */
export interface Outfit {
  readonly loaded: Loaded
  readonly variables: ReadonlyMap<string, Read>
  readonly env: Readonly<Record<string, string>>
}

function ensureNoNul(env: Readonly<Record<string, string>>): void {
  const [name] = Object.entries(env).find(([, value]) => value.includes('\0')) ?? []
  if (name !== undefined)
    throw new CliError('value_not_expressible', `${name} holds a NUL, which no environment can`, {
      fix: `leave it out with --except ${name}, or use strongroom file get`,
    })
}

export async function outfitOf(cli: Cli, flags: RunFlags, read: readonly PartRead[]): Promise<Outfit> {
  const { conflict = 'error' } = flags
  const loaded = loadedFrom(read, conflict)
  const unique = unified(shaped(loaded.reads, flags), conflict)
  const { profile } = await cli.credential()
  const own = ownEnvironment(cli.io.env, flags['clean-env'], profile?.bundle)
  const isMounted = flags.mount.length > 0
  const variables = isMounted ? unique : forProcess(unique, own, conflict)
  const values = revealed(variables)
  ensureNoNul(values)
  return { loaded, variables, env: isMounted ? own : { ...own, ...values } }
}

async function openMounts(cli: Cli, flags: RunFlags, outfit: () => Outfit): Promise<readonly Mount[]> {
  if (flags.mount.length === 0) return []
  const [{ mount, mountOrder }, { formatEnvironment }] = await Promise.all([
    import('./mount.ts'),
    import('../dotenv/format.ts'),
  ])
  const contentFor =
    ({ dialect }: MountOrder) =>
    (): string =>
      formatEnvironment(Object.entries(revealed(outfit().variables)), dialect)
  const opened: Mount[] = []
  for (const given of flags.mount) {
    const order = mountOrder(given, cli.io.cwd)
    // What the format cannot hold is refused before anything is started.
    contentFor(order)()
    opened.push(await mount(order, contentFor(order), flags['mount-reads']))
  }
  return opened
}

const counted = (variables: ReadonlyMap<string, Read>): number =>
  [...variables.values()].filter(({ value }) => typeof value !== 'string').length

async function announce(cli: Cli, flags: RunFlags, { loaded, variables }: Outfit, program: string): Promise<void> {
  const isSaid = Boolean(cli.io.stderr.isTTY) && !cli.isQuiet && !cli.isJson
  if (!isSaid && flags.receipt === undefined) return
  const { localNames, summaryLine, writeReceipt } = await import('./report.ts')
  if (flags.receipt !== undefined) await writeReceipt(cli, flags.receipt, loaded, variables, program)
  if (!isSaid) return
  const verified = { loaded, secrets: counted(variables), nameOf: await localNames(cli) }
  cli.say(cli.errorStyle.dim(summaryLine(verified, performance.now())))
}

interface Start {
  readonly program: string
  readonly args: readonly string[]
  readonly onChange: OnChange | undefined
}

async function startWith(cli: Cli, flags: RunFlags, sources: Sources, start: Start): Promise<Ending> {
  const { watching, input } = sources
  const { program, args, onChange } = start
  let outfit = await outfitOf(cli, flags, sources.read)
  let values = [...maskedValues(outfit.variables), ...(input ? [[STDIN, input.bytes()] as const] : [])]
  const isPlain = flags.mask === 'never' || values.length === 0 || isUnread(cli.io)
  const masker = isPlain ? undefined : maskersOf(() => values)
  const orderOf = ({ env }: Outfit): Order => ({ command: program, args, env, masker, input: input?.bytes() })
  const follow: Supervised['follow'] = (changed) =>
    watching?.follow((now) => {
      outfitOf(cli, flags, now).then(
        (next) => {
          outfit = next
          // What the child was told before it can still print.
          values = [...values, ...maskedValues(next.variables)]
          changed(orderOf(next))
        },
        (error: unknown) => cli.error(shownError(error)),
      )
    })
  const path = findProgram(program, outfit.env.PATH, cli.io.cwd)
  const mounts = await openMounts(cli, flags, () => outfit)
  try {
    await announce(cli, flags, outfit, program)
    const order = orderOf(outfit)
    const isOnlyStarted = !masker && !input && !watching && mounts.length === 0 && flags.grace === undefined
    if (isOnlyStarted && cli.io.become) {
      await sources.cache.flush()
      await cli.io.become(path, [program, ...args], order.env)
    }
    const onStarted = (): Promise<void> => sources.cache.flush()
    const { supervise } = await import('./supervise.ts')
    return await supervise(cli, { order, onStarted, graceMs: flags.grace, ...(onChange && { onChange, follow }) })
  } finally {
    await Promise.all(mounts.map((one) => one.close()))
  }
}

/** Starts the command and gives the exit code it ended with; dies of a signal the command died of. */
export async function runChild(cli: Cli, flags: RunFlags, program: string, args: readonly string[]): Promise<number> {
  const onChange = await ensureSensible(cli, flags)
  if (process.pid === 1 || process.ppid === 1) await (await import('./first-process.ts')).standBehindReaper(cli.io)
  let watching: Watching | undefined
  try {
    const sources = await readSources(cli, flags, await wantedSources(cli, flags))
    watching = sources.watching
    const ending = await startWith(cli, flags, sources, { program, args, onChange })
    watching?.stop()
    return await (await import('./ending.ts')).endLike(ending)
  } catch (error) {
    return refused(cli, error)
  } finally {
    watching?.stop()
  }
}

/** 126 and 127 are a shell's words for it; everything else that keeps a command from starting is 125. */
function refused(cli: Cli, error: unknown): number {
  const isOurs =
    error instanceof CliError && (error.code === 'command_not_found' || error.code === 'command_not_executable')
  if (!isOurs) throw error
  cli.error(shownError(error))
  return error.code === 'command_not_found' ? EXIT.commandNotFound : EXIT.notExecutable
}
