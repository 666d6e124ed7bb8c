import { shellLine } from '@strongroom/contract'
import type { DnsCheck } from '@strongroom/sdk'
import type { Cli } from '../../cli.ts'
import { EXIT } from '../../errors/codes.ts'
import { arg, command, flag } from '../../model/command.ts'
import { safeText } from '../../output/safe-text.ts'
import { table } from '../../output/table.ts'
import { shortTime } from '../../output/time.ts'
import { withProgress } from '../../prompt/progress.ts'
import { SET_TYPES } from './records.ts'

type CheckedSet = DnsCheck['sets'][number]

const WORDS: Readonly<Record<CheckedSet['verdict'], string>> = {
  same: '✓ same',
  differs: '✗ differs',
  missing: '✗ missing',
  no_answer: '– no answer',
}

function foundIn({ verdict, found, foundTotal, reason }: CheckedSet): string | undefined {
  if (verdict === 'same') return undefined
  if (reason !== null) return reason
  const more = foundTotal - found.length
  return `${found.join(', ')}${more > 0 ? `, and ${more} more` : ''}`
}

function shown({ style }: Cli, { sets }: DnsCheck): string {
  return table(
    sets,
    [
      { title: 'NAME', of: ({ name }) => name },
      { title: 'TYPE', of: ({ type }) => type },
      { title: 'RESOLVER', of: ({ verdict }) => WORDS[verdict] },
      { title: 'EXPECTED', of: ({ expected }) => expected.join(', ') },
      { title: 'FOUND', of: foundIn },
    ],
    style,
  )
}

function sayAround({ say }: Cli, { sets, resolvers, checkedAt, unchecked }: DnsCheck): void {
  if (sets.length === 0) say('there are no records to check')
  else say(`asked ${safeText(resolvers.join(', '))} at ${shortTime(checkedAt)}`)
  if (unchecked > 0) say(`${unchecked} more were not asked about; check them apart, with --type`)
}

export const check = command({
  summary: 'what a resolver answers now for the records of a domain',
  about:
    'The server asks the resolver that its operator chose, and compares what it answers with the records that are kept: names without case, addresses in their shortest form, not how long others may keep them. What was changed a moment ago may still be answered as it was before, until the time of the old record is over. Ends with 12 where something is not the same or was not answered.',
  args: { domain: arg.one('a domain, or a name in one') },
  flags: { type: flag.choice('only this type', SET_TYPES) },
  examples: [
    { run: 'strongroom domain check example.com', does: 'every record' },
    { run: 'strongroom domain check example.com --type MX', does: 'where mail goes' },
  ],
  next: 'strongroom domain records DOMAIN',
  output: async () => (await import('../../schemas/domain.ts')).checkShape,
  run: async (cli, { args: { domain }, flags: { type } }) => {
    const data = await withProgress(cli, 'asking a resolver', async () =>
      (await cli.strongroom()).domains.check({ domain, ...(type !== undefined && { type }) }, { signal: cli.signal }),
    )
    sayAround(cli, data)
    const isSame = data.unchecked === 0 && data.sets.every(({ verdict }) => verdict === 'same')
    return {
      data,
      meta: { total: data.sets.length },
      ...(data.sets.length > 0 && { text: shown(cli, data) }),
      ...(!isSame && { next: shellLine`strongroom domain records ${data.domain}` }),
      exitCode: isSame ? EXIT.ok : EXIT.partly,
    }
  },
})
