import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { strToU8, zipSync } from 'fflate'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// Catches: a dry run that writes, a second run that doubles items or passes over new fields (seen red), a value that is written over, a
// file that may be deleted although it is the only copy (seen red), attachments that are left out in silence (seen red), a value in what is printed, an archive that opens with another
// passphrase or can be read, a value in git history that is not found, a found value that is shown, a path that
// is taken from where this process runs; two items of one name in a vault (seen red: names counted by folder, and a counted name that the
// file has itself).

const CANARY = 'canary-9f31b7c2d4'

let world: World
let machine: Machine
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
})
afterAll(() => world.close())

interface Imported {
  readonly imported: number
  readonly complete: boolean
  readonly plan: { readonly vault: string; readonly items: string[]; readonly skipped: string[] }[]
  readonly leftOut: { readonly name: string; readonly reason: string }[]
}

const labelsOf = async (ref: string): Promise<string> => {
  const { fields } = await jsonOf<{ fields: { label: string }[] }>(machine, ['item', 'show', ref])
  return fields
    .map(({ label }) => label)
    .sort()
    .join(' ')
}

it('imports dotenv into a vault, shows first what it would do, and brings nothing twice', async () => {
  const file = machine.file('.env', `STRIPE_KEY=${CANARY}\nEMPTY=\nURL="https://x.test/a b"\n`)
  // From where it is called, not from where this process runs.
  const dry = await jsonOf<Imported>(machine, ['import', 'dotenv', basename(file), '--vault', 'prod', '--dry-run'])
  expect(dry).toMatchObject({ imported: 0, plan: [{ vault: 'prod', items: ['env'] }], leftOut: [{ name: 'EMPTY' }] })
  expect(await jsonOf<unknown[]>(machine, ['vault', 'list'])).toEqual([])
  const refused = await machine.call(['import', 'dotenv', file, '--vault', 'prod', '--json'])
  expect(refused.error().code).toBe('confirmation_required')
  const shown = await machine.call(['import', 'dotenv', file, '--vault', 'prod', '--yes'])
  expect(shown.code).toBe(0)
  expect(shown.stdout + shown.stderr).not.toContain(CANARY)
  expect(await labelsOf('prod/env')).toBe('STRIPE_KEY URL')
  const again = await jsonOf<Imported>(machine, ['import', 'dotenv', file, '--vault', 'prod', '--yes'])
  expect(again).toMatchObject({ imported: 0, fieldsAdded: 0, complete: true, plan: [{ skipped: ['env'] }] })
})

it('brings the fields that are missing, names those that differ and changes none, and lets nobody delete the only copy', async () => {
  mkdirSync(join(machine.home, 'b'))
  const imports = (path: string, ...more: string[]) =>
    machine.call(['import', 'dotenv', path, '--vault', 'dev', '--yes', ...more])
  const whole = await imports(machine.file('b/.env', `ONE=${CANARY}\nTWO=2\n`))
  expect(whole.code).toBe(0)
  expect(whole.stdout).toMatch(/everything is in; delete .*b\/\.env/)
  const file = machine.file('.env', `ONE=other-${CANARY}\nTWO=2\nTHREE=3\n`)
  const part = await imports(file)
  expect(part.code).toBe(12)
  expect(part.stdout).toContain('add   dev/env  THREE')
  expect(part.stdout).toContain('keep  dev/env  another value here: ONE')
  expect(part.stdout).toContain(`keep ${file}: not everything in it is in the vaults`)
  expect(part.stdout + part.stderr).not.toMatch(/delete|canary/)
  expect(await labelsOf('dev/env')).toBe('ONE THREE TWO')
  expect((await machine.call(['read', 'dev/env/ONE'])).stdout).toBe(CANARY)
  expect((await machine.call(['read', 'dev/env/THREE'])).stdout).toBe('3')
  const again = await imports(file, '--json')
  expect(again.code).toBe(12)
  expect(again.json().data).toMatchObject({
    imported: 0,
    fieldsAdded: 0,
    complete: false,
    plan: [{ added: [], differing: [{ item: 'env', fields: ['ONE'] }] }],
  })
  expect((await imports(machine.file('.env', 'FOUR=4\n'), '--item', 'second')).code).toBe(0)
  expect(await labelsOf('dev/second')).toBe('FOUR')
  const others = ['import', 'bitwarden', file, '--item', 'x', '--json']
  expect((await machine.call(others)).error().code).toBe('usage')
})

it('imports 1Password vault by vault, and names what it left out', async () => {
  const item = (title: string, details: object, state = 'active') => ({ state, overview: { title }, details })
  const data = {
    accounts: [
      {
        vaults: [
          {
            attrs: { name: 'Team' },
            items: [
              item('Stripe', {
                loginFields: [
                  { designation: 'username', value: 'ada' },
                  { designation: 'password', value: CANARY },
                ],
                sections: [
                  {
                    fields: [
                      { title: 'pin', value: { concealed: '1234' } },
                      { title: 'pin', value: { string: '5' } },
                    ],
                  },
                ],
              }),
              item('Stripe', { password: 'second' }),
              item('Old', { password: 'x' }, 'archived'),
              item('Empty', {}),
            ],
          },
        ],
      },
    ],
  }
  const path = join(machine.home, 'export.1pux')
  writeFileSync(path, zipSync({ 'export.data': strToU8(JSON.stringify(data)) }))
  const ended = await machine.call(['import', '1password', path, '--map', 'Team=team', '--yes', '--json'])
  expect(ended.code).toBe(12)
  const done: Imported = ended.json().data
  expect(done.complete).toBe(false)
  expect(done.plan).toMatchObject([{ vault: 'team', items: ['Stripe', 'Stripe 2'] }])
  expect(done.leftOut.map(({ name }) => name)).toEqual(['Old', 'Empty'])
  expect(await labelsOf('team/Stripe')).toBe('password pin pin 2 username')
  const wrong = machine.file('no.1pux', 'not a zip')
  expect((await machine.call(['import', '1password', wrong, '--json'])).error().code).toBe('import_unreadable')
})

it('imports Bitwarden by folder, and refuses an encrypted export', async () => {
  const file = machine.file(
    'bitwarden.json',
    JSON.stringify({
      folders: [{ id: 'f', name: 'Infra' }],
      items: [
        {
          name: 'DB',
          folderId: 'f',
          login: { username: 'root', password: CANARY, uris: [{ uri: 'https://db.test' }] },
        },
        { name: 'Note', notes: 'hello' },
      ],
    }),
  )
  const done = await jsonOf<Imported>(machine, ['import', 'bitwarden', file, '--yes'])
  expect(done.plan.map(({ vault, items }) => `${vault}/${items}`)).toEqual(['Infra/DB', 'Bitwarden/Note'])
  const sealed = machine.file('sealed.json', JSON.stringify({ encrypted: true, items: [] }))
  expect((await machine.call(['import', 'bitwarden', sealed, '--json'])).error().code).toBe('import_unreadable')
})

it('gives items of one name names of their own, also from two folders, and a second run finds them by those', async () => {
  const login = { username: 'root', password: CANARY }
  const file = machine.file(
    'alike.json',
    JSON.stringify({
      folders: [
        { id: 'f', name: 'First' },
        { id: 's', name: 'Second' },
      ],
      items: [
        { name: 'DB', folderId: 'f', login },
        { name: 'DB', folderId: 's', login },
        { name: 'DB 2', folderId: 's', login },
      ],
    }),
  )
  const imports = (...more: string[]) =>
    jsonOf<Imported>(machine, ['import', 'bitwarden', file, '--vault', 'alike', ...more])
  const names = ['DB', 'DB 3', 'DB 2']
  expect(await imports('--dry-run')).toMatchObject({ plan: [{ vault: 'alike', items: names }] })
  expect(await imports('--yes')).toMatchObject({ imported: 3, plan: [{ items: names }] })
  expect(await imports('--yes')).toMatchObject({ imported: 0, complete: true, plan: [{ items: [], skipped: names }] })
})

it('exports an archive that only its passphrase opens, never over a file, and brings it back', async () => {
  const out = join(machine.home, 'backup.srx')
  const env = { STRONGROOM_PASSPHRASE_FILE: machine.file('archive-pass', 'a long enough passphrase\n') }
  const done = await jsonOf<{ items: number }>(machine, ['export', '--out', out], env)
  expect(done.items).toBeGreaterThan(3)
  expect(statSync(out).mode & 0o777).toBe(0o600)
  expect(readFileSync(out).includes(CANARY)).toBe(false)
  expect((await machine.call(['export', '--out', out, '--json'], { env })).error().code).toBe('file_unwritable')
  const other = { STRONGROOM_PASSPHRASE_FILE: machine.file('other-pass', 'another long passphrase\n') }
  const wrong = await machine.call(['import', 'archive', out, '--dry-run', '--json'], { env: other })
  expect(wrong.error().code).toBe('wrong_passphrase')
  const back = await jsonOf<Imported>(machine, ['import', 'archive', out, '--map', 'prod=copy', '--yes'], env)
  expect(back.plan.find(({ vault }) => vault === 'copy')).toMatchObject({ items: ['env'] })
  const short = { STRONGROOM_PASSPHRASE_FILE: machine.file('short-pass', 'short\n') }
  const refused = await machine.call(['export', '--out', `${out}2`, '--json'], { env: short })
  expect(refused.error().code).toBe('weak_passphrase')
  expect(existsSync(`${out}2`)).toBe(false)
  expect((await machine.call(['export', '--plaintext', '--json'])).stdout).toBe('')
})

it('names the attachments that an archive has no place for, and does not end as if it were whole', async () => {
  machine.file('server.pem', 'certificate')
  await jsonOf(machine, ['file', 'put', 'server.pem', 'prod/env'])
  const env = { STRONGROOM_PASSPHRASE_FILE: machine.file('archive-pass', 'a long enough passphrase\n') }
  const out = join(machine.home, 'part.srx')
  const shown = await machine.call(['export', '--vault', 'prod', '--out', out], { env })
  expect(shown.code).toBe(12)
  expect(shown.stderr).toMatch(/1 attachment is not in it:\n {2}prod\/env\/server\.pem\n.*strongroom file get/)
  expect(existsSync(out)).toBe(true)
  const json = await machine.call(['export', '--vault', 'prod', '--out', `${out}2`, '--json'], { env })
  expect(json.code).toBe(12)
  expect(json.json().data).toMatchObject({ items: 1, attachmentsLeftOut: ['prod/env/server.pem'] })
})

it('finds own values in files and git history in any form, says which and where, and never shows them', async () => {
  const folder = join(machine.home, 'repo')
  mkdirSync(folder)
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args])
  git('init', '-q')
  writeFileSync(join(folder, 'old.txt'), `first\nkey: ${Buffer.from(CANARY).toString('base64')}\n`)
  git('add', '.')
  git('commit', '-qm', 'one')
  writeFileSync(join(folder, 'old.txt'), 'clean\n')
  git('commit', '-qam', 'two')
  const clean = await machine.call(['scan', folder])
  expect(clean).toMatchObject({ code: 0 })
  const found = await machine.call(['scan', folder, '--history', '--vault', 'prod', '--json'])
  expect(found.code).toBe(6)
  expect(found.json().data).toMatchObject({ found: [{ path: 'old.txt', line: 2, ref: 'sr://prod/env/STRIPE_KEY' }] })
  expect(found.stdout).not.toContain(CANARY)
  writeFileSync(join(folder, 'new.txt'), CANARY)
  git('add', '.')
  expect((await machine.call(['scan', folder, '--staged'])).code).toBe(6)
  const hook = await jsonOf<{ hook: string }>(machine, ['scan', folder, '--install-hook'])
  expect(statSync(hook.hook).mode & 0o111).not.toBe(0)
  expect((await machine.call(['scan', machine.home, '--staged', '--json'])).error().code).toBe('not_a_repository')
})
