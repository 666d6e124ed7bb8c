import { type Client, createClient } from '@strongroom/sdk'
import { type Cli, serverOf } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { readGiven } from './given-file.ts'

/** The operator's own client: a key without an organisation's keys, so nothing is verified or opened with it. */
export async function operatorOf(cli: Cli): Promise<Client> {
  const { STRONGROOM_API_KEY: given, STRONGROOM_API_KEY_FILE: file } = cli.io.env
  const apiKey = given || (file && (await readGiven(cli, file, 'check STRONGROOM_API_KEY_FILE')).toString().trim())
  const baseUrl = serverOf(cli)
  if (apiKey && baseUrl !== undefined) return createClient({ baseUrl, apiKey })
  throw new CliError('not_signed_in', 'a global-admin key and the address of the server are needed', {
    fix: 'strongroom admin global-admin-key create --out KEY, then set STRONGROOM_API_KEY_FILE=KEY and STRONGROOM_SERVER',
  })
}
