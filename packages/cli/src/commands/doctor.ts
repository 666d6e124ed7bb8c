import { resolve } from 'node:path'
import type { Cli } from '../cli.ts'
import type { Check, Checked } from '../doctor/check.ts'
import { EXIT } from '../errors/codes.ts'
import { command, flag } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { homeOf } from '../place/paths.ts'
import { withProgress } from '../prompt/progress.ts'
import { VERSION } from './version.ts'

const SIGNS = { ok: '✓', failed: '✗', skipped: '–' } as const

function lineOf({ name, state, detail, fix }: Checked, { style }: Cli): string {
  const sign = state === 'ok' ? style.good(SIGNS.ok) : state === 'failed' ? style.bad(SIGNS.failed) : SIGNS.skipped
  const line = `${sign} ${safeText(name).padEnd(14)}  ${safeText(detail)}`
  return fix === undefined ? line : `${line}\n    ${style.dim('fix')}  ${safeText(fix)}`
}

/** Nothing that is secret is looked at; who it is and where is left out as well. */
const redacted = (text: string, home: string): string =>
  text
    .replaceAll(home, '~')
    .replace(/^.* \((user|agent|operator):[^)]*\).*$/, 'a valid $1')
    .replace(/[^\s@"]+@[^\s@"]+/g, '‹email›')
    .replace(/(user|agent|operator):[A-Za-z0-9_:-]+/g, '$1:‹id›')
    .replace(/(https?:\/\/)(?!127\.|localhost)[^/\s]+/g, '$1‹host›')
    .replace(/(srb1\.|vta1\.|vin1\.|SR[DR]1-|sra_|srs_)[A-Za-z0-9_.+/-]+/g, '$1‹…›')

async function writeReport({ io }: Cli, path: string, checks: readonly Checked[]): Promise<string> {
  const { writePrivate } = await import('../place/private-file.ts')
  const file = resolve(io.cwd, path)
  const home = homeOf(io.env)
  const withoutName = (name: string, text: string): string =>
    redacted(name.startsWith('vault ') ? text.replaceAll(name.slice('vault '.length), '‹name›') : text, home)
  const report = {
    strongroom: VERSION,
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    at: new Date().toISOString(),
    variables: Object.keys(io.env)
      .filter((name) => name.startsWith('STRONGROOM_'))
      .sort(),
    checks: checks.map(({ name, detail, fix, ...rest }) => ({
      ...rest,
      name: name.replace(/^vault .*/, 'vault ‹name›'),
      detail: withoutName(name, detail),
      ...(fix !== undefined && { fix: withoutName(name, fix) }),
    })),
  }
  await writePrivate(file, `${JSON.stringify(report, null, 2)}\n`)
  return file
}

async function lookAtAll(cli: Cli): Promise<readonly Checked[]> {
  const { look } = await import('../doctor/check.ts')
  const { LOCAL, REMOTE, SIGNED_IN } = await import('../doctor/checks.ts')
  const each = async (checks: readonly Check[]): Promise<Checked[]> => {
    const found: Checked[] = []
    for (const check of checks) found.push(...(await look(cli, check)))
    return found
  }
  const [here, there] = [await each(LOCAL), await each(REMOTE)]
  const isReachable = there[0]?.state === 'ok'
  if (isReachable) return [...here, ...there, ...(await each(SIGNED_IN))]
  const left = SIGNED_IN.map(({ name }): Checked => ({ name, state: 'skipped', detail: 'not without a server' }))
  return [...here, ...there, ...left]
}

export const doctor = command({
  summary: 'look at everything this program needs, and say how to fix what is wrong',
  about:
    'Checks Node, the configuration, the key store, the trust store, the cache, the server and its clock, the credential, the log and the key of each vault. With --bundle a report for others is written: without values, keys, emails, ids and names of vaults.',
  args: {},
  flags: { bundle: flag.text('write a redacted report to this file', 'FILE', { completes: 'file' }) },
  examples: [
    { run: 'strongroom doctor', does: 'a line for each check' },
    { run: 'strongroom doctor --bundle report.json', does: 'for whoever helps you; nothing secret is in it' },
  ],
  next: 'strongroom explain CODE',
  output: async () => (await import('../schemas/config.ts')).doctorShape,
  run: async (cli, { flags }) => {
    if (flags.bundle !== undefined) (await import('../place/given-file.ts')).ensureFolderFor(cli, flags.bundle)
    const checks = await withProgress(cli, 'looking', () => lookAtAll(cli))
    const healthy = checks.every(({ state }) => state !== 'failed')
    const file = flags.bundle === undefined ? undefined : await writeReport(cli, flags.bundle, checks)
    if (file !== undefined) cli.say(`the report is in ${file}`)
    return {
      data: { healthy, checks, ...(file !== undefined && { file }) },
      text: checks.map((check) => lineOf(check, cli)).join('\n'),
      exitCode: healthy ? EXIT.ok : EXIT.partly,
    }
  },
})
