import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { type Command, isGroup } from '../src/model/command.ts'
import { TREE } from '../src/model/tree.ts'
import type { Ended, Machine } from './world.ts'

/** A command by the words it is typed with. */
export async function commandAt(words: readonly string[]): Promise<Command> {
  const [noun = '', verb = ''] = words
  const found = await TREE[noun]?.load()
  const command = found && isGroup(found) ? found.verbs[verb] : found
  if (!command || isGroup(command)) throw new Error(`there is no command ${words.join(' ')}`)
  return command
}

const isOf = (schema: unknown, value: unknown): boolean => Value.Check(schema as TSchema, value)

/** Members that nothing in a schema names; of a union it takes the form that knows the most. */
export function unnamed(schema: unknown, value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  const { anyOf, items, properties } = schema as { anyOf?: unknown[]; items?: unknown; properties?: object }
  if (anyOf) {
    const each = anyOf.filter((one) => isOf(one, value)).map((one) => unnamed(one, value, path))
    return each.sort((a, b) => a.length - b.length)[0] ?? []
  }
  if (Array.isArray(value)) return items === undefined ? [] : value.flatMap((one) => unnamed(items, one, `${path}[]`))
  if (!properties) return []
  const known = new Map<string, unknown>(Object.entries(properties))
  return Object.entries(value).flatMap(([name, one]) =>
    known.has(name) ? unnamed(known.get(name), one, `${path}.${name}`) : [`${path}.${name}`],
  )
}

/** Runs it with --json; fails unless it ends well and prints what its schema says, and nothing that it does not name. */
export async function jsonOf<T>(
  machine: Machine,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<T> {
  const ended: Ended = await machine.call([...args, '--json'], { env })
  if (ended.code !== 0) throw new Error(`${args.join(' ')} ended with ${ended.code}: ${ended.stderr}`)
  const { data } = ended.json()
  const { output } = await commandAt(args)
  if (!output) throw new Error(`${args.join(' ')} has no schema`)
  const schema = await output()
  const wrong = [...Value.Errors(schema, data), ...unnamed(schema, data)]
  if (wrong.length > 0) throw new Error(`${args.join(' ')}: ${JSON.stringify(wrong.slice(0, 3))}`)
  return data as T
}

/** A fingerprint with another last letter, whichever it has. */
export const mistyped = (fingerprint: string): string => fingerprint.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))
