import { ensureNotAgent } from '../cli.ts'
import { command, flag, rare } from '../model/command.ts'

const TYPES = ['json', 'yaml', 'toml', 'env', 'shell', 'xml', 'text'] as const

export const inject = command({
  summary: 'fill references into a template',
  about:
    'Replaces sr://vault/item/field, {{ sr://vault/item/field }} and {{ NAME }} of a variable, and escapes each value for the kind of file and the quotes around it. What cannot be written safely where it stands is an error, and nothing is written.',
  args: {},
  flags: {
    in: flag.text('the template, also -i; standard input if absent', 'FILE', { completes: 'file' }),
    out: flag.text('the file to write, also -o; standard output if absent', 'FILE', { completes: 'file' }),
    type: flag.choice('kind of file, if not by its ending', TYPES),
    vault: flag.many('variables of this vault', 'NAME', { completes: 'vault' }),
    project: flag.text('variables of this project', 'NAME', { completes: 'project' }),
    env: flag.many('environment of strongroom.toml', 'NAME'),
    dotenv: flag.many('dotenv file with sr:// references', 'FILE', { completes: 'file' }),
    ...rare({
      force: flag.on('replace a file that is there'),
      mode: flag.text('permissions of the file', '0600'),
      'env-file': flag.many('as --dotenv; Node itself reads it too: only for files you wrote', 'FILE', {
        completes: 'file',
      }),
      fresh: flag.choice('when to ask the server rather than the cache', ['auto', 'always', 'never'] as const),
      'max-age': flag.duration('of a cached answer'),
    }),
  },
  examples: [
    { run: 'strongroom inject -i config.yaml.tpl -o config.yaml', does: 'a file that only you can read' },
    { run: 'strongroom inject -i nginx.conf.tpl | sudo tee /etc/nginx/nginx.conf', does: 'to standard output' },
  ],
  next: 'strongroom run -- COMMAND',
  output: async () => (await import('../schemas/env.ts')).injectShape,
  run: async (cli, { flags }) => {
    ensureNotAgent(cli)
    const { injectTemplate } = await import('../run/inject-template.ts')
    return injectTemplate(cli, flags)
  },
})
