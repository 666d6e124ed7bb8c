import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Cli, ensureNotAgent } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/codes.ts'
import { command, flag } from '../model/command.ts'
import { ensureFolderFor } from '../place/given-file.ts'
import { writePrivate } from '../place/private-file.ts'
import { withProgress } from '../prompt/progress.ts'

const TYPED = 'print my secrets'

/** Values in the open on standard output: only a person who typed it out gets that. */
async function ensureMeant(cli: Cli): Promise<void> {
  ensureNotAgent(cli)
  const typed = await cli.ask.text(`Everything will be readable. Type "${TYPED}"`, '--out, or run it in a terminal')
  if (typed !== TYPED) throw new CliError('cancelled', 'nothing was exported')
}

function sayLeftOut({ say, errorStyle }: Cli, attachments: readonly string[]): void {
  if (attachments.length === 0) return
  const count = attachments.length === 1 ? '1 attachment is' : `${attachments.length} attachments are`
  say([`${errorStyle.warn('!')} ${count} not in it:`, ...attachments.map((place) => `  ${place}`)].join('\n'))
  say('  fetch each with: strongroom file get VAULT/ITEM/NAME')
}

export const exporting = command({
  summary: 'an archive of your vaults, sealed with a passphrase',
  about:
    'Holds names, values and attachments, no keys and no access lists; memory does not grow with it. The file appears when all is in it, or not at all. `strongroom import archive FILE` brings an archive back. With --plaintext it is JSON on standard output, after you typed that you mean it: attachments are not in that; where there are some they are named, and the exit code is 12.',
  args: {},
  flags: {
    vault: flag.many('only these vaults', 'NAME', { completes: 'vault' }),
    out: flag.text('the file to write; never overwritten', 'FILE', { completes: 'file' }),
    'passphrase-file': flag.text('file with its passphrase, - for standard input', 'FILE', { completes: 'file' }),
    plaintext: flag.on('in the open, on standard output'),
  },
  examples: [{ run: 'strongroom export --out backup.srx', does: 'every vault you can open' }],
  next: 'strongroom import archive FILE --dry-run',
  output: async () => (await import('../schemas/export.ts')).exportShape,
  run: async (cli, { flags }) => {
    const { 'passphrase-file': passphraseFile } = flags
    if (flags.plaintext && passphraseFile !== undefined)
      throw new CliError('usage', '--plaintext and --passphrase-file contradict each other')
    ensureFolderFor(cli, flags.out)
    if (flags.plaintext) await ensureMeant(cli)
    const out = flags.out === undefined ? undefined : resolve(cli.io.cwd, flags.out)
    if (!flags.plaintext && out === undefined)
      throw new CliError('usage', '--out is missing: where to write the archive')
    if (out !== undefined && existsSync(out))
      throw new CliError('file_unwritable', `${flags.out} is there already`, { fix: 'choose another name' })
    const { passphraseToSeal } = await import('../archive/passphrase.ts')
    const passphrase = flags.plaintext ? undefined : await passphraseToSeal(cli, passphraseFile)
    const strongroom = await cli.strongroom()
    const all = await strongroom.vaults.list({ signal: cli.signal })
    const names =
      flags.vault.length > 0
        ? flags.vault
        : all.filter(({ status }) => status === 'active').map(({ vaultId }) => vaultId)
    const { contentOf, readVaultWhole } = await import('../archive/content.ts')
    const whole = await withProgress(cli, 'reading', async (progress) => {
      const read = []
      for (const name of names)
        read.push(
          await readVaultWhole(strongroom, name, {
            signal: cli.signal,
            onProgress: (done, total, vault) => progress.update(`${vault}: ${done} of ${total} items`),
          }),
        )
      return read
    })
    const vaults = whole.map(({ vault }) => vault)
    const places = whole.flatMap(({ attachments }) => attachments.map(({ place }) => place))
    const exportedAt = new Date().toISOString()
    if (passphrase === undefined || out === undefined) {
      const content = { format: 'strongroom-export-1', exportedAt, vaults, attachmentsLeftOut: places }
      await cli.data(`${JSON.stringify(content, null, 2)}\n`)
      sayLeftOut(cli, places)
      return { data: undefined, exitCode: places.length === 0 ? EXIT.ok : EXIT.partly }
    }
    const { sealArchive } = await import('../archive/sealed-archive.ts')
    await withProgress(cli, 'sealing', (progress) => {
      const onFile = (place: string): void => progress.update(`fetching ${place}`)
      const content = contentOf(strongroom, whole, exportedAt, { signal: cli.signal, onFile })
      return writePrivate(out, sealArchive(content, passphrase))
    })
    const items = vaults.reduce((sum, vault) => sum + vault.items.length, 0)
    const files = places.length === 0 ? '' : places.length === 1 ? ' and 1 file' : ` and ${places.length} files`
    return {
      data: { file: out, vaults: vaults.length, items, attachments: places.length, attachmentsLeftOut: [] },
      text: `${cli.style.good('✓')} ${items} items${files} of ${vaults.length} vaults are in ${out}, sealed with the passphrase`,
    }
  },
})
