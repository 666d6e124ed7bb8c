import { resolve } from 'node:path'
import { HOST } from '../../admin/host-flags.ts'
import { confirm } from '../../cli.ts'
import { EXIT } from '../../errors/codes.ts'
import { command, flag } from '../../model/command.ts'
import { facts } from '../../output/table.ts'

const shapes = () => import('../../schemas/admin.ts')

export const rotateRootKey = command({
  summary: 'another root key; everything the server seals is sealed anew',
  about:
    'The new key is on disk before anything is sealed with it, and everything is sealed in one transaction; after a crash the same command goes on. No API key, no passphrase and no log key changes, and no customer secret hangs on the root key. Stop every server on the old key before, and start it with the new one after. The old key stays beside it, for backups that are locked with it.',
  args: {},
  flags: {
    out: flag.text('where the new key goes, if STRONGROOM_ROOT_KEY holds the old one', 'FILE', { completes: 'file' }),
    ...HOST,
  },
  examples: [{ run: 'strongroom admin rotate-root-key --data /var/lib/strongroom', does: 'asks first' }],
  next: 'strongroom up',
  output: async () => (await shapes()).rootKeyShape,
  run: async (cli, { flags }) => {
    const { operate } = await import('../../admin/operator.ts')
    await confirm(cli, 'Servers that still run on the old root key cannot go on with it. Are all of them stopped?')
    const out = flags.out === undefined ? undefined : resolve(cli.io.cwd, flags.out)
    const order = { act: 'rotate-root-key', ...(out !== undefined && { out }) }
    const data = await operate<{ resealed: number; file: string; old: string | null }>(
      cli,
      flags,
      order,
      'sealing anew',
    )
    const tick = cli.style.good('✓')
    return {
      data,
      text: [
        `${tick} Root key        ${data.file}   ${data.resealed} secrets of the server sealed anew`,
        data.old === null
          ? '  set STRONGROOM_ROOT_KEY to what is in this file before you start the server'
          : `${tick} The old one     ${data.old}   delete it when no backup needs it any more`,
      ].join('\n'),
      next: 'strongroom admin backup FILE   backups from now on are locked with the new key',
    }
  },
})

interface Check {
  readonly state: 'empty' | 'current' | 'waiting' | 'newer' | 'foreign'
  readonly data: string | null
  readonly program: string
  readonly waiting: readonly string[]
  readonly postgres: string | null
  readonly lastBackup: string | null
  readonly problem: { readonly code: string; readonly message: string; readonly nextStep: string } | null
}

const DAY_MS = 86_400_000

const VERDICTS: Readonly<Record<Check['state'], string>> = {
  empty: 'there is no data yet; a start makes it',
  current: 'a start changes nothing in the database',
  waiting: 'a start migrates the database, and there is no way back but a restore',
  newer: 'the data is newer than this program: a start refuses',
  foreign: 'the data was made by another program: a start refuses',
}

function ageOf(at: string | null, now = Date.now()): string {
  if (at === null) return 'never'
  const hours = Math.floor((now - Date.parse(at)) / 3_600_000)
  return `${at}, ${hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`} ago`
}

export const upgradeCheck = command({
  summary: 'what a start of this version would do to the data; changes nothing',
  about:
    'Compares the schema of the data with that of this program, lists the migrations that wait, and says when the last backup was begun. Exit code 6 where a start would refuse, 12 where migrations wait and the last backup is older than a day.',
  args: {},
  flags: HOST,
  examples: [{ run: 'strongroom admin upgrade-check', does: 'before the new version is started' }],
  next: 'strongroom admin backup FILE',
  output: async () => (await shapes()).upgradeShape,
  run: async (cli, { flags }) => {
    const { operate } = await import('../../admin/operator.ts')
    const data = await operate<Check>(cli, flags, { act: 'upgrade-check' }, 'looking')
    const isOld = data.lastBackup === null || Date.now() - Date.parse(data.lastBackup) > DAY_MS
    const rows = [
      ['data', data.data ?? 'none'],
      ['program', data.program],
      ['waiting', data.waiting.join(', ')],
      ['postgres', data.postgres ?? undefined],
      ['last backup', data.state === 'empty' ? undefined : ageOf(data.lastBackup)],
      ['so', VERDICTS[data.state]],
      ['fix', data.problem?.nextStep],
    ] as const
    const isRefused = data.state === 'newer' || data.state === 'foreign'
    return {
      data,
      text: facts(rows, cli.style),
      exitCode: isRefused ? EXIT.invalid : data.state === 'waiting' && isOld ? EXIT.partly : EXIT.ok,
      ...(data.state === 'waiting' && isOld && { next: 'strongroom admin backup FILE   with the version of the data' }),
    }
  },
})
