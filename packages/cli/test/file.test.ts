import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// Files of items, up and down. Catches: a file written over unasked, a name of others that leads elsewhere, content shown to a coding
// agent, a version made in passing, an upload that begins anew or is remembered for ever.
// Seen red: no look at what is there before a download, every name taken for a file name, the ticket not kept, the ticket not forgotten,
// a name that is taken made the next version, content given in agent mode.

let world: World
let machine: Machine
const at = (name: string): string => join(machine.home, name)
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
  await jsonOf(machine, ['vault', 'create', 'prod'])
  for (const item of ['prod/tls', 'prod/backups']) await jsonOf(machine, ['item', 'create', item])
})
afterAll(() => world.close())

interface Sent {
  readonly assetId: string
  readonly version: number
  readonly resumed: boolean
}
interface Listed {
  readonly assetId: string
  readonly name: string
  readonly version: number
}

const refused = async (args: readonly string[], code: string, exitCode: number, env: Record<string, string> = {}) => {
  const ended = await machine.call([...args, '--json'], { env })
  expect(ended.stdout).toBe('')
  expect(ended.error(), args.join(' ')).toMatchObject({ code, exitCode })
  expect(ended.code).toBe(exitCode)
}

const listed = (item: string): Promise<Listed[]> => jsonOf<Listed[]>(machine, ['file', 'list', item])
const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

it('says what comes first where file and place were swapped', async () => {
  const { message, hint } = (await machine.call(['file', 'put', 'prod/tls', 'server.pem', '--json'])).error()
  expect(`${message}; ${hint}`).toMatch(/^a file is in an item: vault\/item.*; strongroom file put FROM TO /)
})

it('puts a file and gets it back whole, under its name, readable by its owner, and writes over nothing unasked', async () => {
  writeFileSync(at('server.pem'), 'BEGIN secret END\n')
  const put = await machine.call(['file', 'put', 'server.pem', 'prod/tls'])
  expect(put).toMatchObject({ code: 0, stderr: '' })
  expect(put.stdout).toMatch(/^✓ prod\/tls\/server\.pem {3}version 1, 17 B\n/)
  await refused(['file', 'get', 'prod/tls/server.pem'], 'file_unwritable', 6)
  const got = await jsonOf(machine, ['file', 'get', 'prod/tls/server.pem', '--out', 'copy.pem'])
  expect(got).toMatchObject({ name: 'server.pem', size: 17, file: at('copy.pem') })
  expect(readFileSync(at('copy.pem'), 'utf8')).toBe('BEGIN secret END\n')
  expect(statSync(at('copy.pem')).mode & 0o777).toBe(0o600)
  writeFileSync(at('copy.pem'), 'precious')
  await refused(['file', 'get', 'prod/tls/server.pem', '--out', 'copy.pem'], 'file_unwritable', 6)
  expect(readFileSync(at('copy.pem'), 'utf8')).toBe('precious')
  await jsonOf(machine, ['file', 'get', 'prod/tls/server.pem', '--out', 'copy.pem', '--force'])
  expect(readFileSync(at('copy.pem'), 'utf8')).toBe('BEGIN secret END\n')
  expect(readdirSync(machine.home).filter((name) => name.endsWith('.part'))).toEqual([])
})

it('takes standard input and writes standard output, bytes alone, and none to a coding agent', async () => {
  const content = '\u0000\u0001 raw \n no line end'
  const put = await machine.call(['file', 'put', '-', 'prod/backups/shop.sql', '--json'], { input: content })
  expect(put.json().data).toMatchObject({ name: 'shop.sql', resumed: false })
  expect(await machine.call(['file', 'get', 'prod/backups/shop.sql', '--out', '-'])).toMatchObject({
    code: 0,
    stdout: content,
    stderr: '',
  })
  const agent = { STRONGROOM_AGENT_MODE: '1' }
  await refused(['file', 'get', 'prod/backups/shop.sql', '--out', 'a'], 'plaintext_refused_for_agent', 4, agent)
  expect(existsSync(at('a'))).toBe(false)
  await refused(['file', 'get', 'prod/backups/shop.sql', '--out', '-'], 'usage', 2)
  await refused(['file', 'put', '-', 'prod/backups'], 'usage', 2)
  await refused(['file', 'put', 'absent', 'prod/backups'], 'file_unreadable', 6)
  await refused(['file', 'put', '.', 'prod/backups'], 'file_unreadable', 6)
  await refused(['file', 'put', 'server.pem', 'prod/nowhere'], 'vault_item_not_found', 5)
})

it('makes a next version only when asked, and finds files by name or id', async () => {
  writeFileSync(at('server.pem'), 'the second\n')
  await refused(['file', 'put', 'server.pem', 'prod/tls'], 'file_name_taken', 6)
  expect(await listed('prod/tls')).toMatchObject([{ name: 'server.pem', version: 1 }])
  const [before] = await listed('prod/tls')
  const next = await jsonOf<Sent>(machine, ['file', 'put', 'server.pem', 'prod/tls', '--replace'])
  expect(next).toMatchObject({ assetId: before?.assetId, version: 2 })
  const byId = await machine.call(['file', 'get', `prod/tls/${next.assetId}`, '--out', '-'])
  expect(byId.stdout).toBe('the second\n')
  await refused(['file', 'get', 'prod/tls/sever.pem'], 'file_not_found', 5)
  await refused(['file', 'get', 'prod/tls'], 'usage', 2)
})

it('saves no file under a name that leads elsewhere', async () => {
  await machine.call(['file', 'put', '-', 'prod/backups/..%2Fevil'], { input: 'x' })
  await refused(['file', 'get', 'prod/backups/..%2Fevil'], 'usage', 2)
  expect(existsSync(join(machine.home, '../evil'))).toBe(false)
  await jsonOf(machine, ['file', 'rm', 'prod/backups/..%2Fevil', '--yes'])
})

it('moves a file to another name and to another item, and removes one after asking', async () => {
  await jsonOf(machine, ['file', 'move', 'prod/tls/server.pem', 'prod/tls/old.pem'])
  expect(await listed('prod/tls')).toMatchObject([{ name: 'old.pem', version: 2 }])
  await refused(['file', 'move', 'prod/tls/old.pem', 'prod/backups/shop.sql'], 'file_name_taken', 6)
  const moved = await jsonOf(machine, ['file', 'move', 'prod/tls/old.pem', 'prod/backups'])
  expect(moved).toMatchObject({ from: 'prod/tls/old.pem', to: 'prod/backups/old.pem' })
  expect(await listed('prod/tls')).toEqual([])
  expect((await machine.call(['file', 'get', 'prod/backups/old.pem', '--out', '-'])).stdout).toBe('the second\n')
  await refused(['file', 'rm', 'prod/backups/old.pem'], 'confirmation_required', 2)
  await jsonOf(machine, ['file', 'rm', 'prod/backups/old.pem', '--yes'])
  expect((await listed('prod/backups')).map(({ name }) => name)).toEqual(['shop.sql'])
})

/** While the work runs, the store refuses the third part once the two before it have arrived; says which parts arrived. */
async function sending<T>(refusesThird: boolean, work: () => Promise<T>): Promise<{ result: T; sent: number[] }> {
  const real = globalThis.fetch
  const sent: number[] = []
  let arrived: () => void = () => undefined
  const both = new Promise<void>((resolve) => {
    arrived = resolve
  })
  globalThis.fetch = async (input, init) => {
    const part = Number(/\/parts\/(\d+)/.exec(String(input))?.[1] ?? 0)
    if (part === 3 && refusesThird) {
      await both
      return new Response(null, { status: 400 })
    }
    const answer = await real(input, init)
    if (part > 0 && sent.push(part) === 2) arrived()
    return answer
  }
  try {
    return { result: await work(), sent }
  } finally {
    globalThis.fetch = real
  }
}

it('goes on where an upload was cut off, sends only what is missing, and remembers nothing afterwards', async () => {
  writeFileSync(at('large.bin'), randomBytes(18 * 1_048_576))
  const put = ['file', 'put', 'large.bin', 'prod/backups']
  const cut = await sending(true, () => machine.call([...put, '--json']))
  expect(cut.result.code).not.toBe(0)
  expect(cut.result.stdout).toBe('')
  expect((await listed('prod/backups')).map(({ name }) => name)).toEqual(['shop.sql'])
  const tickets = at('.local/state/strongroom/uploads')
  expect(readdirSync(tickets)).toHaveLength(1)
  const { result, sent } = await sending(false, () => jsonOf<Sent>(machine, put))
  expect(result).toMatchObject({ resumed: true, version: 1 })
  expect(sent).toEqual([3])
  expect(readdirSync(tickets)).toEqual([])
  await jsonOf(machine, ['file', 'get', 'prod/backups/large.bin', '--out', 'large.copy'])
  expect(sha256(at('large.copy'))).toBe(sha256(at('large.bin')))
})
