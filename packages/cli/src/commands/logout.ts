import { type Cli, confirm } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { command } from '../model/command.ts'
import { readConfigFile } from '../place/config-file.ts'
import type { PersonSecrets } from '../place/credentials.ts'
import { forgetProfile } from '../place/sign-in.ts'
import { lock } from '../place/unlocked.ts'

/** Whether the server ended the session; if it cannot be asked, the session ends by itself. */
async function endSession(cli: Cli, name: string, server: string, deviceInstallationId?: string): Promise<boolean> {
  const kept = await (await cli.keyStore()).get(name).catch(() => undefined)
  if (kept === undefined) return false
  const { accessToken } = JSON.parse(kept) as PersonSecrets
  const { connect } = await import('@strongroom/sdk')
  const client = connect({ baseUrl: server, ...(deviceInstallationId && { deviceInstallationId }) }, { accessToken })
  return client.sessions.logout({}, { signal: cli.signal }).then(
    () => true,
    () => false,
  )
}

export const logout = command({
  summary: 'end the session and remove the keys from this machine',
  about:
    'The session ends at the server, and the secrets of the profile are removed here: to come back it takes the passphrase and the recovery kit. What was verified of the organisation is kept, so that a server cannot use the gap to go back in its history.',
  args: {},
  flags: {},
  examples: [
    { run: 'strongroom logout', does: 'asks first: you will need your recovery kit to come back' },
    { run: 'strongroom logout --profile checkout-bot --yes', does: 'forget the keys of an agent' },
  ],
  next: 'strongroom login --kit FILE',
  output: async () => (await import('../schemas/sign-in.ts')).logoutShape,
  run: async (cli) => {
    const { profiles, default: chosen } = await readConfigFile(cli.paths.config)
    const name = cli.globals.profile ?? (cli.io.env.STRONGROOM_PROFILE || chosen)
    const profile = name !== undefined && Object.hasOwn(profiles, name) ? profiles[name] : undefined
    if (name === undefined || profile === undefined)
      throw new CliError('profile_not_found', 'there is nobody to sign out', { fix: 'strongroom config profiles' })
    const isPerson = profile.kind === 'person'
    await confirm(
      cli,
      isPerson
        ? `The keys of ${profile.email} are removed from this machine; your recovery kit brings them back. Go on?`
        : `The keys of ${name} are removed from this machine. Go on?`,
    )
    const sessionEnded = isPerson && (await endSession(cli, name, profile.server, profile.device_id))
    await forgetProfile(cli, name)
    if (isPerson) await lock(cli.paths)
    const at = isPerson && !sessionEnded ? '; the server was not reached, and the session ends there by itself' : ''
    return {
      data: { profile: name, sessionEnded, profileRemoved: true },
      text: `${cli.style.good('✓')} signed out of "${name}"${at}`,
    }
  },
})
