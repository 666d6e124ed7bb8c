import type { Args, Flags } from './command.ts'
import { GLOBALS } from './globals.ts'
import { TREE } from './tree.ts'
import { everyCommand } from './walk.ts'

// The whole command line on one page, for people and for programs.

const flagsOf = (flags: Flags) =>
  Object.entries(flags).map(([name, { kind, summary, value, choices }]) => ({
    name: `--${name}`,
    kind,
    summary,
    ...(value !== undefined && { value }),
    ...(choices && { choices }),
  }))

const argsOf = (args: Args) =>
  Object.entries(args).map(([name, { kind, summary, choices }]) => ({
    name,
    kind,
    summary,
    ...(choices && { choices }),
  }))

export async function mapOfEverything() {
  const commands = (await everyCommand()).map(({ path, command }) => ({
    path,
    summary: command.summary,
    args: argsOf(command.args),
    flags: flagsOf(command.flags),
    examples: command.examples,
    takesCommand: command.takesCommand ?? false,
  }))
  return { commands, flags: flagsOf(GLOBALS) }
}

/** A tree of names, one line each. */
export async function mapText(): Promise<string> {
  const all = await everyCommand()
  const lines = ['strongroom']
  const names = Object.keys(TREE).filter((name) => TREE[name]?.heading !== 'hidden')
  for (const [i, name] of names.entries()) {
    const verbs = all.filter(({ path }) => path.startsWith(`${name} `)).map(({ path }) => path.slice(name.length + 1))
    const branch = i === names.length - 1 ? '└─' : '├─'
    const what = verbs.length > 0 ? verbs.join(' · ') : (TREE[name]?.summary ?? '')
    lines.push(`${branch} ${name.padEnd(11)} ${what}`)
  }
  return lines.join('\n')
}
