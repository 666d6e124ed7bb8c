import { Type } from 'typebox'
import type { Cli } from '../../cli.ts'
import { ensureAllowed } from '../../project/allowed-tasks.ts'
import { type ProjectTask, requireTasks, taskNamed } from '../../project/tasks.ts'
import type { Order, Running } from '../../run/child.ts'
import { maskedValues } from '../../run/child-env.ts'
import { maskersOf } from '../../run/mask.ts'
import { findProgram } from '../../run/program.ts'
import type { RunFlags } from '../../run/run-child.ts'
import { keepTail } from '../output-tail.ts'
import { closed, tool } from '../tool.ts'

// A task of strongroom.toml for a model: the same reading, verifying and masking as `strongroom run`, with what it prints as the
// result. It has a process group of its own, so that nothing of it is left when it ends or is ended.

const MOST_BYTES = 32_768
const TIMEOUT_SECONDS = 600
const LONGEST_SECONDS = 3600
const GRACE_MS = 3000

const flagsOf = ({ env }: ProjectTask): RunFlags => ({
  vault: [],
  project: undefined,
  license: [],
  env: [],
  dotenv: [],
  'env-file': [],
  only: env ?? [],
  except: [],
  prefix: undefined,
  rename: [],
  fresh: undefined,
  'max-age': undefined,
  'clean-env': false,
  conflict: undefined,
  mask: 'always',
  mount: [],
  'mount-reads': undefined,
  stdin: undefined,
  watch: false,
  'on-change': undefined,
  receipt: undefined,
  grace: undefined,
})

/** Text is for a shell, as in package.json. */
const wordsOf = ({ run }: ProjectTask): readonly string[] => (typeof run === 'string' ? ['sh', '-c', run] : run)

/** Ends it when the signal comes: asked first, then made to. Also when this process ends before it. */
function endedWith(running: Running, signal: AbortSignal): { done(): void } {
  let killing: NodeJS.Timeout | undefined
  const kill = (): void => running.kill('SIGKILL')
  const end = (): void => {
    running.kill('SIGTERM')
    killing = setTimeout(kill, GRACE_MS)
  }
  process.once('exit', kill)
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  return {
    done: () => {
      signal.removeEventListener('abort', end)
      clearTimeout(killing)
      process.off('exit', kill)
      // What it has left behind has its variables, too.
      kill()
    },
  }
}

/** Everything that can be refused is refused before anything is started. */
async function prepared(cli: Cli, task: ProjectTask) {
  const { outfitOf, readSources } = await import('../../run/run-child.ts')
  const flags = flagsOf(task)
  const { read, cache } = await readSources(cli, flags, task.sources)
  const { env, variables } = await outfitOf(cli, flags, read)
  const values = maskedValues(variables)
  const [command = '', ...args] = wordsOf(task)
  findProgram(command, env.PATH, task.folder)
  const order: Order = {
    command,
    args,
    // Whoever reads what it prints is a coding agent: this program in it prints no values either.
    env: { ...env, STRONGROOM_AGENT_MODE: '1' },
    masker: maskersOf(() => values),
    input: new Uint8Array(),
    isApart: true,
  }
  cli.signal.throwIfAborted()
  return { order, cache, variables: [...variables.keys()].sort() }
}

async function runAllowed(cli: Cli, task: ProjectTask, timeoutSeconds: number) {
  const { order, cache, variables } = await prepared(cli, task)
  const { started } = await import('../../run/supervise.ts')
  const [stdout, stderr] = [keepTail(MOST_BYTES), keepTail(MOST_BYTES)]
  const io = { ...cli.io, cwd: task.folder, stdout: stdout.stream, stderr: stderr.stream }
  const running = await started({ io, paths: cli.paths }, order)
  const timeout = AbortSignal.timeout(timeoutSeconds * 1000)
  const watch = endedWith(running, AbortSignal.any([cli.signal, timeout]))
  try {
    await cache.flush()
    const { code, signal } = await running.ended
    const timedOut = timeout.aborted && !cli.signal.aborted
    const printed = { stdout: stdout.read(), stderr: stderr.read() }
    return { task: task.name, exitCode: code, signal, timedOut, ...printed, variables }
  } finally {
    watch.done()
  }
}

const output = closed({
  text: Type.String({ description: 'masked: a value reads as ‹NAME›' }),
  omittedBytes: Type.Integer({ description: 'how much stood before it' }),
})

export const runTask = tool({
  name: 'run_task',
  title: 'Run a task',
  description:
    'Runs a task of strongroom.toml with its variables, in the folder of the project, without input. Only a task that a person has allowed as it is now. What it prints comes back masked, the last 32 KiB of each stream, with its exit code. list_secrets names the tasks.',
  input: closed({
    task: Type.String({ minLength: 1, maxLength: 256 }),
    timeoutSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: LONGEST_SECONDS, default: TIMEOUT_SECONDS })),
  }),
  output: closed({
    task: Type.String(),
    exitCode: Type.Union([Type.Integer(), Type.Null()]),
    signal: Type.Union([Type.String(), Type.Null()]),
    timedOut: Type.Boolean(),
    stdout: output,
    stderr: output,
    variables: Type.Array(Type.String()),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  run: async (cli, { task: name, timeoutSeconds = TIMEOUT_SECONDS }) => {
    const task = taskNamed(await requireTasks(cli.io.cwd), name)
    await ensureAllowed(cli.paths, task)
    return runAllowed(cli, task, timeoutSeconds)
  },
})
