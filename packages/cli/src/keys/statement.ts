import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { shellLine } from '@strongroom/contract'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'

// What directory admins sign one after another goes from hand to hand as a file.

interface Signed {
  readonly signatures: readonly { readonly keyid: string }[]
}

/** The people who signed, as the log counts them: somebody with two keys is one. */
export async function signersOf({ signatures }: Signed): Promise<ReadonlySet<string>> {
  const { principalOf } = await import('@strongroom/protocol')
  return new Set(signatures.map(({ keyid }) => principalOf(keyid)))
}

/** Refuses a second signature of the same person: it would count for nothing. */
export async function ensureUnsigned(statement: Signed, kid: string): Promise<void> {
  const [own = ''] = await signersOf({ signatures: [{ keyid: kid }] })
  if ((await signersOf(statement)).has(own))
    throw new CliError('already_signed', 'the statement has your signature already', {
      fix: 'another administrator adds the next one',
    })
}

interface Places {
  readonly out: string | undefined
  readonly countersign: string | undefined
}

/** Where the statement is written: a new file, or the one it was read from. Others may have signed what is in any other. */
export function statementFile({ io }: Cli, { out, countersign }: Places, usual: string): string {
  const file = resolve(io.cwd, out ?? countersign ?? usual)
  const isContinued = countersign !== undefined && resolve(io.cwd, countersign) === file
  if (!isContinued && existsSync(file))
    throw new CliError('file_unwritable', `${file} is there already`, {
      fix: shellLine`choose another name with --out FILE, or remove it first: rm ${file}`,
    })
  return file
}
