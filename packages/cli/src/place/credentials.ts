import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shellLine } from '@strongroom/contract'
import type { StrongroomOptions } from '@strongroom/sdk'
import { CliError } from '../errors/cli-error.ts'
import { nearest } from '../model/nearest.ts'
import { type Profile, readConfigFile } from './config-file.ts'
import type { Io } from './io.ts'
import type { KeyStore } from './key-store.ts'
import type { Paths } from './paths.ts'
import { readIfThere } from './private-file.ts'
import { isIdle, noteUse } from './session-use.ts'

// Who this command acts as. A flag wins over the environment, the environment over systemd, systemd over the profiles of this
// machine; nothing is mixed from two of them.

export type CredentialSource = 'profile' | 'environment' | 'systemd'

export interface Credential {
  readonly source: CredentialSource
  /** Absent where it came from the environment. */
  readonly profileName?: string
  readonly profile?: Profile
  /** Absent: the SDK reads the environment by itself. */
  readonly options?: StrongroomOptions
}

/** What the key store holds for a person. */
export interface PersonSecrets {
  readonly deviceSecret: string
  readonly accessToken: string
  readonly expiresAt: string
  readonly privateKey: string
}

export interface CredentialPlace {
  readonly io: Io
  readonly paths: Paths
  /** `--profile` */
  readonly wanted: string | undefined
  keyStore(): Promise<KeyStore>
  /** Whether nothing but what was read before may answer: a session is not used then. */
  readonly isOffline: boolean
  /** Asks a person for their passphrase and keeps the new session; refuses where there is nobody. */
  signInAgain(name: string, profile: Profile): Promise<PersonSecrets>
  /** The same where that is no trouble to anybody; nothing where there is nobody, or no server. */
  renewIdle(name: string, profile: Profile): Promise<PersonSecrets | undefined>
}

const PARTS = ['STRONGROOM_API_KEY', 'STRONGROOM_PRIVATE_KEY', 'STRONGROOM_TRUST_ANCHOR']
const isGiven = (env: Io['env'], name: string): boolean => Boolean(env[name] || env[`${name}_FILE`])

function fromEnvironment({ env }: Io): Credential | undefined {
  const isThere = isGiven(env, 'STRONGROOM_BUNDLE') || PARTS.some((name) => isGiven(env, name))
  return isThere ? { source: 'environment' } : undefined
}

function fromSystemd({ env }: Io): Credential | undefined {
  const folder = env.CREDENTIALS_DIRECTORY
  if (!folder) return undefined
  try {
    return { source: 'systemd', options: { bundle: readFileSync(join(folder, 'strongroom.bundle'), 'utf8').trim() } }
  } catch {
    return undefined
  }
}

async function bundleOf({ io, keyStore }: CredentialPlace, name: string, from: string): Promise<string> {
  if (from === 'keys') {
    const kept = await (await keyStore()).get(name)
    if (kept !== undefined) return kept
    throw new CliError('not_signed_in', `the keys of profile ${name} are not on this machine`, {
      fix: shellLine`strongroom login --profile ${name} --bundle FILE`,
    })
  }
  if (from.startsWith('env:')) {
    const given = io.env[from.slice('env:'.length)]
    if (given) return given
    throw new CliError('not_signed_in', `profile ${name} takes its bundle from ${from.slice(4)}, which is not set`)
  }
  const text = from.startsWith('file:') ? await readIfThere(from.slice('file:'.length)) : undefined
  if (text !== undefined) return text.trim()
  throw new CliError('not_signed_in', `the file with the bundle of profile ${name} is not there`, {
    fix: 'check `bundle` in the configuration: strongroom config path',
  })
}

const SOON_MS = 60_000

/** The session of this machine, or another where that one is over. */
async function sessionOf(place: CredentialPlace, name: string, profile: Profile): Promise<PersonSecrets> {
  const kept = await (await place.keyStore()).get(name)
  const before = kept === undefined ? undefined : (JSON.parse(kept) as PersonSecrets)
  const used = async (secrets: PersonSecrets): Promise<PersonSecrets> => {
    if (!place.isOffline) await noteUse(place.paths, name, secrets.accessToken)
    return secrets
  }
  if (!before || Date.parse(before.expiresAt) < Date.now() + SOON_MS)
    return used(await place.signInAgain(name, profile))
  if (!(await isIdle(place.paths, name, before.accessToken))) return used(before)
  const renewed = await place.renewIdle(name, profile)
  // What could not be renewed is tried all the same, and does not count as used.
  return renewed ? used(renewed) : before
}

async function personOptions(place: CredentialPlace, name: string, profile: Profile): Promise<StrongroomOptions> {
  const { accessToken, privateKey } = await sessionOf(place, name, profile)
  return {
    server: profile.server,
    accessToken,
    privateKey,
    trustAnchor: profile.trust_anchor,
    ...(profile.user !== undefined && { userId: profile.user }),
    ...(profile.device_id !== undefined && { deviceId: profile.device_id }),
  }
}

/** An agent whose name a file cannot have has a profile of a name that is near. */
function noProfile(name: string, known: readonly string[]): CliError {
  const near = nearest(name, known)
  return new CliError('profile_not_found', `there is no profile ${name}`, {
    fix: near === undefined ? 'strongroom config profiles' : shellLine`did you mean --profile ${near}?`,
  })
}

async function fromProfile(place: CredentialPlace, name: string): Promise<Credential> {
  const { profiles } = await readConfigFile(place.paths.config)
  const profile = profiles[name]
  if (!profile) throw noProfile(name, Object.keys(profiles))
  const options =
    profile.kind === 'person'
      ? await personOptions(place, name, profile)
      : { bundle: await bundleOf(place, name, profile.bundle ?? 'keys') }
  return { source: 'profile', profileName: name, profile, options }
}

/** The credential of this command, or a refusal that says how to get one. */
export async function findCredential(place: CredentialPlace): Promise<Credential> {
  const { io, wanted, paths } = place
  if (wanted !== undefined) return fromProfile(place, wanted)
  const given = fromEnvironment(io) ?? fromSystemd(io)
  if (given) return given
  const name = io.env.STRONGROOM_PROFILE || (await readConfigFile(paths.config)).default
  if (name) return fromProfile(place, name)
  throw new CliError('not_signed_in', 'there is no profile on this machine and no bundle in the environment', {
    fix: 'strongroom init   for a new organisation, strongroom login   for one that is there, or set STRONGROOM_BUNDLE',
  })
}
