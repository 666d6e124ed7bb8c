import { shellLine } from '@strongroom/contract'
import type { Cli } from '../cli.ts'
import { CliError } from './cli-error.ts'

// Being on the access list of a vault is one thing, holding its key another: what is missing is named with who can give it.

const isMissingKey = (error: unknown): boolean =>
  (error as { name?: unknown } | undefined)?.name === 'NoWrappedKeyError'

/** The refusal of a vault whose key nobody has wrapped for this principal, with the command an administrator runs. */
async function noWrappedKey(cli: Cli, vault: string, cause: unknown): Promise<CliError> {
  const me = await cli
    .strongroom()
    .then((strongroom) => strongroom.me({ signal: cli.signal }))
    .catch(() => undefined)
  const who = me ? me.id : 'you'
  const name = me?.kind === 'agent' ? me.name : (me?.id ?? 'NAME')
  return new CliError('no_wrapped_key', `you can see vault "${vault}", but nobody has shared its key with ${who} yet`, {
    fix: shellLine`an administrator of the vault runs: strongroom vault share ${vault} --with ${name}`,
    cause,
  })
}

/** Does the work; explains a missing vault key. */
export async function explainingKeys<T>(cli: Cli, vault: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isMissingKey(error) ? await noWrappedKey(cli, vault, error) : error
  }
}
