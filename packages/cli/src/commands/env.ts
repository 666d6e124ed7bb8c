import { ensureNotAgent } from '../cli.ts'
import { command, flag, rare } from '../model/command.ts'

const FORMATS = ['dotenv', 'json', 'shell', 'docker', 'compose', 'systemd', 'github', 'yaml'] as const

export const env = command({
  summary: 'print variables for a program that reads files',
  about:
    'Prints values. What a format cannot hold so that its reader reads exactly the same, such as a line break for docker run --env-file, is an error. A process is better served with strongroom run.',
  args: {},
  flags: {
    format: flag.choice('for whom it is', FORMATS),
    names: flag.on('only the names, without values'),
    vault: flag.many('variables of this vault', 'NAME', { completes: 'vault' }),
    project: flag.text('variables of this project', 'NAME', { completes: 'project' }),
    env: flag.many('environment of strongroom.toml', 'NAME'),
    dotenv: flag.many('dotenv file with sr:// references', 'FILE', { completes: 'file' }),
    only: flag.many('only these variables', 'A,B'),
    ...rare({
      'env-file': flag.many('as --dotenv; Node itself reads it too: only for files you wrote', 'FILE', {
        completes: 'file',
      }),
      except: flag.many('not these variables', 'A,B'),
      prefix: flag.text('put this before every name', 'TEXT'),
      rename: flag.many('another name for a variable', 'OLD=NEW'),
      conflict: flag.choice('who wins where two sources give a name', ['error', 'vault', 'process'] as const),
      fresh: flag.choice('when to ask the server rather than the cache', ['auto', 'always', 'never'] as const),
      'max-age': flag.duration('of a cached answer'),
    }),
  },
  examples: [
    { run: 'strongroom env --names', does: 'which variables a process would get' },
    { run: 'strongroom env --vault prod --format docker > app.env', does: 'for docker run --env-file' },
  ],
  next: 'strongroom run -- COMMAND',
  output: async () => (await import('../schemas/env.ts')).envShape,
  run: async (cli, { flags }) => {
    if (!flags.names) ensureNotAgent(cli)
    const { environmentFor } = await import('../run/printed.ts')
    const { variables, pairs } = await environmentFor(cli, flags)
    const names = [...variables].map(([name, { from }]) => ({ name, from }))
    if (flags.names) return { data: { variables: names }, text: names.map(({ name }) => name).join('\n') }
    const { printEnvironment } = await import('../dotenv/print.ts')
    return printEnvironment(cli, flags.format, names, pairs())
  },
})
