import { type Cli, serverOf } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { readConfigFile } from './config-file.ts'

/** The server this machine uses, without asking it anything. */
export async function addressOf(cli: Cli): Promise<string> {
  const given = serverOf(cli)
  if (given !== undefined) return given.replace(/\/+$/, '')
  const { profiles, default: chosen } = await readConfigFile(cli.paths.config)
  const name = cli.globals.profile ?? (cli.io.env.STRONGROOM_PROFILE || chosen)
  const profile = name === undefined ? undefined : profiles[name]
  if (profile) return profile.server.replace(/\/+$/, '')
  throw new CliError('not_signed_in', 'this machine knows no server yet', {
    fix: 'strongroom init, or give --server URL',
  })
}
