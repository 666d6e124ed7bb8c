import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { newPassphrase } from '../sign-in/passphrase.ts'
import { secretFrom } from '../sign-in/secret-input.ts'

// An archive has a passphrase of its own: whoever gets it should not get the keys of this machine with it, and the variable that opens
// those would seal it unasked.

const FLAG = '--passphrase-file'

function ensureNotTheOther({ io, isInteractive }: Cli, file: string | undefined): void {
  if (file !== undefined || isInteractive || !io.env.STRONGROOM_PASSPHRASE_FILE) return
  throw new CliError(
    'input_required',
    'STRONGROOM_PASSPHRASE_FILE opens your keys, and archives have a passphrase of their own',
    {
      fix: `give ${FLAG} FILE`,
    },
  )
}

export async function passphraseToSeal(cli: Cli, file: string | undefined): Promise<string> {
  ensureNotTheOther(cli, file)
  return newPassphrase(cli, { file, own: [], question: 'Passphrase for the archive' })
}

export async function passphraseOfArchive(cli: Cli, file: string | undefined): Promise<string> {
  ensureNotTheOther(cli, file)
  return secretFrom(cli, file, FLAG, 'Passphrase of the archive')
}
