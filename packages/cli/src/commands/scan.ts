import type { Secret } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { EXIT } from '../errors/codes.ts'
import { arg, command, flag } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { table } from '../output/table.ts'
import { withProgress } from '../prompt/progress.ts'

interface Finding {
  readonly ref: string
  readonly path: string
  readonly line: number
  readonly commit?: string
  readonly blob?: string
}

/** Every value this caller can open; they stay in this process. */
async function ownSecrets(cli: Cli, vaults: readonly string[]): Promise<readonly Secret[]> {
  const strongroom = await cli.strongroom()
  const all = await strongroom.vaults.list({ signal: cli.signal })
  const names =
    vaults.length > 0 ? vaults : all.filter(({ status }) => status === 'active').map(({ vaultId }) => vaultId)
  const secrets: Secret[] = []
  for (const vault of names)
    for (const { itemId } of await strongroom.items.list(vault, { signal: cli.signal })) {
      const { fields } = await strongroom.items.get(vault, itemId, { signal: cli.signal })
      secrets.push(...fields.map(({ secret }) => secret))
    }
  return secrets
}

async function search(cli: Cli, root: string, flags: { staged: boolean; history: boolean; vault: readonly string[] }) {
  const { matcherOf } = await import('../scan/matcher.ts')
  const { filePlaces } = await import('../scan/places.ts')
  const { commitsOf, historyPlaces, stagedPlaces } = await import('../scan/git-places.ts')
  const skipped: string[] = []
  const onSkipped = (path: string): void => void skipped.push(path)
  return withProgress(cli, 'reading your values', async (progress) => {
    const matcher = matcherOf(await ownSecrets(cli, flags.vault))
    const found: Finding[] = []
    let looked = 0
    const sources = flags.staged
      ? [stagedPlaces(root, onSkipped)]
      : [filePlaces(root, onSkipped), ...(flags.history ? [historyPlaces(root, onSkipped)] : [])]
    for (const source of sources)
      for await (const { path, blob, bytes } of source) {
        looked += 1
        if (looked % 50 === 0) progress.update(`${looked} files, ${found.length} found`)
        for (const { ref, line } of matcher.find(bytes)) found.push({ ref, path, line, ...(blob && { blob }) })
        cli.signal.throwIfAborted()
      }
    const commits = await commitsOf(root, new Set(found.flatMap(({ blob }) => blob ?? [])))
    const commitOf = ({ blob = '' }: Finding) => (commits.has(blob) ? { commit: commits.get(blob) } : {})
    return { values: matcher.count, looked, skipped, found: found.map((one) => ({ ...one, ...commitOf(one) })) }
  })
}

const NAMED = 5

function skippedWords(skipped: readonly string[]): string {
  const [files, was] = skipped.length === 1 ? ['file is', 'was'] : ['files are', 'were']
  const more = skipped.length > NAMED ? ` and ${skipped.length - NAMED} more` : ''
  const names = skipped.slice(0, NAMED).map(safeText).join(', ')
  return `${skipped.length} ${files} too large or unreadable and ${was} not looked at: ${names}${more}`
}

export const scan = command({
  summary: 'find your own values in files and in the history of git',
  about:
    'Looks for the values themselves, also in base64, hex, URL and JSON form. Prints where they are and which one it is, never the value. Values shorter than 8 bytes are not looked for. Ends with 6 where something was found.',
  args: { path: arg.maybe('a folder or file; here if not given', { completes: 'file' }) },
  flags: {
    history: flag.on('every version that git knows, too'),
    staged: flag.on('only what the next commit would hold'),
    vault: flag.many('only values of these vaults', 'NAME', { completes: 'vault' }),
    'install-hook': flag.on('scan before every commit in this repository'),
  },
  examples: [
    { run: 'strongroom scan --history', does: 'this repository with all it ever held' },
    { run: 'strongroom scan --install-hook', does: 'a pre-commit hook' },
  ],
  next: 'strongroom set VAULT/ITEM/FIELD   a new value for each that was found',
  output: async () => (await import('../schemas/scan.ts')).scanShape,
  run: async (cli, { args, flags }) => {
    const root = args.path ?? cli.io.cwd
    if (flags['install-hook']) {
      const { installHook } = await import('../scan/hook.ts')
      const hook = await installHook(root)
      return {
        data: { values: 0, looked: 0, skipped: [], found: [], hook },
        text: `${cli.style.good('✓')} ${hook} scans before every commit`,
      }
    }
    const data = await search(cli, root, flags)
    if (data.skipped.length > 0) cli.say(skippedWords(data.skipped))
    if (data.found.length === 0)
      return { data, text: `${cli.style.good('✓')} none of ${data.values} values in ${data.looked} files` }
    const text = table(
      data.found,
      [
        { title: 'VALUE OF', of: ({ ref }) => ref },
        { title: 'FILE', of: ({ path, line }) => `${path}:${line}` },
        { title: 'GIT', of: ({ commit, blob }) => commit?.slice(0, 10) ?? (blob && `blob ${blob.slice(0, 10)}`) },
      ],
      cli.style,
    )
    return {
      data,
      text,
      next: 'strongroom set REF   with a new value: what was committed is known',
      exitCode: EXIT.invalid,
    }
  },
})
