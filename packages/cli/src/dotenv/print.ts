import type { Cli } from '../cli.ts'
import type { Result } from '../model/command.ts'
import { type Dialect, formatEnvironment, type Pair } from './format.ts'

interface Variable {
  readonly name: string
  readonly from: string
}

/** Values as a file, or for programs; who asks for JSON gets JSON, and the file as a text in it where a format was named. */
export async function printEnvironment(
  cli: Cli,
  format: Dialect | undefined,
  variables: readonly Variable[],
  values: readonly Pair[],
): Promise<Result | undefined> {
  if (cli.isJson && format === undefined) return { data: { variables, values: Object.fromEntries(values) } }
  const text = formatEnvironment(values, format ?? 'dotenv')
  if (cli.isJson) return { data: { variables, text } }
  await cli.data(text)
  return undefined
}
