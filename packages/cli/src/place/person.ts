import { decodePem, parseTrustAnchor } from '@strongroom/protocol'
import { connect, generateRuntimeKey } from '@strongroom/sdk'
import { type Cli, serverOf } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'

/** The person of this profile with their keys, for the platform API. */
export async function makePerson(cli: Cli): ReturnType<Cli['person']> {
  const { profile, options } = await cli.credential()
  const { accessToken, privateKey } = options ?? {}
  if (profile?.kind !== 'person' || typeof accessToken !== 'string' || typeof privateKey !== 'string')
    throw new CliError('not_signed_in', 'only a person can do this, and this profile is an agent', {
      fix: 'strongroom login, or give --profile with the profile of a person',
    })
  const { server, device_id: deviceInstallationId, email = '', trust_anchor: trustAnchor } = profile
  const client = connect({ baseUrl: serverOf(cli) ?? server, deviceInstallationId }, { accessToken })
  const { principal } = await client.identity.me()
  const { provider: identity } = await generateRuntimeKey({ principal: principal.id, material: decodePem(privateKey) })
  const userId = principal.id.slice('user:'.length)
  return { client, identity, orgId: parseTrustAnchor(trustAnchor).org, userId, email, trustAnchor }
}
