import { shellLine } from '@strongroom/contract'
import type { Strongroom, Unsound } from '@strongroom/sdk'
import { confirm } from '../cli.ts'
import { arg, command } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { withProgress } from '../prompt/progress.ts'

type LookOptions = NonNullable<Parameters<Strongroom['vaults']['review']>[1]>

/** What it is, and which key signed it. */
const partsOf = ({ head, access, admins, items }: Unsound): readonly (readonly [string, string])[] => [
  ...(head === null ? [] : [['the vault as a whole', head] as const]),
  ...(access === null ? [] : [['who has access', access] as const]),
  ...(admins === null ? [] : [['who administers it', admins] as const]),
  ...items.map(
    ({ name, labels, by }) => [[name, ...(labels.length > 0 ? [`(${labels.join(', ')})`] : [])].join(' '), by] as const,
  ),
]

export const attest = command({
  summary: 'sign anew what a compromised key signed last',
  about:
    'What a key signed last that was found to be compromised is refused to everybody. This lists it and, once you have looked at it, signs it with your key, as it is. Where the key signed who has access or administers, the vault gets a new key as well. Values that may have been changed are still to be replaced.',
  args: { vault: arg.one('name or id of a vault', { completes: 'vault' }) },
  flags: {},
  examples: [{ run: 'strongroom vault attest prod', does: 'lists it, and asks before it signs' }],
  next: 'strongroom vault rotate VAULT',
  output: async () => (await import('../schemas/vault.ts')).attestedShape,
  run: async (cli, { args }) => {
    const { vaults } = await cli.strongroom()
    const words = `looking at ${args.vault}`
    const withWords = (work: (options: LookOptions) => Promise<Unsound>) =>
      withProgress(cli, words, (progress) =>
        work({
          signal: cli.signal,
          onProgress: (done, total) => progress.update(`${words}: ${done} of ${total} items`),
        }),
      )
    const found = await withWords((options) => vaults.review(args.vault, options))
    const parts = partsOf(found)
    if (parts.length === 0)
      return { data: found, text: `${cli.style.good('✓')} nothing in ${safeText(found.name)} has to be signed anew` }
    const { namesOf, namesOfKeys } = await import('../place/principals.ts')
    const ownerOf = await namesOfKeys(cli)
    for (const [what, by] of parts) cli.say(safeText(`${what}   last signed by ${ownerOf(by)}`))
    if (found.access !== null || found.admins !== null) {
      const nameOf = await namesOf(cli)
      cli.say('who has access now:')
      for (const { principal, role } of found.readers) cli.say(safeText(`  ${nameOf(principal)}   ${role}`))
    }
    await confirm(cli, 'Sign this anew, as it is now?')
    return {
      data: await withWords((options) => vaults.attest(found, options)),
      text: `${cli.style.good('✓')} ${safeText(found.name)} is signed by you`,
      next: shellLine`strongroom vault rotate ${found.name}`,
    }
  },
})
