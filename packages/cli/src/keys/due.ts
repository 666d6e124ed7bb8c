import { shellLine } from '@strongroom/contract'
import type { Cli } from '../cli.ts'
import type { Result } from '../model/command.ts'
import { table } from '../output/table.ts'
import { shortTime } from '../output/time.ts'
import { withProgress } from '../prompt/progress.ts'

interface Due {
  readonly vaultId: string
  readonly name: string
  readonly role: string | null
  readonly rotationDue: string | null
  readonly olderKeys: number
  readonly fix: string
}

/** What waits in the vaults that this caller sees, each verified. */
async function findDue(cli: Cli): Promise<readonly Due[]> {
  const strongroom = await cli.strongroom()
  const all = (await strongroom.vaults.list({ signal: cli.signal })).filter(({ status }) => status === 'active')
  return withProgress(cli, 'looking at vaults', async (progress) => {
    const found: Due[] = []
    for (const [i, { vaultId }] of all.entries()) {
      progress.update(`looking at vaults: ${i} of ${all.length}`)
      const { name, role, rotationDue, olderKeys = [] } = await strongroom.vaults.get(vaultId, { signal: cli.signal })
      if (rotationDue === null && olderKeys.length === 0) continue
      found.push({
        vaultId,
        name,
        role,
        rotationDue: rotationDue?.toISOString() ?? null,
        olderKeys: olderKeys.length,
        fix:
          rotationDue === null
            ? shellLine`strongroom key reencrypt ${name}`
            : shellLine`strongroom vault rotate ${name}`,
      })
    }
    return found
  })
}

export async function showDue(cli: Cli): Promise<Result> {
  const rows = await findDue(cli)
  if (rows.length === 0) cli.say('nothing waits in the vaults that you see')
  const text = table(
    rows,
    [
      { title: 'VAULT', of: ({ name }) => name },
      { title: 'NEW KEY DUE', of: ({ rotationDue }) => (rotationDue === null ? undefined : shortTime(rotationDue)) },
      { title: 'OLDER KEYS', of: ({ olderKeys }) => olderKeys, right: true },
      { title: 'FIX', of: ({ fix }) => fix },
    ],
    cli.style,
  )
  const mine = rows.find(({ role }) => role === 'ADMIN')
  return { data: rows, ...(rows.length > 0 && { text }), ...(mine && { next: mine.fix }) }
}
