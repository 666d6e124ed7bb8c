import type { Io } from '../place/io.ts'
import { pathsOf } from '../place/paths.ts'
import { type Args, type Command, type Completes, type Flags, isGroup } from './command.ts'
import { GLOBALS } from './globals.ts'
import { TREE } from './tree.ts'

// What could come next on a command line that is being typed.

async function namesFor(what: Completes | undefined, io: Io): Promise<readonly string[]> {
  if (what === 'profile') {
    const { readConfigFile } = await import('../place/config-file.ts')
    return Object.keys((await readConfigFile(pathsOf(io.env).config)).profiles)
  }
  if (what === 'code') return Object.keys((await import('../errors/codes.ts')).CLI_CODES)
  if (what === 'call') {
    const { api, callsOf } = await import('@strongroom/contract')
    return [...callsOf(api).keys()]
  }
  if (what === 'command') return Object.keys(TREE)
  if (what === undefined || what === 'file') return []
  const { readNameIndex } = await import('../place/name-index.ts')
  return readNameIndex(pathsOf(io.env), what)
}

const flagNames = (flags: Flags): string[] => Object.keys(flags).map((name) => `--${name}`)

async function forCommand({ args, flags }: Command, before: readonly string[], io: Io): Promise<readonly string[]> {
  const all: Flags = { ...GLOBALS, ...flags }
  const last = before.at(-1) ?? ''
  const open = last.startsWith('--') && !last.includes('=') ? all[last.slice(2)] : undefined
  if (open && open.kind !== 'switch') return open.choices ?? namesFor(open.completes, io)
  const given = before.filter((word, i) => {
    const previous = before[i - 1] ?? ''
    const flag = previous.startsWith('--') ? all[previous.slice(2)] : undefined
    return !word.startsWith('-') && !(flag && flag.kind !== 'switch')
  })
  const wanted = argAt(args, given.length)
  const names = wanted ? (wanted.choices ?? (await namesFor(wanted.completes, io))) : []
  return [...names, ...flagNames(all)]
}

function argAt(args: Args, at: number) {
  const list = Object.values(args)
  return list[at] ?? (list.at(-1)?.kind === 'rest' ? list.at(-1) : undefined)
}

/** `words` without the name of the program; the last one is being typed. */
export async function complete(words: readonly string[], io: Io): Promise<readonly string[]> {
  const typed = words.at(-1) ?? ''
  const before = words.slice(0, -1)
  const [first, second] = before.filter((word) => !word.startsWith('-'))
  const candidates = async (): Promise<readonly string[]> => {
    if (first === undefined) return Object.keys(TREE)
    const noun = await TREE[first]?.load()
    if (!noun) return []
    if (!isGroup(noun)) return forCommand(noun, before.slice(before.indexOf(first) + 1), io)
    if (second === undefined) return Object.keys(noun.verbs)
    const command = noun.verbs[second]
    return command ? forCommand(command, before.slice(before.indexOf(second) + 1), io) : []
  }
  return (await candidates()).filter((name) => name.startsWith(typed))
}
