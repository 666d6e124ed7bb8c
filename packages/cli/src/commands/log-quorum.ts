import { resolve } from 'node:path'
import type { QuorumStatement, Quorums } from '@strongroom/sdk'
import { type Cli, confirm } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { ensureUnsigned, statementFile } from '../keys/statement.ts'
import { command, flag, type Result } from '../model/command.ts'
import { shellLine } from '../output/shell-line.ts'
import { facts } from '../output/table.ts'
import { ensureFolderFor } from '../place/given-file.ts'
import { readIfThere, writePrivate } from '../place/private-file.ts'

// How many directory admins have to sign. As after a restore: one makes the statement, others add their signatures wherever they are,
// and whoever made it sends it. The statement is no secret.

interface Flags extends Readonly<Record<'countersign' | 'send' | 'out', string | undefined>> {
  readonly directory: number | undefined
  readonly recovery: number | undefined
}

async function statementFrom({ io }: Cli, path: string): Promise<unknown> {
  const text = await readIfThere(resolve(io.cwd, path))
  try {
    const found: unknown = JSON.parse(text ?? '')
    if (typeof found === 'object' && found !== null && 'payload' in found && 'signatures' in found) return found
  } catch {
    // Said below, once for both.
  }
  throw new CliError('file_unreadable', `${path} holds no statement about quorums`, {
    fix: 'one is made with: strongroom log quorum --directory N --out FILE',
  })
}

const quorumsOf = async ({ strongroom }: Cli) => (await strongroom()).transparency.quorums

const changes = ({ from, to }: Pick<QuorumStatement, 'from' | 'to'>): string =>
  (['directory', 'recovery'] as const)
    .filter((name) => from[name] !== to[name])
    .map((name) => `${name} ${from[name]} → ${to[name]}`)
    .join(', ')

const signatures = ({ signatures: count, needed }: QuorumStatement): string => `${count} of ${needed} signatures`

const dataOf = ({ statement, ...rest }: QuorumStatement) => rest

const fileFor = (cli: Cli, flags: Flags): string => statementFile(cli, flags, 'quorum-statement.json')

async function kept(cli: Cli, signed: QuorumStatement, file: string): Promise<Result> {
  await writePrivate(file, `${JSON.stringify(signed.statement, null, 2)}\n`)
  return {
    data: { state: 'signed', ...dataOf(signed), file },
    text: `${cli.style.good('✓')} ${file}   ${changes(signed)}; ${signatures(signed)}`,
    next:
      signed.signatures >= signed.needed
        ? shellLine`strongroom log quorum --send ${file}   by the administrator who made it`
        : shellLine`strongroom log quorum --countersign ${file}   by another administrator`,
  }
}

/** Whoever needs everybody's signature cannot do without anybody's key. */
const warning = ({ to, administrators }: QuorumStatement): string =>
  Math.max(to.directory, to.recovery) === administrators && administrators > 1
    ? ` That takes all ${administrators} administrators: if one key is lost, it cannot be changed any more.`
    : ''

async function sent(cli: Cli, signed: QuorumStatement): Promise<Result> {
  if (signed.signatures < signed.needed)
    throw new CliError('signatures_missing', `the statement has ${signatures(signed)}`, {
      fix: 'another administrator adds one: strongroom log quorum --countersign FILE',
    })
  await confirm(cli, `${changes(signed)}.${warning(signed)} Send it?`)
  const logged = await (await quorumsOf(cli)).send(signed.statement, { signal: cli.signal })
  return {
    data: { state: 'set', ...logged },
    text: `${cli.style.good('✓')} ${changes(signed)}   entry ${logged.entry} of the log`,
    next: 'strongroom log quorum',
  }
}

async function make(cli: Cli, to: Partial<Quorums>, flags: Flags): Promise<Result> {
  const quorums = await quorumsOf(cli)
  const signed = await quorums.propose(to, { signal: cli.signal })
  if (!signed) return show(cli)
  const isEnough = signed.signatures >= signed.needed && flags.out === undefined
  return isEnough ? sent(cli, signed) : kept(cli, signed, fileFor(cli, flags))
}

async function countersign(cli: Cli, path: string, flags: Flags): Promise<Result> {
  const file = fileFor(cli, flags)
  const statement = await statementFrom(cli, path)
  const quorums = await quorumsOf(cli)
  const found = await quorums.examine(statement, { signal: cli.signal })
  const { identity } = await cli.person()
  await ensureUnsigned(found.statement, identity.kid)
  await confirm(cli, `${changes(found)}.${warning(found)} Sign it?`)
  return kept(cli, await quorums.countersign(statement, { signal: cli.signal }), file)
}

async function show(cli: Cli): Promise<Result> {
  const data = await (await quorumsOf(cli)).show({ signal: cli.signal })
  const { directory, recovery, entry, policyVersion } = data
  const rows = [
    ['directory', `${directory} of the directory administrators sign a policy, or what a key may do`],
    ['recovery', `${recovery} of them sign the recovery of a key, or of a restored log`],
    ['policy', `version ${policyVersion}, entry ${entry} of the log`],
  ] as const
  return { data: { state: 'set', ...data }, text: facts(rows, cli.style) }
}

export const quorum = command({
  summary: 'how many directory administrators have to sign, and changing it',
  about:
    'Without flags it shows what the policy in the log says. With --directory or --recovery it makes the next policy and signs it; where one signature is enough it is sent, otherwise it goes to a file for other administrators to sign. More signatures than there are administrators are refused. Once --directory is 2 or more, naming a console, a provisioner or another administrator takes as many signatures, too: lower it for that, together.',
  args: {},
  flags: {
    directory: flag.count('how many sign a policy, or what a key may do'),
    recovery: flag.count('how many sign a recovery'),
    countersign: flag.text('add your signature to a statement, after seeing what it changes', 'FILE'),
    send: flag.text('send a statement that has all signatures', 'FILE'),
    out: flag.text('where the statement is written', 'FILE', { completes: 'file' }),
  },
  examples: [
    { run: 'strongroom log quorum', does: 'what is in force' },
    { run: 'strongroom log quorum --directory 2 --recovery 2', does: 'with three administrators or more' },
    { run: 'strongroom log quorum --countersign quorum-statement.json', does: 'the second administrator' },
  ],
  next: 'strongroom verify',
  output: async () => (await import('../schemas/quorum.ts')).quorumShape,
  run: async (cli, { flags }) => {
    ensureFolderFor(cli, flags.out)
    const { directory, recovery } = flags
    const isNew = directory !== undefined || recovery !== undefined
    if ([isNew, flags.countersign !== undefined, flags.send !== undefined].filter(Boolean).length > 1)
      throw new CliError('usage', 'one step at a time: new quorums, --countersign or --send', {
        fix: 'give one of them',
      })
    if (isNew)
      return make(
        cli,
        {
          ...(directory !== undefined && { directory }),
          ...(recovery !== undefined && { recovery }),
        },
        flags,
      )
    if (flags.countersign !== undefined) return countersign(cli, flags.countersign, flags)
    if (flags.send !== undefined) {
      const statement = await statementFrom(cli, flags.send)
      return sent(cli, await (await quorumsOf(cli)).examine(statement, { signal: cli.signal }))
    }
    return show(cli)
  },
})
