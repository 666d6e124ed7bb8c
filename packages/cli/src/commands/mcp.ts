import { PassThrough } from 'node:stream'
import { type Cli, makeCli } from '../cli.ts'
import { command } from '../model/command.ts'
import type { GlobalFlags } from '../model/globals.ts'
import { speakerFor } from '../output/speaker.ts'
import type { Io } from '../place/io.ts'
import { makeAsk } from '../prompt/ask.ts'
import { VERSION } from './version.ts'

/** What a tool sees of this process: nothing to read, and no way to the output, which belongs to the protocol. */
function ioForTools({ env, cwd, stderr }: Io): Io {
  const stdin = new PassThrough()
  stdin.end()
  return { argv: [], env, cwd, stdin: stdin as unknown as NodeJS.ReadStream, stdout: stderr, stderr }
}

/** As whoever this command was started as, asked anew at each call: a sign-in or a new key counts at once. Nobody is asked anything. */
function cliForTools({ io, globals: given }: Cli, signal: AbortSignal): Cli {
  const globals: GlobalFlags = { ...given, json: true, quiet: true, 'no-input': true, yes: false }
  const own = ioForTools(io)
  const speaker = speakerFor(own, globals)
  return makeCli({ io: own, globals, speaker, signal: () => signal, canBeEnded: true, ask: makeAsk(speaker) })
}

const ENDING: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP']

export const mcp = command({
  summary: 'serve a coding agent over standard input and output (Model Context Protocol)',
  about:
    'Started by the program in which a coding agent works, as the profile that is given. The agent can list names, run tasks that a person has allowed with `strongroom allow`, make values that nobody sees, and buy within its budgets. No tool returns a value, and there is no setting for that; what a task prints is masked. A task can still do anything with a value that a program can, and an agent that works as your user can read your files.',
  args: {},
  flags: {},
  examples: [
    { run: 'strongroom mcp --profile assistant', does: 'what .mcp.json starts: speaks JSON-RPC, one message a line' },
  ],
  next: 'strongroom allow TASK',
  output: async () => (await import('../schemas/mcp.ts')).messageShape,
  run: async (cli) => {
    const [{ serve }, { TOOLS }] = await Promise.all([import('../mcp/serve.ts'), import('../mcp/tools.ts')])
    if (cli.io.stdin.isTTY)
      cli.say(
        'strongroom: waits for JSON-RPC, one message a line; meant to be started by the program of a coding agent',
      )
    const controller = new AbortController()
    const end = (): void => controller.abort()
    for (const signal of ENDING) process.on(signal, end)
    try {
      const signal = AbortSignal.any([cli.signal, controller.signal])
      const cliFor = (one: AbortSignal): Cli => cliForTools(cli, one)
      await serve({ io: cli.io, version: VERSION, tools: TOOLS, cliFor, signal })
    } finally {
      for (const signal of ENDING) process.off(signal, end)
    }
    return undefined
  },
})
