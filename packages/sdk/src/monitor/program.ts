import { stat } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { type Cosigner, makeCosigner, makeKeyFile, openKeyFile } from './cosigner.ts'
import { EXIT, type ExitCode } from './follow.ts'
import { UsageError } from './settings.ts'

// What the two programs have in common: words on standard error, data on standard output, an end by signal that is no failure.

export interface Program {
  readonly name: string
  readonly usage: string
  run(args: readonly string[], program: Running): Promise<ExitCode>
}

export interface Running {
  readonly signal: AbortSignal
  /** For people. */
  say(line: string): void
  /** For programs. */
  print(line: string): void
}

export async function runProgram({ name, usage, run }: Program): Promise<void> {
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort())
  const say = (line: string): void => void process.stderr.write(`${name}: ${line}\n`)
  const print = (line: string): void => void process.stdout.write(`${line}\n`)
  try {
    process.exitCode = await run(process.argv.slice(2), { signal: ending.signal, say, print })
  } catch (error) {
    say((error as Error).message)
    if (error instanceof UsageError) say(usage)
    process.exitCode = error instanceof UsageError ? EXIT.usage : EXIT.failed
  }
}

type Options = Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>

/** What stands behind an option that takes a text is that text. One hash in 64 begins with a dash, which `parseArgs` refuses in a word of its own. */
function joined(args: readonly string[], options: Options): string[] {
  const words: string[] = []
  for (let i = 0; i < args.length; i += 1) {
    const word = args[i] ?? ''
    const value = word.startsWith('--') && options[word.slice(2)]?.type === 'string' ? args[i + 1] : undefined
    if (value !== undefined) i += 1
    words.push(value === undefined ? word : `${word}=${value}`)
  }
  return words
}

export function readArguments<const T extends Options>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: joined(args, options), options, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** `key <file> --name <name>`: the verifier key of a key file, which is made if it is not there. */
export async function printKey(file: string, name: string, { print }: Running): Promise<ExitCode> {
  const isThere = await stat(file).then(
    () => true,
    () => false,
  )
  if (!isThere) await makeKeyFile(file)
  print(makeCosigner(name, await openKeyFile(file)).vkey)
  return EXIT.done
}

export const openCosigner = async ({ name, keyFile }: { name: string; keyFile: string }): Promise<Cosigner> =>
  makeCosigner(name, await openKeyFile(keyFile))
