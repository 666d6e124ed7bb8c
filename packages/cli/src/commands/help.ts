import { CliError } from '../errors/cli-error.ts'
import { arg, command, flag, isGroup } from '../model/command.ts'
import { TREE } from '../model/tree.ts'
import { unknownCommand } from '../model/unknown-command.ts'

const shapes = () => import('../schemas/machine.ts')

export const help = command({
  summary: 'help for a command, all commands, or the flags that work everywhere',
  args: { words: arg.rest('a command, `commands` or `flags`', { completes: 'command' }) },
  flags: { map: flag.on('the whole command line on one page') },
  examples: [
    { run: 'strongroom help run', does: 'all there is to say of one command' },
    { run: 'strongroom help commands', does: 'all of them, a line each' },
    { run: 'strongroom help --map --json', does: 'everything, for programs' },
  ],
  next: 'strongroom help commands',
  output: async () => (await shapes()).helpShape,
  run: async (cli, { args, flags }) => {
    if (flags.map) {
      const { mapOfEverything, mapText } = await import('../model/map.ts')
      return { data: await mapOfEverything(), text: await mapText() }
    }
    const { commandsHelp, flagsHelp, groupHelp, rootHelp, wholeHelp } = await import('../model/help.ts')
    const [first, second] = args.words
    const said = (text: string) => ({ data: { text }, text })
    if (first === undefined) return said(rootHelp(cli.style))
    if (first === 'flags') return said(flagsHelp(cli.style))
    if (first === 'commands') return said(commandsHelp(cli.style))
    const noun = Object.hasOwn(TREE, first) ? await TREE[first]?.load() : undefined
    if (!noun) throw unknownCommand(first, Object.keys(TREE), '')
    if (!isGroup(noun)) return said(wholeHelp(first, noun, cli.style))
    if (second === undefined) return said(groupHelp(first, noun, cli.style))
    const verb = Object.hasOwn(noun.verbs, second) ? noun.verbs[second] : undefined
    if (!verb) throw unknownCommand(second, Object.keys(noun.verbs), `${first} `)
    return said(wholeHelp(`${first} ${second}`, verb, cli.style))
  },
})

export const man = command({
  summary: 'the man page of a command',
  args: { words: arg.rest('a command', { completes: 'command' }) },
  flags: {},
  examples: [{ run: 'strongroom man run | man -l -', does: 'as a page' }],
  next: 'strongroom help commands',
  output: async () => (await shapes()).scriptShape,
  run: async (_, { args }) => {
    const { everyCommand } = await import('../model/walk.ts')
    const { manPage } = await import('../model/man.ts')
    const asked = args.words.join(' ')
    const found = (await everyCommand()).find(({ path }) => path === asked)
    if (!found) throw new CliError('usage', `there is no command ${asked}`, { fix: 'strongroom help --map' })
    const script = manPage(found.path, found.command)
    return { data: { script }, text: script }
  },
})
