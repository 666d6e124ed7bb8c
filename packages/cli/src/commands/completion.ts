import { arg, command } from '../model/command.ts'
import { completionScript, SHELLS, type Shell } from '../model/completion.ts'

export const completion = command({
  summary: 'completions for your shell, with the names of your vaults and agents',
  args: { shell: arg.one(SHELLS.join(', '), { choices: SHELLS }) },
  flags: {},
  examples: [
    { run: 'strongroom completion bash >> ~/.bashrc', does: 'for bash' },
    { run: 'strongroom completion fish > ~/.config/fish/completions/strongroom.fish', does: 'for fish' },
  ],
  next: 'strongroom help commands',
  output: async () => (await import('../schemas/machine.ts')).scriptShape,
  run: async (_, { args }) => {
    const script = completionScript(args.shell as Shell)
    return { data: { script }, text: script }
  },
})

/** Asked by those scripts. */
export const completing = command({
  summary: 'what could come next; asked by completion scripts',
  args: { words: arg.rest('the line that is being typed') },
  flags: {},
  examples: [{ run: 'strongroom __complete -- vault l', does: 'list' }],
  next: 'strongroom completion SHELL',
  output: async () => (await import('../schemas/machine.ts')).namesShape,
  run: async (cli, { args }) => {
    const { complete } = await import('../model/complete.ts')
    const names = await complete(args.words, cli.io)
    return { data: names, ...(names.length > 0 && { text: names.join('\n') }) }
  },
})
