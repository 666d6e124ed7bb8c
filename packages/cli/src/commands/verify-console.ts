import type { NamedConsole } from '@strongroom/sdk'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/codes.ts'
import { arg, command, flag } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { addressOf } from '../place/server-address.ts'
import { withProgress } from '../prompt/progress.ts'
import { type Comparison, compareWith, compareWithBuild } from '../served-console/compare.ts'
import { releasedManifest } from '../served-console/manifest.ts'

interface Verdict extends Comparison {
  readonly url: string
  readonly matches: boolean
  /** Where the log names the build; null where it was not asked, or nothing was signed. */
  readonly log: (Pick<NamedConsole, 'entry' | 'policyVersion'> & { readonly isNew: boolean }) | null
}

const RECORD = 'strongroom verify-console --record'

/** What somebody does about a console that is another one. */
function adviceOn({ build, claimed, log }: Verdict): string {
  if (claimed === null || claimed === build) return 'Type no passphrase there, and ask whoever runs the server.'
  const says = `The server says it serves build ${claimed}`
  return log
    ? `${says}. Whoever upgraded it runs: ${RECORD}. Until then, type no passphrase there.`
    : `${says}: get the list of that release from whom you trust, and give it with --manifest.`
}

function wordsFor({ style }: Cli, verdict: Verdict, isRecording: boolean): string {
  const { url, matches, build, checked, different, log } = verdict
  const good = style.good('✓')
  const entry = log && `entry ${log.entry} of the log names ${matches ? 'this' : 'that'} build`
  if (matches)
    return [
      `${good} ${safeText(url)} serves build ${build}   ${checked} files`,
      ...(log ? [`${good} ${entry}${log.isNew ? ', signed now' : ''}`] : []),
    ].join('\n')
  return [
    ...different.map(({ path, state }) => `${style.bad('✗')} ${safeText(path)}   ${state}`),
    '',
    `${different.length} of ${checked} files are not those of build ${build}${entry ? `; ${entry}` : ''}.`,
    ...(isRecording ? ['Nothing was signed.'] : []),
    adviceOn(verdict),
  ].join('\n')
}

async function addressToCheck(cli: Cli, given: string | undefined): Promise<string> {
  const url = (given ?? (await addressOf(cli))).replace(/\/+$/, '')
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url
  throw new CliError('usage', 'the address of a server begins with https://', { fix: 'strongroom verify-console URL' })
}

const fetching = (cli: Cli, work: () => Promise<Comparison>): Promise<Comparison> =>
  withProgress(cli, 'fetching the files of the console', work)

const isSame = ({ different }: Comparison): boolean => different.length === 0

async function againstLog(cli: Cli, url: string): Promise<Verdict> {
  const strongroom = await cli.strongroom()
  const named = await strongroom.transparency.console({ signal: cli.signal })
  if (!named)
    throw new CliError('no_console_in_log', 'the log names no console for this organisation', {
      fix: `an administrator of the directory runs: ${RECORD}`,
    })
  const { build, entry, policyVersion } = named
  const compared = await fetching(cli, () => compareWithBuild(url, build, cli.signal))
  return { url, matches: isSame(compared), ...compared, log: { entry, policyVersion, isNew: false } }
}

/** Signs for a build only after every file was seen to be the one that was released. */
async function againstRelease(
  cli: Cli,
  url: string,
  { manifest: given, record }: { readonly manifest: string | undefined; readonly record: boolean },
): Promise<Verdict> {
  const manifest = await releasedManifest(cli, given)
  const strongroom = record ? await cli.strongroom() : undefined
  const compared = await fetching(cli, () => compareWith(url, manifest, cli.signal))
  const matches = isSame(compared)
  if (!strongroom || !matches) return { url, matches, ...compared, log: null }
  const { entry, policyVersion, isNew } = await strongroom.transparency.recordConsole(compared.build, {
    signal: cli.signal,
  })
  return { url, matches, ...compared, log: { entry, policyVersion, isNew } }
}

export const verifyConsole = command({
  summary: 'hold the console a server serves against the one of this release, or of the log',
  about:
    'A page that encrypts in the browser trusts the files it is served. This fetches each of them and compares it with the list that this program was built with, or with --manifest. With --log it compares with the build that the policy of your organisation names, in its log: whatever release this program is of, and whoever asks. With --record it compares with the release, and where every file is right, signs the policy that names the build: for administrators of the directory, after an upgrade. Exit code 9 where a file differs. A server can send you one thing and a browser another: run it where the browser is, and use this program itself where that is not enough.',
  args: { url: arg.maybe('address of the server; without it, that of the profile') },
  flags: {
    manifest: flag.text('the build.json of the release you expect', 'FILE', { completes: 'file' }),
    log: flag.on('against the build that the log names'),
    record: flag.on('name the build in the log, once all files are of the release'),
  },
  examples: [
    { run: 'strongroom verify-console', does: 'the console of your server' },
    { run: 'strongroom verify-console --log', does: 'against the build that your administrators signed for' },
    { run: 'strongroom verify-console --record', does: 'after an upgrade: sign for the new one' },
    { run: 'strongroom verify-console https://vault.example --manifest build.json', does: 'against another release' },
  ],
  next: 'strongroom verify',
  output: async () => (await import('../schemas/console.ts')).verifiedConsoleShape,
  run: async (cli, { args, flags }) => {
    if (flags.log && flags.record) throw new CliError('usage', 'give --log or --record, not both')
    if (flags.log && flags.manifest !== undefined)
      throw new CliError('usage', 'give --log or --manifest, not both: the log says which build is expected')
    const url = await addressToCheck(cli, args.url)
    const data = await (flags.log ? againstLog(cli, url) : againstRelease(cli, url, flags))
    return { data, text: wordsFor(cli, data, flags.record), exitCode: data.matches ? EXIT.ok : EXIT.unverified }
  },
})
