import { resolve } from 'node:path'
import { shellLine } from '@strongroom/contract'
import type { QuorumStatement } from '@strongroom/sdk'
import { type Cli, confirm } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { flag, type Result } from '../model/command.ts'
import { readIfThere, writePrivate } from '../place/private-file.ts'
import { ensureUnsigned, statementFile } from './statement.ts'

// What the directory administrators sign together. As after a restore: one makes the statement, others add their signatures wherever they
// are, and whoever made it sends it. The statement is no secret.

type Statement = Pick<QuorumStatement, 'statement' | 'signatures' | 'needed'>

/** The steps after the first, as flags of the command. */
export const STEPS = {
  countersign: flag.text('add your signature to a statement, after seeing what it changes', 'FILE'),
  send: flag.text('send a statement that has all signatures', 'FILE'),
  out: flag.text('where the statement is written', 'FILE', { completes: 'file' }),
}

export interface Steps {
  readonly countersign: string | undefined
  readonly send: string | undefined
  readonly out: string | undefined
}

interface Logged {
  readonly entry: number
}

/** One kind of statement, and the command for it. */
export interface Several<S extends Statement> {
  readonly command: readonly string[]
  readonly about: string
  readonly madeWith: string
  readonly usualFile: string
  changes(signed: S): string
  /** What whoever signs or sends it should know besides. */
  warning(signed: S): string
  examine(statement: unknown): Promise<S>
  countersign(statement: unknown): Promise<S>
  send(statement: unknown): Promise<Logged>
}

const counted = ({ signatures, needed }: Statement): string => `${signatures} of ${needed} signatures`

async function statementFrom<S extends Statement>(
  { io }: Cli,
  { about, madeWith }: Several<S>,
  path: string,
): Promise<unknown> {
  const text = await readIfThere(resolve(io.cwd, path))
  try {
    const found: unknown = JSON.parse(text ?? '')
    if (typeof found === 'object' && found !== null && 'payload' in found && 'signatures' in found) return found
  } catch {
    // Said below, once for both.
  }
  throw new CliError('file_unreadable', `${path} holds no statement about ${about}`, {
    fix: `one is made with: ${madeWith}`,
  })
}

async function kept<S extends Statement>(cli: Cli, several: Several<S>, signed: S, file: string): Promise<Result> {
  const { statement, ...data } = signed
  await writePrivate(file, `${JSON.stringify(statement, null, 2)}\n`)
  return {
    data: { state: 'signed', ...data, file },
    text: `${cli.style.good('✓')} ${file}   ${several.changes(signed)}; ${counted(signed)}`,
    next:
      signed.signatures >= signed.needed
        ? shellLine`${several.command} --send ${file}   by the administrator who made it`
        : shellLine`${several.command} --countersign ${file}   by another administrator`,
  }
}

async function sent<S extends Statement>(cli: Cli, several: Several<S>, signed: S): Promise<Result> {
  if (signed.signatures < signed.needed)
    throw new CliError('signatures_missing', `the statement has ${counted(signed)}`, {
      fix: shellLine`another administrator adds one: ${several.command} --countersign FILE`,
    })
  await confirm(cli, `${several.changes(signed)}.${several.warning(signed)} Send it?`)
  const logged = await several.send(signed.statement)
  return {
    data: { state: 'set', ...logged },
    text: `${cli.style.good('✓')} ${several.changes(signed)}   entry ${logged.entry} of the log`,
    next: shellLine`${several.command}`,
  }
}

/** A statement that was just made: sent where one signature is enough, kept for others to sign where it is not. */
export const goOn = async <S extends Statement>(
  cli: Cli,
  several: Several<S>,
  signed: S,
  flags: Steps,
): Promise<Result> =>
  signed.signatures >= signed.needed && flags.out === undefined
    ? sent(cli, several, signed)
    : kept(cli, several, signed, statementFile(cli, flags, several.usualFile))

async function countersigned<S extends Statement>(
  cli: Cli,
  several: Several<S>,
  path: string,
  flags: Steps,
): Promise<Result> {
  const file = statementFile(cli, flags, several.usualFile)
  const statement = await statementFrom(cli, several, path)
  const found = await several.examine(statement)
  const { identity } = await cli.person()
  await ensureUnsigned(found.statement, identity.kid)
  await confirm(cli, `${several.changes(found)}.${several.warning(found)} Sign it?`)
  return kept(cli, several, await several.countersign(statement), file)
}

/** The steps after the first; undefined where neither was asked for. */
export async function nextStep<S extends Statement>(
  cli: Cli,
  several: Several<S>,
  flags: Steps,
): Promise<Result | undefined> {
  if (flags.countersign !== undefined) return countersigned(cli, several, flags.countersign, flags)
  if (flags.send !== undefined)
    return sent(cli, several, await several.examine(await statementFrom(cli, several, flags.send)))
  return undefined
}
