import type { AccessEntry, AccessTarget } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import type { Result } from '../model/command.ts'
import { table } from '../output/table.ts'
import { findPrincipal, namesOf } from '../place/principals.ts'

// One entry more or less on an access list; everybody else stays. The list is signed here.

export type Role = 'read' | 'write' | 'admin'

const required = (who: string | undefined): string => {
  if (who !== undefined) return who
  throw new CliError('usage', '--with is missing: who is it about', { fix: 'give --with NAME' })
}

export async function accessResult(cli: Cli, entries: readonly AccessEntry[], done?: string): Promise<Result> {
  const name = await namesOf(cli)
  const rows = entries.map((entry) => ({ ...entry, name: name(entry.principal) }))
  const listed = table(
    rows,
    [
      { title: 'WHO', of: (row) => row.name },
      { title: 'ROLE', of: ({ role }) => role.toLowerCase() },
      { title: 'ID', of: ({ principal }) => principal },
    ],
    cli.style,
  )
  if (done !== undefined) cli.say(`${cli.errorStyle.good('✓')} ${done}`)
  return { data: rows, text: listed }
}

export async function grantTo(cli: Cli, target: AccessTarget, who: string | undefined, role: Role): Promise<Result> {
  const { id, name } = await findPrincipal(cli, required(who))
  const strongroom = await cli.strongroom()
  const entry = { principal: id, role: role.toUpperCase() as AccessEntry['role'] }
  const entries = await strongroom.permissions.grant(target, entry, { signal: cli.signal })
  return accessResult(cli, entries, `${name} (${id}) may ${role}; the key is wrapped for it and signed by you`)
}

export interface RevokeOptions {
  readonly deferRotation?: boolean
  readonly allowSelfRemoval?: boolean
}

export async function revokeFrom(
  cli: Cli,
  target: AccessTarget,
  who: string | undefined,
  options: RevokeOptions = {},
): Promise<Result> {
  const { id, name } = await findPrincipal(cli, required(who))
  const strongroom = await cli.strongroom()
  const entries = await strongroom.permissions.revoke(target, id, { signal: cli.signal, ...options })
  const isVault = 'vault' in target
  const after = !isVault ? '' : options.deferRotation ? '; a new key is due' : '; the vault has a new key'
  return accessResult(cli, entries, `${name} (${id}) has no access any more${after}`)
}
