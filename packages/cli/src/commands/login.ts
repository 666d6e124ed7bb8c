import { shellLine } from '@strongroom/contract'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { command, flag, type Result, rare } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { ensureProfileName, type Profile, readConfigFile } from '../place/config-file.ts'
import type { LoginFlags } from '../sign-in/login-flags.ts'

// Back in on this machine, in on a new one, back in with the recovery code, or as an agent with its bundle.

const profileFor = async ({ globals, io, paths }: Cli): Promise<readonly [string, Profile | undefined]> => {
  const { profiles, default: chosen } = await readConfigFile(paths.config)
  const name = ensureProfileName(globals.profile ?? (io.env.STRONGROOM_PROFILE || chosen || 'default'))
  return [name, Object.hasOwn(profiles, name) ? profiles[name] : undefined]
}

/** Whether this machine holds what a new session needs besides the passphrase. */
const isKept = async (cli: Cli, name: string, profile: Profile | undefined, flags: LoginFlags): Promise<boolean> => {
  const isOther = flags.email !== undefined && flags.email.toLowerCase() !== profile?.email?.toLowerCase()
  if (profile?.kind !== 'person' || isOther || flags.kit !== undefined || flags.recover) return false
  return (await (await cli.keyStore()).get(name)) !== undefined
}

async function run(cli: Cli, flags: LoginFlags): Promise<Result> {
  const [name, profile] = await profileFor(cli)
  if (flags.bundle !== undefined) {
    const { saveBundle } = await import('../sign-in/save-bundle.ts')
    return saveBundle(cli, cli.globals.profile, flags)
  }
  const people = await import('../sign-in/person-login.ts')
  if (flags.recover) return people.recoverPerson(cli, name, profile, flags)
  if (await isKept(cli, name, profile, flags)) return people.renewSession(cli, name, profile as Profile, flags)
  if (profile?.kind === 'agent')
    throw new CliError('usage', `profile ${safeText(name)} is an agent`, {
      fix: shellLine`strongroom login --profile ${name} --bundle FILE, or another --profile`,
    })
  return people.loginHere(cli, name, profile, flags)
}

export const login = command({
  summary: 'sign in, on this machine or on a new one; or save the bundle of an agent',
  about:
    'On a machine that knows you, the passphrase is enough. On a new one it takes the device secret too: give the recovery kit, or type it. With the recovery code you get in without the passphrase and choose another one; then there is a new kit, and the old one is worthless.',
  args: {},
  flags: {
    email: flag.text('your email', 'EMAIL'),
    kit: flag.text('your recovery kit', 'FILE', { completes: 'file' }),
    'passphrase-file': flag.text('file with the passphrase, - for standard input', 'FILE', { completes: 'file' }),
    recover: flag.on('with the recovery code, and a new passphrase'),
    bundle: flag.text('save the bundle of an agent; - for standard input', 'FILE', { completes: 'file' }),
    ...rare({
      'device-secret-file': flag.text('file with the device secret SRD1-…', 'FILE', { completes: 'file' }),
      'recovery-code-file': flag.text('file with the recovery code SRR1-…', 'FILE', { completes: 'file' }),
      'new-kit': flag.text('where the new recovery kit is written, with --recover', 'FILE', { completes: 'file' }),
    }),
  },
  examples: [
    { run: 'strongroom login', does: 'a new session on this machine' },
    { run: 'strongroom login --kit northwind-recovery.txt', does: 'on a new machine' },
    { run: 'strongroom login --bundle checkout-bot.bundle --profile checkout-bot', does: 'as an agent' },
  ],
  next: 'strongroom whoami',
  output: async () => (await import('../schemas/sign-in.ts')).loginShape,
  run: (cli, { flags }) => run(cli, flags),
})
