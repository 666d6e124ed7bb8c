import { resolve } from 'node:path'
import { shellLine } from '@strongroom/contract'
import type { RestoredLog, SigningPerson } from '@strongroom/sdk'
import { type Cli, confirm } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { ensureUnsigned, signersOf, statementFile } from '../keys/statement.ts'
import { command, flag, type Result } from '../model/command.ts'
import { facts } from '../output/table.ts'
import { ensureFolderFor } from '../place/given-file.ts'
import { readIfThere, writePrivate } from '../place/private-file.ts'

// After a restore: directory admins state that the log goes on from what the backup kept. One makes the statement, others add
// their signatures wherever they are, and whoever made it sends it. The statement is no secret.

type Statement = Parameters<typeof import('@strongroom/sdk').sendRecovery>[1]

const sdk = () => import('@strongroom/sdk')
const trustOf = async ({ paths }: Cli) => (await sdk()).fileTrust(paths.trust)

async function statementFrom({ io }: Cli, path: string): Promise<Statement> {
  const text = await readIfThere(resolve(io.cwd, path))
  try {
    const { payload, payloadType, signatures } = JSON.parse(text ?? '') as Statement
    if (typeof payload === 'string' && Array.isArray(signatures)) return { payload, payloadType, signatures }
  } catch {
    // Said below, once for both.
  }
  throw new CliError('file_unreadable', `${path} holds no recovery statement`, {
    fix: 'one is made with: strongroom log recover --reason TEXT --out FILE',
  })
}

async function waitingLog(person: SigningPerson): Promise<RestoredLog> {
  const restored = await (await sdk()).restoredLog(person)
  if (restored) return restored
  throw new CliError('no_recovery_due', 'the log was not restored, or its recovery was stated already', {
    fix: 'strongroom verify',
  })
}

const counted = (signatures: number, { recoverQuorum }: RestoredLog): string =>
  `${signatures} of ${recoverQuorum} signatures`

const fileFor = (cli: Cli, flags: Flags): string => statementFile(cli, flags, 'recovery-statement.json')

async function kept(cli: Cli, statement: Statement, restored: RestoredLog, file: string): Promise<Result> {
  const signatures = (await signersOf(statement)).size
  await writePrivate(file, `${JSON.stringify(statement, null, 2)}\n`)
  return {
    data: { ...restored, state: 'signed', signatures, file },
    text: `${cli.style.good('✓')} ${file}   ${counted(signatures, restored)}`,
    next:
      signatures >= restored.recoverQuorum
        ? shellLine`strongroom log recover --send ${file}   by the administrator who made it`
        : shellLine`strongroom log recover --countersign ${file}   by another administrator`,
  }
}

async function send(cli: Cli, person: SigningPerson, statement: Statement, restored: RestoredLog): Promise<Result> {
  const signatures = (await signersOf(statement)).size
  if (signatures < restored.recoverQuorum)
    throw new CliError('signatures_missing', `the statement has ${counted(signatures, restored)}`, {
      fix: 'another administrator adds one: strongroom log recover --countersign FILE',
    })
  await confirm(cli, 'What was written after the backup is given up for good. Send the statement?')
  const { index } = await (await sdk()).sendRecovery(person, statement)
  return {
    data: { ...restored, state: 'recovered', signatures, index },
    text: `${cli.style.good('✓')} the log goes on from entry ${restored.keptSize}; the statement is entry ${index}`,
    next: 'strongroom verify',
  }
}

interface Flags {
  readonly reason: string | undefined
  readonly countersign: string | undefined
  readonly send: string | undefined
  readonly out: string | undefined
}

async function make(cli: Cli, person: SigningPerson, reason: string, flags: Flags): Promise<Result> {
  const restored = await waitingLog(person)
  const statement = await (await sdk()).makeRecoveryStatement(person, { reason, trust: await trustOf(cli) })
  const isEnough = (await signersOf(statement)).size >= restored.recoverQuorum && flags.out === undefined
  return isEnough ? send(cli, person, statement, restored) : kept(cli, statement, restored, fileFor(cli, flags))
}

async function countersign(cli: Cli, person: SigningPerson, path: string, flags: Flags): Promise<Result> {
  const file = fileFor(cli, flags)
  const restored = await waitingLog(person)
  const statement = await statementFrom(cli, path)
  await ensureUnsigned(statement, person.identity.kid)
  const signed = await (await sdk()).countersignRecovery(person, statement, { trust: await trustOf(cli) })
  return kept(cli, signed, restored, file)
}

async function look(cli: Cli, person: SigningPerson): Promise<Result> {
  const restored = await (await sdk()).restoredLog(person)
  if (!restored)
    return {
      data: { state: 'none' },
      text: 'the log waits for nothing: it was not restored, or its recovery is stated',
    }
  const rows = [
    ['restored', restored.restoredAt],
    ['kept', `${restored.keptSize} entries`],
    ['root', restored.keptRoot],
    ['signatures', `${restored.recoverQuorum} needed`],
  ] as const
  return {
    data: { ...restored, state: 'waiting' },
    text: facts(rows, cli.style),
    next: 'strongroom log recover --reason TEXT   on the machine that has seen most',
  }
}

export const recover = command({
  summary: 'after a restore: state that the log goes on from what the backup kept',
  about:
    'Without flags it says whether the log waits. With --reason it makes the statement from what the server shows, what is signed, and what this machine has seen, and signs it; where one signature is enough it is sent, otherwise it goes to a file for other administrators to sign. Clients then go on by themselves, and say once what was given up.',
  args: {},
  flags: {
    reason: flag.text('why, in words that stay in the log for ever', 'TEXT'),
    countersign: flag.text('add your signature to a statement, after looking at the server yourself', 'FILE'),
    send: flag.text('send a statement that has all signatures', 'FILE'),
    out: flag.text('where the statement is written', 'FILE', { completes: 'file' }),
  },
  examples: [
    {
      run: 'strongroom log recover --reason "restored from last night"',
      does: 'signs, and sends where that is enough',
    },
    { run: 'strongroom log recover --countersign recovery-statement.json', does: 'the second administrator' },
  ],
  next: 'strongroom verify',
  output: async () => (await import('../schemas/admin.ts')).recoverShape,
  run: async (cli, { flags }) => {
    ensureFolderFor(cli, flags.out)
    const given = [flags.reason, flags.countersign, flags.send].filter((one) => one !== undefined)
    if (given.length > 1)
      throw new CliError('usage', 'one step at a time: --reason, --countersign or --send', { fix: 'give one of them' })
    const person = await cli.person()
    if (flags.reason !== undefined) return make(cli, person, flags.reason, flags)
    if (flags.countersign !== undefined) return countersign(cli, person, flags.countersign, flags)
    if (flags.send !== undefined)
      return send(cli, person, await statementFrom(cli, flags.send), await waitingLog(person))
    return look(cli, person)
  },
})
