import { CliError } from '../errors/cli-error.ts'
import { command, flag, rare } from '../model/command.ts'

const choices = <const T extends readonly string[]>(values: T): T => values

export const run = command({
  summary: 'run a command with secrets in its environment',
  about:
    'Reads the variables, verifies them, and starts the command. It has the same exit code and signals as without strongroom, keeps its terminal, and its output is masked: a value that is printed reads as its name. If strongroom itself fails before the command starts, the exit code is 125; 126 and 127 as in a shell. Verification cannot be switched off.',
  args: {},
  flags: {
    vault: flag.many('variables of this vault', 'NAME', { completes: 'vault' }),
    project: flag.text('variables of this project', 'NAME', { completes: 'project' }),
    env: flag.many('environment of strongroom.toml', 'NAME'),
    dotenv: flag.many('dotenv file with sr:// references', 'FILE', { completes: 'file' }),
    only: flag.many('only these variables', 'A,B'),
    watch: flag.on('follow changes of the secrets'),
    ...rare({
      license: flag.many('variables of this licence', 'NAME'),
      'env-file': flag.many('as --dotenv; Node itself reads it too: only for files you wrote', 'FILE', {
        completes: 'file',
      }),
      except: flag.many('not these variables', 'A,B'),
      prefix: flag.text('put this before every name', 'TEXT'),
      rename: flag.many('another name for a variable', 'OLD=NEW'),
      'clean-env': flag.on('nothing else but PATH, HOME, TERM and LANG'),
      conflict: flag.choice('who wins where a name is set already', choices(['error', 'vault', 'process'])),
      mask: flag.choice('mask values in the output; auto is always', choices(['auto', 'always', 'never'])),
      mount: flag.many('give the variables in a pipe at this path instead', 'PATH[:FORMAT]'),
      'mount-reads': flag.count('how often it may be read'),
      stdin: flag.text('write this secret to its standard input', 'REF', { completes: 'ref' }),
      'on-change': flag.text('with --watch: what to do then', 'restart|SIGHUP|exec:CMD'),
      fresh: flag.choice('when to ask the server rather than the cache', choices(['auto', 'always', 'never'])),
      'max-age': flag.duration('of a cached answer'),
      receipt: flag.text('write what proves the values', 'FILE', { completes: 'file' }),
      grace: flag.duration('kill it if it has not ended this long after SIGTERM', '10s'),
    }),
  },
  takesCommand: true,
  examples: [
    { run: 'strongroom run -- node server.js', does: 'with what strongroom.toml lists, or the only vault' },
    { run: 'strongroom run --vault prod --only DATABASE_URL -- psql', does: 'one variable of one vault' },
  ],
  next: 'strongroom verify',
  run: async (cli, { flags, rest }) => {
    const [program, ...args] = rest
    if (program === undefined)
      throw new CliError('command_missing', 'there is no command after --', { fix: 'strongroom run -- COMMAND' })
    const { runChild } = await import('../run/run-child.ts')
    return { data: undefined, exitCode: await runChild(cli, flags, program, args) }
  },
})
