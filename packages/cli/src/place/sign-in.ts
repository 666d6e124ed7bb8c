import { shellLine } from '@strongroom/contract'
import type { Person } from '@strongroom/sdk'
import { type Cli, isOffline } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { type Profile, readConfigFile, writeConfigFile } from './config-file.ts'
import type { PersonSecrets } from './credentials.ts'
import { passphraseFor } from './key-store.ts'

// A person's session on this machine: what is kept of it, and how it is renewed when it has ended.

interface SignedIn {
  readonly userId: string
  readonly accessToken: string
  readonly expiresAt: string
  readonly kdf: string
  exportPem(): { reveal(): string }
}

/** Secrets into the key store, everything else into the configuration; the first profile becomes the default. */
export async function keepPerson(
  cli: Cli,
  name: string,
  profile: Profile,
  person: SignedIn,
  deviceSecret: string,
): Promise<PersonSecrets> {
  const { accessToken, expiresAt, kdf, userId: user } = person
  const secrets: PersonSecrets = { deviceSecret, accessToken, expiresAt, privateKey: person.exportPem().reveal() }
  await (await cli.keyStore()).put(name, JSON.stringify(secrets))
  const { waiting: _, ...confirmed } = profile
  await keepProfile(cli, name, { ...confirmed, kdf, user })
  return secrets
}

/** Who has joined and is not confirmed yet is refused like one whose passphrase is wrong: the server tells nobody which it is. */
export async function explainingWait<T>(profile: Profile | undefined, work: () => Promise<T>): Promise<T> {
  return work().catch((cause: unknown) => {
    const { waiting, email = '' } = profile ?? {}
    if (!waiting || (cause as { code?: unknown }).code !== 'login_failed') throw cause
    throw new CliError(
      'not_confirmed',
      `the key of ${email} may not be confirmed yet, or the passphrase is not right`,
      {
        fix: shellLine`strongroom user endorse ${email}   is what an administrator types; then try again`,
        cause,
      },
    )
  })
}

export async function keepProfile(cli: Cli, name: string, profile: Profile, isDefault = false): Promise<void> {
  const { config } = cli.paths
  const before = await readConfigFile(config)
  await writeConfigFile(config, {
    ...before,
    default: isDefault ? name : (before.default ?? name),
    profiles: { ...before.profiles, [name]: profile },
  })
}

/** Its secrets and its entry in the configuration; what was verified of the organisation is kept. */
export async function forgetProfile(cli: Cli, name: string): Promise<void> {
  const { config } = cli.paths
  await (await cli.keyStore()).remove(name)
  const { profiles, default: chosen } = await readConfigFile(config)
  const { [name]: _, ...rest } = profiles
  await writeConfigFile(config, { ...(chosen !== undefined && chosen !== name && { default: chosen }), profiles: rest })
}

interface Opening {
  readonly passphrase: string
  readonly deviceSecret: string
  readonly server?: string
}

/** Of somebody this machine knows: held against what was pinned, under the name of this device. */
export async function openSession(
  profile: Profile,
  { passphrase, deviceSecret, server = profile.server }: Opening,
): Promise<Person> {
  const { login } = await import('@strongroom/sdk')
  return login({
    baseUrl: server,
    email: profile.email ?? '',
    passphrase,
    deviceSecret,
    trustAnchor: profile.trust_anchor,
    lastKdf: profile.kdf,
    deviceInstallationId: profile.device_id,
  })
}

/** The session is over: the passphrase opens a new one, with the device secret this machine keeps. */
export async function signInAgain(cli: Cli, name: string, profile: Profile): Promise<PersonSecrets> {
  const kept = await (await cli.keyStore()).get(name)
  const { email } = profile
  if (kept === undefined || email === undefined)
    throw new CliError('not_signed_in', `the keys of profile ${name} are not on this machine`, {
      fix: shellLine`strongroom login --profile ${name}`,
    })
  const { deviceSecret } = JSON.parse(kept) as PersonSecrets
  if (!hasPassphrase(cli))
    throw new CliError('session_expired', `the session of ${email} has ended`, { fix: 'strongroom login' })
  const passphrase = await passphraseFor(cli.keyPlace, `Passphrase of ${email}`)
  const person = await explainingWait(profile, () => openSession(profile, { passphrase, deviceSecret }))
  return keepPerson(cli, name, profile, person, deviceSecret)
}

const hasPassphrase = ({ isInteractive, io }: Cli): boolean =>
  isInteractive || Boolean(io.env.STRONGROOM_PASSPHRASE_FILE)

/** What did not reach the server; the SDK's errors are told by name, so that it is not loaded for this. */
const UNREACHED = ['TransportError', 'ConnectionError', 'TimeoutError']

/** Nobody used the session for a while. Without anybody to ask, or without the server, what was read before may still do. */
export async function renewIdle(cli: Cli, name: string, profile: Profile): Promise<PersonSecrets | undefined> {
  if (isOffline(cli) || !hasPassphrase(cli)) return undefined
  return signInAgain(cli, name, profile).catch((error: unknown) => {
    if (UNREACHED.includes((error as Error).name)) return undefined
    throw error
  })
}
