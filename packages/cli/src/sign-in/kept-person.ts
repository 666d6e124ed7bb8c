import { parseTrustAnchor } from '@strongroom/protocol'
import type { Codes } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import type { Profile } from '../place/config-file.ts'
import { keepProfile } from '../place/sign-in.ts'
import type { Kit } from './recovery-kit.ts'

// What is written down of a new person, and what is said about it.

export interface NewPerson {
  readonly server: string
  readonly orgId: string
  readonly orgName?: string
  readonly email: string
  readonly kid: string
  readonly trustAnchor: string
  readonly codes: Codes
}

export const kitOf = ({ server, orgId, orgName, email, kid, trustAnchor, codes }: NewPerson): Kit => ({
  server,
  org: orgId,
  ...(orgName !== undefined && { orgName }),
  email,
  fingerprint: parseTrustAnchor(trustAnchor).genesis,
  kid,
  trustAnchor,
  ...codes,
})

/** `origin+hash` of the key that signs the log: what people compare. */
export const logKeyOf = (trustAnchor: string): string => {
  const { logVkeys } = parseTrustAnchor(trustAnchor)
  return (logVkeys[0] ?? '').split('+').slice(0, 2).join('+')
}

/** Makes this the profile that commands use, also where there are others. */
export const useProfile = (cli: Cli, name: string, profile: Profile): Promise<void> =>
  keepProfile(cli, name, profile, true)

export const newDeviceId = (): string => `dev_${crypto.randomUUID().replaceAll('-', '')}`
