import { type Static, type TObject, type TProperties, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { shownError } from '../errors/shown.ts'

// A tool is a command for a model: what it takes, what it gives, and nothing else. What it gives is looked at before it leaves: a
// member that its shape does not name never reaches the model.

export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: TObject
  readonly output: TObject
  readonly annotations: Annotations
  run(cli: Cli, args: unknown): Promise<unknown>
}

/** Hints for the client, as MCP names them. */
interface Annotations {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

export const LOOKS: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
}

export const closed = <T extends TProperties>(members: T): TObject<T> =>
  Type.Object(members, { additionalProperties: false })

type Plain<T> = T extends readonly (infer E)[]
  ? readonly Plain<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Plain<T[K]> }
    : T

interface Definition<I extends TObject, O extends TObject> extends Omit<Tool, 'input' | 'output' | 'run'> {
  readonly input: I
  readonly output: O
  run(cli: Cli, args: Static<I>): Promise<Plain<Static<O>>>
}

/** Only the compiler sees this: it ties what `run` gets and gives to the two shapes. */
export const tool = <I extends TObject, O extends TObject>(definition: Definition<I, O>): Tool =>
  definition as unknown as Tool

export interface ToolResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }]
  readonly structuredContent?: unknown
  readonly isError?: true
}

/** Where and what, never the value: it could be a secret in the wrong place. */
function ensureInput({ name, input }: Tool, args: unknown): void {
  const [first] = Value.Check(input, args) ? [] : Value.Errors(input, args)
  if (!first) return
  const known = Object.keys(input.properties).join(', ')
  const [, member] = /^\/(\w{1,32})/.exec(first.instancePath) ?? []
  const where = member !== undefined && Object.hasOwn(input.properties, member) ? `${member} ` : ''
  throw new CliError('usage', `${name} does not take these arguments: ${where}${first.message}`, {
    fix: known === '' ? 'it takes no arguments' : `it takes ${known}; tools/list has their shapes`,
  })
}

function ensureOutput({ output }: Tool, data: unknown): void {
  if (!Value.Check(output, data)) throw new CliError('unexpected', 'the answer has not the shape that was promised')
}

const text = (value: unknown): ToolResult['content'] => [{ type: 'text', text: JSON.stringify(value) }]

/** Runs a tool; what it refuses has the codes of the command line, and is for the model to read. */
export async function callTool(tool: Tool, cli: Cli, args: unknown): Promise<ToolResult> {
  try {
    ensureInput(tool, args)
    const data = await tool.run(cli, args)
    ensureOutput(tool, data)
    return { content: text(data), structuredContent: data }
  } catch (error) {
    const { exitCode: _, ...shown } = shownError(error)
    return { content: text({ error: shown }), isError: true }
  }
}
