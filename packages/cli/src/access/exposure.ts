import { shellLine } from '@strongroom/contract'
import type { ExposedVault, Exposure } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import type { Result } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { table } from '../output/table.ts'
import { shortTime } from '../output/time.ts'
import { findPrincipal } from '../place/principals.ts'
import { withProgress } from '../prompt/progress.ts'

// What somebody could have decrypted, from the log: every leaf is read, so no grant can be left out.

const KEY_ID = /^(?:user|agent):[A-Za-z0-9_-]+:[a-z2-7]{32}$/

const count = ({ items }: ExposedVault): number | undefined =>
  items?.reduce(
    (sum, { fields, attachments }) => sum + [...fields, ...attachments].filter(({ isExposed }) => isExposed).length,
    0,
  )

const lastOf = ({ grants }: ExposedVault): string | undefined => {
  const ends = grants.map(({ until }) => until?.at)
  if (ends.some((end) => end === undefined)) return 'now'
  return shortTime(new Date(Math.max(...ends.map((end) => end?.getTime() ?? 0))))
}

function textOf(cli: Cli, name: string, { keys, vaults, limits, head }: Exposure): string {
  const rows = table(
    vaults,
    [
      { title: 'VAULT', of: (vault) => vault.name ?? vault.vaultId },
      { title: 'SINCE', of: ({ grants }) => grants[0] && shortTime(grants[0].from.at) },
      { title: 'UNTIL', of: lastOf },
      { title: 'VALUES', of: (vault) => count(vault) ?? '?', right: true },
      { title: 'KEY', of: ({ knowsCurrentKey }) => (knowsCurrentKey ? 'knows the one in use' : 'older ones only') },
    ],
    cli.style,
  )
  const title = `${safeText(name)}: ${keys.length} ${keys.length === 1 ? 'key' : 'keys'}, ${vaults.length} ${vaults.length === 1 ? 'vault' : 'vaults'} ever, by log ${head.treeSize} ✓`
  const body = vaults.length === 0 ? ['no vault key was ever wrapped for it'] : [rows]
  return [title, '', ...body, '', ...limits.map((limit) => cli.style.dim(`  ${limit}`))].join('\n')
}

export async function showExposure(cli: Cli, who: string): Promise<Result> {
  const { id, name } = KEY_ID.test(who) ? { id: who, name: who } : await findPrincipal(cli, who)
  const strongroom = await cli.strongroom()
  const data = await withProgress(cli, 'reading the whole log', () =>
    strongroom.transparency.exposure(id, { signal: cli.signal }),
  )
  const [live] = data.vaults.flatMap(({ knowsCurrentKey, name: vault }) =>
    knowsCurrentKey && vault !== null ? [vault] : [],
  )
  const { note: _, ...head } = data.head
  return {
    // Dates become text here, as in every other answer.
    data: JSON.parse(JSON.stringify({ ...data, head })) as unknown,
    text: textOf(cli, name, data),
    ...(live !== undefined && {
      next: shellLine`strongroom access revoke ${who} --vault ${live}   and write its values anew`,
    }),
  }
}
