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

/** Runs it with --json; fails unless it ends well and prints what its schema says. */
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
  const wrong = [...Value.Errors(await output(), data)]
  if (wrong.length > 0) throw new Error(`${args.join(' ')}: ${JSON.stringify(wrong.slice(0, 3))}`)
  return data as T
}

/** A fingerprint with another last letter, whichever it has. */
export const mistyped = (fingerprint: string): string => fingerprint.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))
