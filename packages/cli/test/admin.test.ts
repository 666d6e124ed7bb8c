import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { logRecover, peekDocument } from '@strongroom/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startHarness } from '../../server/test/harness.ts'
import { killedRestore } from '../../server/test/killed-restore.ts'
import { operatorOf, seeingAll } from '../../server/test/operator-seed.ts'
import { freePort } from '../../server/test/process.ts'
import { jsonOf } from './shapes.ts'
import { startUp, type Up } from './up-process.ts'
import { type Machine, makeMachine } from './world.ts'

// The operator on the host, with the embedded PostgreSQL and a server that is started and stopped: token, keys, backup, another
// root key, and the whole drill of a restore up to the signed statement. Catches: data made where there is none, data migrated by
// its backup, half a file or a database left behind by an interrupt, a root key that is lost half way, a restore that leaves
// something when it refuses, a statement that gives up less than was seen, a token or key shown to a coding agent.
// Seen red: no look at the directory, migrations applied by `admin`, no way on after a rotation that was cut off, what a refused restore
// made left there, the statement made without the trust store, the token shown in agent mode, exit 0 for data of another program,
// an interrupt that ends the operator program at once, and one that is not heard while the database starts; a restore that was killed and
// keeps the next one out, a state folder that cannot be written taken for a mistake of the program.

let folder: string
let machine: Machine
let data: string
let port: string
const at = (name: string): string => join(machine.home, name)
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sr-admin-'))
  // As root, PostgreSQL runs as another user, who must be able to pass through.
  chmodSync(folder, 0o711)
  machine = makeMachine(folder, 'host')
  data = at('data')
  port = String(await freePort())
  machine.file('passphrase', 'purple otter canal lantern\n')
  machine.file('archive-passphrase', 'velvet harbor comet thirteen\n')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const onData = ['--data', 'data'] as const
const SEALED = ['--passphrase-file', 'archive-passphrase'] as const

async function startServer(directory: string): Promise<Up> {
  const up = startUp(machine, ['--data', directory, '--port', port])
  expect(await up.next()).toMatchObject({ type: 'ready' })
  return up
}

async function stop(up: Up): Promise<void> {
  up.kill('SIGTERM')
  await up.ended
}

const write = async (ref: string, value: string) => {
  const ended = await machine.call(['set', ref, '--create-vault', '--json'], { input: value })
  expect(ended.code, ended.stderr).toBe(0)
}

const refused = async (args: readonly string[], code: string, exitCode: number, env: Record<string, string> = {}) => {
  const ended = await machine.call([...args, '--json'], { env })
  expect(ended.stdout).toBe('')
  expect(ended.error(), args.join(' ')).toMatchObject({ code, exitCode })
  expect(ended.code).toBe(exitCode)
  return ended
}

it('shows the setup token of a running server to people only, and touches no data that a server uses', async () => {
  // Where it cannot be kept for `init`, nobody could use the server.
  const forgetful = { ...machine, env: { ...machine.env, XDG_STATE_HOME: machine.file('no-folder', '') } }
  const blind = startUp(forgetful, ['--data', data, '--port', port])
  expect(await blind.ended).toBe(6)
  expect(JSON.parse(blind.stderr()).error).toMatchObject({
    code: 'file_unwritable',
    message: expect.stringMatching(/^the setup token cannot be kept for init: .*no-folder/),
    hint: expect.stringContaining('XDG_STATE_HOME'),
  })
  const up = await startServer(data)
  const token = await jsonOf<{ isNew: boolean; setupToken: string }>(machine, ['admin', 'setup-token', ...onData])
  expect(token).toMatchObject({ isNew: false, setupToken: expect.stringMatching(/^srs_/) })
  const hidden = await refused(['admin', 'setup-token', ...onData], 'plaintext_refused_for_agent', 4, {
    STRONGROOM_AGENT_MODE: '1',
  })
  expect(hidden.stderr).not.toContain('srs_')
  await refused(['admin', 'setup-token', '--new', ...onData], 'data_directory_in_use', 6)
  const saved = await jsonOf(machine, ['admin', 'setup-token', '--out', 'token', ...onData])
  expect(saved).toEqual({ isNew: false, file: at('token') })
  expect(statSync(at('token')).mode & 0o777).toBe(0o600)
  await refused(['admin', 'setup-token', '--out', 'token', ...onData], 'file_unwritable', 6)
  const who = ['--org', 'Northwind', '--name', 'Ada Park', '--email', 'ada@northwind.test']
  const files = ['--passphrase-file', 'passphrase', '--setup-token-file', 'token']
  await jsonOf(machine, ['init', '--server', `http://127.0.0.1:${port}`, ...who, ...files])
  await write('prod/stripe/KEY', 'kept')
  await refused(['admin', 'backup', 'busy.srb', ...onData], 'data_directory_in_use', 6)
  expect(readdirSync(machine.home).filter((name) => name.startsWith('busy'))).toEqual([])
  await refused(['log', 'recover', '--reason', 'nothing happened', '--yes'], 'no_recovery_due', 6)
  expect(await jsonOf(machine, ['log', 'recover'])).toEqual({ state: 'none' })
  await stop(up)
  await refused(['admin', 'setup-token', ...onData], 'already_set_up', 6)
})

it('makes nothing where there is no data', async () => {
  const some = [['orgs'], ['backup', 'none.srb'], ['global-admin-key', 'list'], ['license-review', 'list']]
  for (const words of [...some, ['rotate-root-key', '--yes'], ['rotate-issuer-key', '--yes']])
    await refused(['admin', ...words, '--data', 'nowhere'], 'no_data_here', 5)
  expect(await jsonOf(machine, ['admin', 'upgrade-check', '--data', 'nowhere'])).toMatchObject({ state: 'empty' })
  expect(existsSync(at('nowhere'))).toBe(false)
})

interface Org {
  readonly orgId: string
  readonly name: string
}

it('makes, lists and ends global-admin keys; a key is shown once, to people or into a file', async () => {
  const keys = ['admin', 'global-admin-key']
  await refused([...keys, 'create', ...onData], 'plaintext_refused_for_agent', 4, { STRONGROOM_AGENT_MODE: '1' })
  await refused([...keys, 'create', '--org', 'Initech', ...onData], 'org_not_found', 5)
  const made = await jsonOf<{ org: Org; accessKey: string }>(machine, [...keys, 'create', '--out', 'key', ...onData])
  expect(made).toMatchObject({ org: { name: 'Northwind' }, file: at('key') })
  expect(JSON.stringify(made)).not.toContain(readFileSync(at('key'), 'utf8').trim())
  expect(readFileSync(at('key'), 'utf8')).toMatch(new RegExp(`^${made.accessKey}\\.\\S+\n$`))
  const listed = await jsonOf<{ keys: unknown[] }>(machine, [...keys, 'list', ...onData])
  expect(listed).toMatchObject({ keys: [{ accessKey: made.accessKey }] })
  await refused([...keys, 'revoke', ...onData], 'confirmation_required', 2)
  await refused([...keys, 'revoke', '--key', 'sra_other', '--yes', ...onData], 'global_admin_key_not_found', 5)
  expect(await jsonOf(machine, [...keys, 'revoke', '--yes', ...onData])).toMatchObject({ revoked: 1 })
  await refused([...keys, 'frobnicate', ...onData], 'usage', 2)
})

it('lists, gives up and settles what waits for a human, and makes another key for licences', async () => {
  const review = ['admin', 'license-review']
  expect(await jsonOf(machine, [...review, 'list', ...onData])).toMatchObject({
    org: { name: 'Northwind' },
    purchases: [],
  })
  await refused([...review, 'give-up', '--yes', ...onData], 'usage', 2)
  await refused([...review, 'give-up', 'pur_none', ...onData], 'confirmation_required', 2)
  await refused([...review, 'give-up', 'pur_none', '--yes', ...onData], 'purchase_not_in_review', 5)
  const settle = [...review, 'settle', 'ter_none', ...onData]
  await refused([...settle, '--yes'], 'usage', 2)
  await refused([...review, 'settle', '--refund', '0', '--yes', ...onData], 'usage', 2)
  await refused([...settle, '--refund', '-1', '--yes'], 'usage', 2)
  await refused([...settle, '--refund', '4.50'], 'confirmation_required', 2)
  await refused([...settle, '--refund', '4.50', '--yes'], 'termination_not_in_review', 5)
  await refused(['admin', 'rotate-issuer-key', ...onData], 'confirmation_required', 2)
  const made = await jsonOf<{ kid: string }>(machine, ['admin', 'rotate-issuer-key', '--yes', ...onData])
  expect(made.kid).toMatch(/^[A-Za-z0-9_-]{16}$/)
})

it('backs up into a file of its own, says what is in it, and an upgrade check knows of it', async () => {
  machine.file('weak', 'northwind\n')
  await refused(['admin', 'backup', 'b.srb', '--passphrase-file', 'weak', ...onData], 'weak_passphrase', 6)
  const ended = await machine.call(['admin', 'backup', 'b.srb', ...SEALED, ...onData])
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  expect(ended.stdout).toMatch(/✓ In it +\d+ rows, Northwind \(log \d+\)/)
  expect(ended.stdout).toContain('Not in it       attachments')
  expect(statSync(at('b.srb')).mode & 0o777).toBe(0o600)
  const whole = readFileSync(at('b.srb'))
  await refused(['admin', 'backup', 'b.srb', ...onData], 'archive_exists', 6)
  expect(readFileSync(at('b.srb')).equals(whole)).toBe(true)
  const made = await jsonOf<{ orgs: Org[] }>(machine, ['admin', 'backup', 'under-root-key.srb', ...onData])
  expect(made).toMatchObject({ lock: 'root-key', orgs: [{ name: 'Northwind' }] })
  const after = await jsonOf<{ lastBackup: string }>(machine, ['admin', 'upgrade-check', ...onData])
  expect(Date.now() - Date.parse(after.lastBackup)).toBeLessThan(120_000)
})

it('leaves neither half a file nor a database that runs on by itself where a backup is interrupted', async () => {
  const running = join(data, 'postgres/data/postmaster.pid')
  const backup = machine.call(['admin', 'backup', 'late.srb', ...onData, '--json'])
  await expect.poll(() => existsSync(running), { interval: 5, timeout: 60_000 }).toBe(true)
  // As Ctrl-C reaches this program.
  process.emit('SIGINT')
  expect((await backup).error()).toMatchObject({ code: 'interrupted', exitCode: 130 })
  expect(readdirSync(machine.home).filter((name) => name.startsWith('late'))).toEqual([])
  expect(existsSync(running)).toBe(false)
})

it('says what an upgrade would do, by exit code too, changes nothing, and makes no backup of data it would migrate', async () => {
  const h = await startHarness()
  const { host, port: socket, user, password, database } = operatorOf(h).owner
  const env = {
    DATABASE_URL: `postgresql://${user}:${password}@localhost/${database}?host=${encodeURIComponent(String(host))}&port=${socket}`,
  }
  const check = async (change: string) => {
    const rows = await seeingAll(h, async (client) => {
      await client.query(change)
      return (await client.query('select name, digest from migration order by name')).rows
    })
    const ended = await machine.call(['admin', 'upgrade-check', '--json'], { env })
    expect(
      await seeingAll(
        h,
        async (client) => (await client.query('select name, digest from migration order by name')).rows,
      ),
    ).toEqual(rows)
    return { code: ended.code, data: ended.json().data as Record<string, unknown> }
  }
  expect(await check('select 1')).toMatchObject({ code: 0, data: { state: 'current', lastBackup: null } })
  const last = `(select max(name) from migration)`
  const late = await check(`delete from migration where name = ${last}`)
  expect(late).toMatchObject({ code: 12, data: { state: 'waiting', waiting: [late.data.program] } })
  await refused(['admin', 'backup', 'early.srb'], 'migrations_waiting', 6, env)
  expect(existsSync(at('early.srb'))).toBe(false)
  expect(await check(`update migration set digest = 'other' where name = ${last}`)).toMatchObject({
    code: 6,
    data: { state: 'foreign', problem: { code: 'database_foreign' } },
  })
  await h.close()
})

it('gives the server another root key after asking, goes on where a run was cut off, and keeps the old key', async () => {
  await refused(['admin', 'rotate-root-key', ...onData], 'confirmation_required', 2)
  const old = readFileSync(join(data, 'root.key'), 'utf8')
  const rotated = await jsonOf<{ file: string; old: string }>(machine, ['admin', 'rotate-root-key', '--yes', ...onData])
  expect(rotated).toMatchObject({ resealed: expect.any(Number), file: join(data, 'root.key') })
  expect(readFileSync(rotated.old, 'utf8')).toBe(old)
  const next = readFileSync(join(data, 'root.key'), 'utf8')
  expect(next).not.toBe(old)
  expect(statSync(join(data, 'root.key')).mode & 0o777).toBe(0o600)
  // As a crash leaves it between the database and the file.
  writeFileSync(join(data, 'root.key'), old)
  writeFileSync(join(data, 'root.key.next'), next, { mode: 0o600 })
  await refused(['admin', 'orgs', ...onData], 'root_key_wrong', 6)
  const again = await jsonOf<{ resealed: number }>(machine, ['admin', 'rotate-root-key', '--yes', ...onData])
  expect(again.resealed).toBe(0)
  expect(readFileSync(join(data, 'root.key'), 'utf8')).toBe(next)
  expect(await jsonOf<Org[]>(machine, ['admin', 'orgs', ...onData])).toMatchObject([{ name: 'Northwind' }])
})

it('restores into an empty directory or not at all, and leads through the signed statement', {
  timeout: 300_000,
}, async () => {
  const yesterday = await startServer(data)
  await write('prod/stripe/LATER', 'lost')
  await stop(yesterday)
  await refused(['admin', 'restore', 'b.srb', ...SEALED, ...onData], 'data_not_empty', 6)
  const into = ['--data', 'restored'] as const
  await refused(['admin', 'restore', 'b.srb', '--passphrase-file', 'passphrase', ...into], 'archive_key_wrong', 6)
  expect(readdirSync(at('restored'))).toEqual([])
  await refused(['admin', 'restore', 'absent.srb', ...into], 'archive_unreadable', 6)
  await refused(['admin', 'restore', 'under-root-key.srb', ...into], 'archive_key_wrong', 6)
  // One that was killed had made a database and had filled nothing: the next one goes on there.
  expect(await killedRestore(at('restored'), at('b.srb'), 'velvet harbor comet thirteen')).toBe('SIGKILL')
  expect(readdirSync(at('restored')).sort()).toEqual(['postgres', 'restore.unfinished'])
  await refused(['admin', 'restore', 'b.srb', '--passphrase-file', 'passphrase', ...into], 'archive_key_wrong', 6)
  const restored = await machine.call(['admin', 'restore', 'b.srb', ...SEALED, ...into])
  expect(restored).toMatchObject({ code: 0, stderr: expect.stringMatching(/^a restore into \S+ was cut off.*\n$/) })
  expect(existsSync(at('restored/restore.unfinished'))).toBe(false)
  // From then on it is a directory like any other, also if somebody had started a server there meanwhile.
  await refused(['admin', 'restore', 'b.srb', ...SEALED, ...into], 'data_not_empty', 6)
  writeFileSync(at('restored/restore.unfinished'), '')
  await refused(['admin', 'restore', 'b.srb', ...SEALED, ...into], 'database_not_empty', 6)
  for (const step of [`strongroom up --data ${at('restored')}`, 'strongroom login', 'strongroom log recover --reason'])
    expect(restored.stdout).toContain(step)

  const server = await startServer(at('restored'))
  expect(existsSync(at('restored/restore.unfinished'))).toBe(false)
  const env = { STRONGROOM_PASSPHRASE_FILE: at('passphrase') }
  expect((await machine.call(['login'], { env })).code).toBe(0)
  // This machine has seen what is lost: nothing is opened before somebody has signed for it.
  expect((await machine.call(['read', 'prod/stripe/KEY'])).code).toBe(9)
  const waiting = await jsonOf<{ keptSize: number }>(machine, ['log', 'recover'])
  expect(waiting).toMatchObject({ state: 'waiting', recoverQuorum: 1 })
  await refused(['log', 'recover', '--reason', 'drill'], 'confirmation_required', 2)
  await refused(['log', 'recover', '--send', 'passphrase'], 'file_unreadable', 6)
  const signed = await jsonOf<{ file: string }>(machine, ['log', 'recover', '--reason', 'drill', '--out', 's.json'])
  expect(signed).toMatchObject({ state: 'signed', signatures: 1, file: at('s.json') })
  await refused(['log', 'recover', '--reason', 'again', '--out', 's.json'], 'file_unwritable', 6)
  // What is given up is what this machine has seen, not only what the server says.
  const { payload } = peekDocument(logRecover, JSON.parse(readFileSync(at('s.json'), 'utf8')))
  expect(payload.lost.size).toBeGreaterThan(waiting.keptSize)
  // A signature counts once, however often its owner gives it.
  await refused(['log', 'recover', '--countersign', 's.json'], 'already_signed', 6)
  expect((await machine.call(['read', 'prod/stripe/KEY'])).code).toBe(9)
  const done = await jsonOf(machine, ['log', 'recover', '--send', 's.json', '--yes'])
  expect(done).toMatchObject({ state: 'recovered', keptSize: waiting.keptSize })
  expect(await machine.call(['read', 'prod/stripe/KEY'])).toMatchObject({ code: 0, stdout: 'kept' })
  expect((await machine.call(['read', 'prod/stripe/LATER'])).code).toBe(5)
  await write('prod/stripe/LATER', 'again')
  await stop(server)
})
