import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { shellLine } from '@strongroom/contract'
import { HOST } from '../../admin/host-flags.ts'
import type { Cli } from '../../cli.ts'
import { CliError } from '../../errors/cli-error.ts'
import { arg, command, flag } from '../../model/command.ts'
import { safeText } from '../../output/safe-text.ts'
import { dataPath, lookAt } from '../../up/data-directory.ts'

interface Org {
  readonly orgId: string
  readonly name: string
}
interface Backup {
  readonly file: string
  readonly bytes: number
  readonly rows: number
  readonly createdAt: string
  readonly schema: string
  readonly orgs: readonly Org[]
  readonly logs: Readonly<Record<string, { readonly size: number; readonly root: string }>>
}
interface Restored {
  readonly createdAt: string
  readonly rows: number
  readonly endedSessions: number
  readonly orgs: readonly Org[]
  /** Where the restored server has its key; null where the settings name it. */
  readonly rootKeyFile: string | null
}

const shapes = () => import('../../schemas/admin.ts')
const PASSPHRASE = {
  'passphrase-file': flag.text('file with the passphrase, - for standard input', 'FILE', { completes: 'file' }),
} as const

const sizeOf = (bytes: number): string =>
  bytes < 1_048_576 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`

/** A new passphrase, if the archive is to be locked with one. */
async function passphraseToLock(cli: Cli, flags: { 'passphrase-file': string | undefined; lock: string | undefined }) {
  if (flags['passphrase-file'] === undefined && flags.lock !== 'passphrase') return undefined
  if (flags.lock === 'root-key')
    throw new CliError('usage', '--passphrase-file and --lock root-key contradict each other')
  const { newPassphrase } = await import('../../sign-in/passphrase.ts')
  return newPassphrase(cli, { file: flags['passphrase-file'], own: [] })
}

export const backup = command({
  summary: 'one encrypted file with everything the database holds',
  about:
    'A snapshot of one moment: organisations, people, agents, sealed values, access lists, the audit trail and the log, and the secrets of the server. It is there whole or not at all, and never written over another file. Locked with the root key of the server unless a passphrase is given; with a passphrase it is enough by itself. Attachments are not in it: copy `objects` of the data directory, or the bucket, afterwards. An embedded database is backed up while its server is stopped.',
  args: { file: arg.one('the file to write', { completes: 'file' }) },
  flags: {
    lock: flag.choice('what opens it; the root key if not given', ['root-key', 'passphrase']),
    ...PASSPHRASE,
    ...HOST,
  },
  examples: [
    { run: 'strongroom admin backup backup.srb', does: 'under the root key: keep a copy of that key elsewhere' },
    { run: 'strongroom admin backup backup.srb --lock passphrase', does: 'asks for a passphrase' },
  ],
  next: 'strongroom admin restore FILE --data DIR   into an empty directory',
  output: async () => (await shapes()).backupShape,
  run: async (cli, { args, flags }) => {
    const file = resolve(cli.io.cwd, args.file)
    if (existsSync(file))
      throw new CliError('archive_exists', `there is a file at ${file} already`, { fix: 'choose another name' })
    const passphrase = await passphraseToLock(cli, flags)
    const { operate } = await import('../../admin/operator.ts')
    const order = { act: 'backup', file, ...(passphrase !== undefined && { passphrase }) }
    const made = await operate<Backup>(cli, flags, order, 'backing up')
    const tick = cli.style.good('✓')
    const logs = made.orgs.map(({ orgId, name }) => `${safeText(name)} (log ${made.logs[orgId]?.size ?? 0})`)
    const lock = passphrase === undefined ? 'root-key' : 'passphrase'
    return {
      data: { ...made, lock },
      text: [
        `${tick} Backup          ${made.file}   ${sizeOf(made.bytes)}`,
        `${tick} In it           ${made.rows} rows, ${made.orgs.length === 0 ? 'no organisation' : logs.join(', ')}`,
        `${tick} Locked with     ${lock === 'passphrase' ? 'the passphrase' : 'the root key: without a copy of it the file is worthless'}`,
        '  Not in it       attachments: copy the folder `objects`, or the bucket, now',
      ].join('\n'),
      next: shellLine`strongroom admin restore ${args.file} --data DIR   into an empty directory`,
    }
  },
})

/** The first line of an archive is in the open, and says what locks the rest. */
async function lockOf(file: string): Promise<string | undefined> {
  const handle = await open(file, 'r').catch((cause: unknown) => {
    throw new CliError('archive_unreadable', `${file} cannot be read`, { fix: 'check the name of the file', cause })
  })
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(512), 0, 512, 0)
    return (JSON.parse(buffer.subarray(0, bytesRead).toString().split('\n')[0] ?? '') as { lock?: string }).lock
  } catch {
    return undefined
  } finally {
    await handle.close()
  }
}

type KeyFlags = Readonly<Record<'passphrase-file' | 'root-key-file', string | undefined>>

/** What opens the archive. A new directory would get a root key of its own, which opens none. */
async function keyFor(cli: Cli, file: string, data: string, flags: KeyFlags) {
  const { 'passphrase-file': from, 'root-key-file': rootKeyFile } = flags
  const lock = await lockOf(file)
  if (lock === 'passphrase') {
    const { secretFrom } = await import('../../sign-in/secret-input.ts')
    return { passphrase: await secretFrom(cli, from, '--passphrase-file', 'Passphrase of the backup') }
  }
  if (rootKeyFile !== undefined) {
    const path = resolve(cli.io.cwd, rootKeyFile)
    if (existsSync(path)) return { rootKeyFile: path }
    throw new CliError('file_unreadable', `there is no file ${path}`, {
      fix: 'check the path given with --root-key-file',
    })
  }
  const { STRONGROOM_ROOT_KEY: given, STRONGROOM_ROOT_KEY_FILE: givenFile } = cli.io.env
  if (lock === 'root-key' && !given && !givenFile && !lookAt(data).had.rootKey)
    throw new CliError('archive_key_wrong', 'the backup is locked with the root key of the server that made it', {
      fix: 'give it with --root-key-file FILE',
    })
  return {}
}

const AFTER = (data: string): readonly string[] => [
  '',
  'Every log waits now for a statement of its administrators: it is read, and not written.',
  shellLine`  1  strongroom up --data ${data}`,
  '     start the server; copy `objects` of the backup into the directory first',
  '  2  strongroom login',
  '     every session has ended; an administrator signs in, on the machine that has seen most',
  '  3  strongroom log recover --reason "restored from last night"',
  '     signs what was kept and what is lost; with a quorum it writes a file for the others to sign',
  '  4  revoke again what was revoked after the backup: API keys, people, readers of vaults',
]

/** A database that a restore made, and was killed before it had filled it, holds nothing; the server makes sure of that. */
function ensureEmpty({ io, say }: Cli, data: string): void {
  const { had, isUnfinished } = lookAt(data)
  if (io.env.DATABASE_URL || !had.database) return
  if (!isUnfinished)
    throw new CliError('data_not_empty', `there is a database in ${data} already`, {
      fix: 'give a directory with --data that is empty or not there yet; nothing in this one was touched',
    })
  say(`a restore into ${data} was cut off; this one goes on in its place`)
}

export const restore = command({
  summary: 'a backup into an empty data directory, all of it or nothing',
  about:
    'Row counts, digest and the root of every log are compared before anything is kept; a refusal leaves the directory as it was. All sessions end. API keys are as they were at the backup: one that was revoked since works again until it is revoked again. Afterwards an administrator signs what happened with `strongroom log recover`; until then nothing can be changed. Never bring it on line beside the old server.',
  args: { file: arg.one('the backup', { completes: 'file' }) },
  flags: {
    ...PASSPHRASE,
    'root-key-file': flag.text('the root key that locks it, where it is another one', 'FILE', { completes: 'file' }),
    ...HOST,
  },
  examples: [
    { run: 'strongroom admin restore backup.srb --data ./restored', does: 'with DIR/root.key, or --root-key-file' },
    { run: 'strongroom admin restore backup.srb --data ./restored --passphrase-file p', does: 'asks nothing' },
  ],
  next: 'strongroom log recover --reason TEXT   by an administrator',
  output: async () => (await shapes()).restoreShape,
  run: async (cli, { args, flags }) => {
    const file = resolve(cli.io.cwd, args.file)
    const data = dataPath(cli.io, flags.data)
    ensureEmpty(cli, data)
    const order = { act: 'restore', file, ...(await keyFor(cli, file, data, flags)) }
    const { operate } = await import('../../admin/operator.ts')
    const done = await operate<Restored>(cli, flags, order, 'restoring')
    const names = done.orgs.map(({ name }) => safeText(name)).join(', ')
    const head = `${cli.style.good('✓')} Restored        ${done.rows} rows of ${done.createdAt}: ${names}; ${done.endedSessions} sessions ended`
    const key = done.rootKeyFile ? [`  Root key        ${done.rootKeyFile}: keep a copy elsewhere`] : []
    return {
      data: { ...done, data, waitsForStatement: done.orgs.length > 0 },
      text: [head, ...key, ...(done.orgs.length > 0 ? AFTER(data) : [])].join('\n'),
    }
  },
})
