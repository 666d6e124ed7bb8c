import { createCipheriv, randomBytes, scryptSync } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { strToU8, zipSync } from 'fflate'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openArchive, SEGMENT, sealArchive } from '../src/archive/sealed-archive.ts'
import { writePrivate } from '../src/place/private-file.ts'
import { jsonOf } from './shapes.ts'
import { type Machine, PASSPHRASE, startWorld, type World } from './world.ts'

// Catches: a dry run that writes, a second run that doubles items or passes over new fields (seen red), a value that is written over, a
// file that may be deleted although it is the only copy (seen red), a value in what is printed, an archive that opens with another
// passphrase or can be read, a path that is taken from where this process runs; two items of one name in a vault (seen red: names counted by
// folder, and a counted name that the file has itself), two fields of one label (seen red: labels as they come, and one that the dry run
// does not name); an import that ends half-way at a value, a name or a number of fields there is no room for (seen red: nothing left out, a
// name made too long, half of a character), and a file said to be needed no more although it has documents, passkeys or earlier passwords
// that are not here, or letters that are not UTF-8 (seen red), a variable that moves to another item because of one before it (seen red: the
// import refused, and a variable twice). Of archives, seen red: attachments that stay behind, one of the same size
// that is taken for the same, segments that can change places or be cut off, and what ends an export said to be the fault of the file, and
// the passphrase of the keys that seals one unasked.

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

it('brings nothing from a file that is not UTF-8, in which letters would be lost', async () => {
  const umlauts = Buffer.from('gr\xfc\xdfe-4711', 'latin1')
  const login = { name: 'a', type: 1, login: { password: 'PASSWORD' } }
  const bitwarden = JSON.stringify({ encrypted: false, items: [login] }).split('PASSWORD')
  const item = { overview: { title: 'a' }, details: { loginFields: [{ designation: 'password', value: 'PASSWORD' }] } }
  const accounts = [{ vaults: [{ attrs: { name: 'latin' }, items: [item] }] }]
  const onePassword = JSON.stringify({ accounts }).split('PASSWORD')
  const within = ([before = '', after = '']: string[]): Buffer =>
    Buffer.concat([Buffer.from(before), umlauts, Buffer.from(after)])
  const files = {
    dotenv: within(['DB_PASSWORD=', '\n']),
    bitwarden: within(bitwarden),
    '1password': Buffer.from(zipSync({ 'export.data': within(onePassword) })),
  }
  for (const [source, bytes] of Object.entries(files)) {
    const file = join(machine.home, `latin.${source}`)
    writeFileSync(file, bytes)
    const refused = await machine.call(['import', source, file, '--vault', 'latin', '--yes', '--json'])
    expect(refused.error(), source).toMatchObject({ message: expect.stringContaining('is not UTF-8'), exitCode: 6 })
  }
  expect(await jsonOf<unknown[]>(machine, ['vault', 'list'])).toEqual([])
})

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
  const single = ['import', 'dotenv', machine.file('single.env', 'ONE=1\n'), '--vault', 'dev', '--dry-run']
  expect((await machine.call(single)).stdout).toContain('dev/single.env  1 field, new vault')
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
  const bring = ['import', '1password', path, '--map', 'Team=team']
  const dry = await machine.call([...bring, '--dry-run'])
  expect(dry.stdout).toMatch(/^new +team\/Stripe +4 fields, labelled here: pin 2, new vault$/m)
  const ended = await machine.call([...bring, '--yes', '--json'])
  expect(ended.code).toBe(12)
  const done: Imported = ended.json().data
  expect(done.complete).toBe(false)
  expect(done.plan).toMatchObject([{ vault: 'team', items: ['Stripe', 'Stripe 2'] }])
  expect(done.plan).toMatchObject([{ renamed: [{ item: 'Stripe', fields: ['pin 2'] }] }])
  expect(done.leftOut.map(({ name }) => name)).toEqual(['Old', 'Empty'])
  expect(await labelsOf('team/Stripe')).toBe('password pin pin 2 username')
  const wrong = machine.file('no.1pux', 'not a zip')
  expect((await machine.call(['import', '1password', wrong, '--json'])).error().code).toBe('import_unreadable')
})

it('brings documents and files of 1Password along, and names what has no place', async () => {
  const document = { fileName: 'licence.txt', documentId: 'doc1' }
  const gone = { fileName: 'gone.txt', documentId: 'doc3' }
  const items = [
    { overview: { title: 'Licence' }, details: { documentAttributes: document } },
    {
      overview: { title: 'Shop', url: 'https://a.test', urls: [{ url: 'https://a.test' }, { url: 'https://b.test' }] },
      details: {
        password: CANARY,
        passwordHistory: [{ value: 'before' }],
        sections: [
          {
            fields: [
              { title: 'scan', value: { file: { fileName: 'scan.bin', documentId: 'doc2' } } },
              { title: 'lost', value: { file: gone } },
            ],
          },
        ],
      },
    },
  ]
  const path = join(machine.home, 'files.1pux')
  const data = JSON.stringify({ accounts: [{ vaults: [{ attrs: { name: 'Papers' }, items }] }] })
  const files = { 'files/doc1__licence.txt': strToU8('granted'), 'files/doc2__scan.bin': randomBytes(70_000) }
  writeFileSync(path, zipSync({ 'export.data': strToU8(data), ...files }))
  const ended = await machine.call(['import', '1password', path, '--yes', '--json'])
  expect(ended.code).toBe(12)
  const { leftOut, filesAdded } = ended.json().data
  expect(filesAdded).toBe(2)
  expect(leftOut).toEqual([
    { name: 'Shop', reason: 'its file gone.txt, which is not in the export' },
    { name: 'Shop', reason: 'its earlier passwords' },
  ])
  expect(await labelsOf('Papers/Shop')).toBe('password website')
  for (const [item, name, content] of [
    ['Licence', 'licence.txt', files['files/doc1__licence.txt']],
    ['Shop', 'scan.bin', files['files/doc2__scan.bin']],
  ] as const) {
    const out = join(machine.home, `got-${name}`)
    expect((await machine.call(['file', 'get', `Papers/${item}/${name}`, '--out', out])).code).toBe(0)
    expect(readFileSync(out).equals(content)).toBe(true)
  }
  expect(await jsonOf<Imported>(machine, ['item', 'show', 'Papers/Shop'])).toMatchObject({ website: 'https://a.test' })
})

it('leaves out and names what there is no room for, before anything is written', async () => {
  const long = `${'n'.repeat(199)}😀`
  const value = `https://x.test/${'p'.repeat(300)}`
  const passkeys = { uris: [{ uri: value }, { uri: 'app://other' }], password: CANARY, fido2Credentials: [{}] }
  const odd = JSON.stringify({
    items: [
      { name: long, login: passkeys, passwordHistory: [{}] },
      { name: long, notes: 'kept', fields: [{ name: 'count', value: 7 }] },
      { name: 'half', notes: 'a', fields: [{ name: 'broken', value: '\ud800' }] },
      { name: 'large', notes: 'x'.repeat(65_537) },
    ],
  })
  const file = machine.file('odd.json', odd)
  const ended = await machine.call(['import', 'bitwarden', file, '--vault', 'odd', '--yes', '--json'])
  expect(ended.code).toBe(12)
  const { plan, leftOut } = ended.json().data as Imported
  const name = 'n'.repeat(199)
  expect(plan).toMatchObject([{ vault: 'odd', items: [name, `${'n'.repeat(198)} 2`, 'half'] }])
  expect(leftOut).toEqual([
    { name, reason: 'its passkeys' },
    { name, reason: 'its earlier passwords' },
    { name: 'half/broken', reason: 'not text: it has half of a surrogate pair' },
    { name: 'large/notes', reason: 'larger than 64 KiB: put it there with strongroom file put' },
  ])
  const items = await jsonOf<{ name: string; website: string }[]>(machine, ['item', 'list', 'odd'])
  expect(items.find((one) => one.name === name)?.website).toBe(value)
  const wrong = machine.file('wrong.json', JSON.stringify({ items: [null] }))
  expect((await machine.call(['import', 'bitwarden', wrong, '--json'])).error()).toMatchObject({
    ...{ code: 'import_unreadable', message: 'this is not what bitwarden exports' },
  })
})

it('makes several items of more variables than one has room for', async () => {
  const variables = Array.from({ length: 401 }, (_, i) => `V${i}=value ${i}\n`).join('')
  const file = machine.file('many.env', variables)
  const imports = () =>
    jsonOf<Imported>(machine, ['import', 'dotenv', file, '--vault', 'many', '--item', 'env', '--yes'])
  expect(await imports()).toMatchObject({ imported: 3, complete: true, plan: [{ items: ['env', 'env 2', 'env 3'] }] })
  expect(await imports()).toMatchObject({ imported: 0, complete: true })
  const shown = await machine.call(['env', '--vault', 'many', '--format', 'json'])
  expect(shown.stdout + shown.stderr).toContain('V400')
  // Whatever comes before them, variables stay in the item they came into; what is new goes where there is room.
  await jsonOf(machine, ['item', 'create', 'many/env 4'])
  machine.file('many.env', `FIRST=1\n${variables.replace('V0=value 0', 'V0=other')}`)
  const again = await machine.call(['import', 'dotenv', file, '--vault', 'many', '--item', 'env', '--yes', '--json'])
  expect([again.code, again.json().data]).toMatchObject([
    12,
    {
      ...{ imported: 0, fieldsAdded: 1 },
      plan: [{ added: [{ item: 'env 3', fields: ['FIRST'] }], differing: [{ item: 'env', fields: ['V0'] }] }],
    },
  ])
  const more = Array.from({ length: 250 }, (_, i) => `W${i}=${i}\n`).join('')
  machine.file('many.env', `${more}${variables}`)
  expect(await imports()).toMatchObject({ imported: 1, fieldsAdded: 198, plan: [{ items: ['env 5'] }] })
  expect((await machine.call(['env', '--vault', 'many', '--names'])).stdout.trim().split('\n')).toHaveLength(652)
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
        {
          name: 'Note',
          notes: 'hello',
          fields: [
            { name: 'notes', value: 'a' },
            { name: 'pin', value: 'b' },
            { name: 'pin', value: 'c' },
          ],
        },
      ],
    }),
  )
  const done = await jsonOf<Imported>(machine, ['import', 'bitwarden', file, '--yes'])
  expect(done.plan.map(({ vault, items }) => `${vault}/${items}`)).toEqual(['Infra/DB', 'Bitwarden/Note'])
  expect(done.plan).toMatchObject([{ renamed: [] }, { renamed: [{ item: 'Note', fields: ['pin 2', 'notes 2'] }] }])
  expect(await labelsOf('Bitwarden/Note')).toBe('notes notes 2 pin pin 2')
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
  const sealed = ['--passphrase-file', machine.file('archive-pass', 'a long enough passphrase\n')]
  const done = await jsonOf<{ items: number }>(machine, ['export', '--out', out, ...sealed])
  expect(done.items).toBeGreaterThan(3)
  expect(statSync(out).mode & 0o777).toBe(0o600)
  expect(readFileSync(out).includes(CANARY)).toBe(false)
  expect((await machine.call(['export', '--out', out, ...sealed, '--json'])).error().code).toBe('file_unwritable')
  const other = ['--passphrase-file', machine.file('other-pass', 'another long passphrase\n')]
  const wrong = await machine.call(['import', 'archive', out, ...other, '--dry-run', '--json'])
  expect(wrong.error().code).toBe('wrong_passphrase')
  const back = await jsonOf<Imported>(machine, ['import', 'archive', out, ...sealed, '--map', 'prod=copy', '--yes'])
  expect(back.plan.find(({ vault }) => vault === 'copy')).toMatchObject({ items: ['env'] })
  const short = ['--passphrase-file', machine.file('short-pass', 'short\n')]
  const refused = await machine.call(['export', '--out', `${out}2`, ...short, '--json'])
  expect(refused.error().code).toBe('weak_passphrase')
  expect(existsSync(`${out}2`)).toBe(false)
  expect((await machine.call(['export', '--plaintext', '--json'])).stdout).toBe('')
})

it('keeps the passphrase of an archive and that of the keys apart', async () => {
  const own = await world.founderMachine()
  const login = own.file('login-pass', `${PASSPHRASE}\n`)
  const sealed = ['--passphrase-file', own.file('archive-pass', 'a long enough passphrase\n')]
  const locked = { env: { XDG_RUNTIME_DIR: join(own.home, 'elsewhere'), STRONGROOM_PASSPHRASE_FILE: login } }
  for (const args of [
    ['export', '--out', 'a.srx'],
    ['import', 'archive', 'a.srx'],
  ]) {
    const refused = (await own.call([...args, '--json'], locked)).error()
    expect(refused).toMatchObject({ code: 'input_required', hint: expect.stringContaining('--passphrase-file FILE') })
    expect(refused.message).toContain('STRONGROOM_PASSPHRASE_FILE')
  }
  expect(existsSync(join(own.home, 'a.srx'))).toBe(false)
  expect((await own.call(['export', '--out', 'a.srx', ...sealed], locked)).code).toBe(0)
  const bring = ['import', 'archive', 'a.srx', '--dry-run']
  expect((await own.call([...bring, '--passphrase-file', login, '--json'], locked)).error()).toMatchObject({
    code: 'wrong_passphrase',
  })
  expect((await own.call([...bring, ...sealed], locked)).code).toBe(0)
  const unfit = ['import', 'dotenv', own.file('.env', 'A=b'), ...sealed, '--json']
  expect((await own.call(unfit)).error().code).toBe('usage')
})

it('takes attachments of any size along, brings them back as they were, and passes over none that differs', async () => {
  const sealed = ['--passphrase-file', machine.file('archive-pass', 'a long enough passphrase\n')]
  // More than a segment of the archive, and nothing at all.
  const large = randomBytes(3 * 65_536 + 17)
  writeFileSync(join(machine.home, 'large.bin'), large)
  machine.file('server.pem', `certificate ${CANARY}`)
  machine.file('empty', '')
  await machine.call(['set', 'files/tls/pin', '--create-vault'], { input: '1234' })
  for (const name of ['large.bin', 'server.pem', 'empty']) await jsonOf(machine, ['file', 'put', name, 'files/tls'])
  const out = join(machine.home, 'files.srx')
  const done = await machine.call(['export', '--vault', 'files', '--out', 'files.srx', ...sealed])
  expect(done).toMatchObject({ code: 0 })
  expect(done.stdout).toContain('1 items and 3 files of 1 vaults are in')
  const archive = readFileSync(out)
  expect(archive.includes(CANARY) || archive.includes(large.subarray(0, 64))).toBe(false)
  expect(readdirSync(machine.home).filter((name) => name.endsWith('.tmp'))).toEqual([])

  const bring = ['import', 'archive', 'files.srx', '--map', 'files=back', ...sealed]
  expect(await jsonOf(machine, [...bring, '--dry-run'])).toMatchObject({ filesAdded: 0, complete: true })
  expect(await jsonOf(machine, [...bring, '--yes'])).toMatchObject({ imported: 1, filesAdded: 3, complete: true })
  for (const name of ['large.bin', 'server.pem', 'empty']) {
    await jsonOf(machine, ['file', 'get', `back/tls/${name}`, '--out', 'got', '--force'])
    expect(readFileSync(join(machine.home, 'got')).equals(readFileSync(join(machine.home, name)))).toBe(true)
  }
  expect(await jsonOf(machine, [...bring, '--yes'])).toMatchObject({ imported: 0, filesAdded: 0, complete: true })

  await jsonOf(machine, ['file', 'rm', 'back/tls/empty', '--yes'])
  machine.file('server.pem', `certificate ${CANARY.toUpperCase()}`)
  await jsonOf(machine, ['file', 'put', 'server.pem', 'back/tls', '--replace'])
  const again = await machine.call([...bring, '--yes', '--json'])
  expect(again.code).toBe(12)
  expect(again.json().data).toMatchObject({
    filesAdded: 1,
    complete: false,
    plan: [{ files: [{ files: ['empty'] }], differingFiles: [{ item: 'tls', files: ['server.pem'] }] }],
  })
})

it('opens no archive that was cut, reordered or altered anywhere, and brings nothing of it', async () => {
  const sealed = ['--passphrase-file', machine.file('archive-pass', 'a long enough passphrase\n')]
  const whole = readFileSync(join(machine.home, 'files.srx'))
  const [header, segment] = [33, 65_536 + 16]
  const at = (index: number): Buffer => whole.subarray(header + index * segment, header + (index + 1) * segment)
  const flipped = Buffer.from(whole)
  flipped[whole.length - 20] = (flipped[whole.length - 20] ?? 0) ^ 1
  const bad = {
    cheaper: Buffer.concat([whole.subarray(0, 4), Buffer.of(18), whole.subarray(5)]),
    cutInside: whole.subarray(0, whole.length - 1),
    cutBetween: whole.subarray(0, header + 3 * segment),
    swapped: Buffer.concat([whole.subarray(0, header), at(0), at(2), at(1), whole.subarray(header + 3 * segment)]),
    longer: Buffer.concat([whole, Buffer.of(0)]),
    flipped,
  }
  for (const [name, bytes] of Object.entries(bad)) {
    writeFileSync(join(machine.home, 'bad.srx'), bytes)
    const bring = ['import', 'archive', 'bad.srx', '--map', 'files=none', ...sealed, '--yes', '--json']
    const ended = await machine.call(bring)
    expect(['wrong_passphrase', 'import_unreadable'], name).toContain(ended.error().code)
  }
  const vaults = await jsonOf<{ name: string }[]>(machine, ['vault', 'list'])
  expect(vaults.map(({ name }) => name)).not.toContain('none')
})

it('writes an archive whole or not at all, and knows its last segment from any other', async () => {
  const path = join(machine.home, 'bare.srx')
  const zeros = async function* (size: number, fails = false) {
    yield Buffer.alloc(size)
    if (fails) throw new Error('cut off')
  }
  await expect(writePrivate(path, sealArchive(zeros(9, true), 'p'))).rejects.toThrow('cut off')
  expect(readdirSync(machine.home).filter((name) => name.startsWith('bare.srx'))).toEqual([])
  const sizeOf = async (): Promise<number> => {
    const archive = await openArchive(path, 'p')
    let size = 0
    try {
      for await (const part of archive.read(0, archive.size)) size += part.length
    } finally {
      await archive.close()
    }
    return size
  }
  for (const size of [0, SEGMENT, 2 * SEGMENT]) {
    await writePrivate(path, sealArchive(zeros(size), 'p'))
    expect(await sizeOf()).toBe(size)
  }
  writeFileSync(path, readFileSync(path).subarray(0, 33 + SEGMENT + 16))
  await expect(sizeOf()).rejects.toThrow('altered')
})

it('still opens an archive of before, which had no place for attachments', async () => {
  const passphrase = 'a long enough passphrase'
  const sealed = ['--passphrase-file', machine.file('archive-pass', `${passphrase}\n`)]
  // Two of one label, which was possible then.
  const fields = ['1234', '5678'].map((text) => ({
    label: 'pin',
    value: Buffer.from(text).toString('base64'),
    isEnvironmentVariable: false,
  }))
  const vaults = [{ name: 'former', classification: 'internal', items: [{ name: 'card', website: '', fields }] }]
  const header = Buffer.concat([Buffer.from('SRX1'), Buffer.of(17), randomBytes(28)])
  const key = scryptSync(passphrase, header.subarray(5, 21), 32, { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 })
  const cipher = createCipheriv('aes-256-gcm', key, header.subarray(21)).setAAD(header)
  const packed = gzipSync(JSON.stringify({ format: 'strongroom-export-1', exportedAt: '', vaults }))
  const parts = [header, cipher.update(packed), cipher.final(), cipher.getAuthTag()]
  writeFileSync(join(machine.home, 'former.srx'), Buffer.concat(parts))
  const done = await jsonOf(machine, ['import', 'archive', 'former.srx', '--yes', ...sealed])
  expect(done).toMatchObject({ imported: 1, complete: true })
  expect((await machine.call(['read', 'former/card/pin'])).stdout).toBe('1234')
  expect((await machine.call(['read', 'former/card/pin 2'])).stdout).toBe('5678')
})
