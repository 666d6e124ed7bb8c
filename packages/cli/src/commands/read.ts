import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { shellLine } from '@strongroom/contract'
import type { Secret } from '@strongroom/sdk'
import { type Cli, confirm, ensureNotAgent } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { explainingKeys } from '../errors/wrapped-key.ts'
import { arg, command, flag } from '../model/command.ts'
import { ensureFolderFor } from '../place/given-file.ts'
import { writePrivate } from '../place/private-file.ts'
import { type FieldPlace, fieldPlace, referenceOf, typedPlace } from '../place/reference.ts'
import { freshnessOf } from '../project/freshness.ts'

function modeOf(text: string | undefined): number {
  if (text === undefined) return 0o600
  if (/^0?[0-7]{3}$/.test(text)) return Number.parseInt(text, 8)
  throw new CliError('usage', '--mode is written like 0600')
}

async function toFile(cli: Cli, bytes: Uint8Array, path: string, mode: number): Promise<void> {
  if (existsSync(path)) await confirm(cli, `${path} is there already. Write over it?`)
  await writePrivate(path, bytes, mode)
}

function textOf(bytes: Uint8Array): { readonly value: string; readonly encoding: 'utf8' | 'base64' } {
  try {
    return { value: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), encoding: 'utf8' }
  } catch {
    return { value: Buffer.from(bytes).toString('base64'), encoding: 'base64' }
  }
}

const receiptOf = ({ receipt }: Secret) => ({
  vaultId: receipt?.vaultId ?? '',
  signerKeyId: receipt?.signerKeyId ?? '',
  treeSize: receipt?.checkpoint.treeSize ?? 0,
  source: receipt?.source ?? '',
})

async function fieldOfVersion(cli: Cli, { vault, item, field }: FieldPlace, version: number): Promise<Secret> {
  const { items } = await cli.strongroom()
  const { fields } = await items.version(vault, item, version, { signal: cli.signal })
  const found = fields.find(({ label }) => label === field)
  if (found) return found.secret
  throw new CliError('field_not_found', `version ${version} has no field ${field}`, {
    fix: shellLine`strongroom item show ${typedPlace(vault, item)} --version ${version}`,
  })
}

/** The current value: from the server, or from the cache where that is wanted. */
async function currentField(cli: Cli, ref: string): Promise<Secret | undefined> {
  const { signal } = cli
  const { secrets } = await cli.strongroom()
  const { isOffline, maxAge } = freshnessOf(cli, { fresh: undefined, 'max-age': undefined })
  if (!isOffline) return secrets.get(ref, { signal })
  const cached = await secrets.env(
    { refs: { [ref]: ref } },
    { signal, offline: true, allowNames: 'any', ...(maxAge !== undefined && { maxAge }) },
  )
  return cached.get(ref)
}

export const read = command({
  summary: 'one value to standard output, and nothing else',
  about:
    'The value is verified before it is opened. With --offline it comes from what was read here before. A line end is added only on a terminal. A coding agent gets no value: it uses `strongroom run`.',
  args: { ref: arg.one('vault/item/FIELD', { completes: 'ref' }) },
  flags: {
    out: flag.text('write it to a file instead, readable by you alone', 'FILE', { completes: 'file' }),
    mode: flag.text('mode of that file; 0600 if not given', 'MODE'),
    version: flag.count('as it was in this version of its item'),
    'no-newline': flag.on('no line end on a terminal either'),
  },
  examples: [
    { run: 'strongroom read prod/stripe/STRIPE_SECRET_KEY', does: 'the value alone' },
    { run: 'strongroom read prod/tls/KEY --out key.pem', does: 'into a file with mode 0600' },
    { run: 'strongroom read prod/tls/KEY --version 3', does: 'what `item history` shows as 3' },
  ],
  next: 'strongroom run -- COMMAND   uses it without showing it',
  output: async () => (await import('../schemas/secrets.ts')).readShape,
  run: async (cli, { args, flags }) => {
    ensureNotAgent(cli)
    ensureFolderFor(cli, flags.out)
    const place = fieldPlace(args.ref)
    const mode = modeOf(flags.mode)
    const ref = referenceOf(place)
    if (flags.version !== undefined && cli.globals.offline)
      throw new CliError('usage', 'earlier versions are at the server, so --version does not go with --offline')
    const secret = await explainingKeys(cli, place.vault, () =>
      flags.version === undefined ? currentField(cli, ref) : fieldOfVersion(cli, place, flags.version),
    ).catch(async (error: unknown) => {
      throw await (await import('../project/missing-reference.ts')).withNextStep(error, ref)
    })
    if (!secret) throw new CliError('field_not_found', `there is no field ${place.field}`)
    const bytes = secret.bytes()
    const about = { ref, version: secret.version, receipt: receiptOf(secret) }
    if (flags.out !== undefined) {
      const file = resolve(cli.io.cwd, flags.out)
      await toFile(cli, bytes, file, mode)
      cli.say(`${ref} → ${file}`)
      return { data: { ...about, encoding: textOf(bytes).encoding, file } }
    }
    if (cli.isJson) return { data: { ...about, ...textOf(bytes) } }
    await cli.data(bytes)
    if (cli.io.stdout.isTTY && !flags['no-newline']) await cli.data('\n')
    return undefined
  },
})
