import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { jsonOf } from './shapes.ts'
import { type Machine, startWorld, type World } from './world.ts'

// Catches: a value in git history that is not found, a found value that is shown. Seen red: a commit refused for the name of a file or for
// a submodule, a failure of git said to be another one, a file that is passed over unnamed, a blob called a commit, a value that is
// kept in two places and reported for one, and a hook where git does not look for it.

const CANARY = 'canary-9f31b7c2d4'
const TOO_LARGE = 16 * 1024 * 1024 + 1

let world: World
let machine: Machine
beforeAll(async () => {
  world = await startWorld()
  machine = await world.founderMachine()
  await machine.call(['set', 'prod/env/STRIPE_KEY', '--create-vault'], { input: CANARY })
})
afterAll(() => world.close())

interface Scanned {
  readonly looked: number
  readonly skipped: string[]
  readonly found: { readonly ref: string; readonly path: string; readonly line: number; readonly commit?: string }[]
}

interface Repository {
  readonly folder: string
  git(...args: string[]): string
  write(name: string | Buffer, content: string | Buffer): void
}

function makeRepository(name: string): Repository {
  const folder = join(machine.home, name)
  mkdirSync(folder)
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'protocol.file.allow=always']
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', folder, ...who, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  git('init', '-q')
  return {
    folder,
    git,
    write: (file, content) => writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(file)]), content),
  }
}

const found = async (...args: string[]): Promise<Scanned> =>
  (await machine.call(['scan', ...args, '--json'])).json().data as Scanned

it('finds own values in files and git history in any form, says which and where, and never shows them', async () => {
  const { folder, git, write } = makeRepository('repo')
  write('größe.txt', `first\nkey: ${Buffer.from(CANARY).toString('base64')}\n`)
  git('add', '.')
  git('commit', '-qm', 'one')
  const commit = git('rev-parse', 'HEAD')
  write('größe.txt', 'clean\n')
  git('commit', '-qam', 'two')
  expect(await machine.call(['scan', folder])).toMatchObject({ code: 0 })
  const inHistory = await machine.call(['scan', folder, '--history', '--vault', 'prod', '--json'])
  expect(inHistory.code).toBe(6)
  expect(inHistory.json().data).toMatchObject({
    found: [{ path: 'größe.txt', line: 2, ref: 'sr://prod/env/STRIPE_KEY', commit }],
  })
  expect(inHistory.stdout).not.toContain(CANARY)
  expect((await machine.call(['scan', folder, '--history'])).stdout).toContain(commit.slice(0, 10))
  write('new.txt', CANARY)
  git('add', '.')
  expect((await machine.call(['scan', folder, '--staged'])).code).toBe(6)
  const hook = await jsonOf<{ hook: string }>(machine, ['scan', folder, '--install-hook'])
  expect(statSync(hook.hook).mode & 0o111).not.toBe(0)
})

it('puts its hook where git looks for it, and nowhere where there is one already or no repository', async () => {
  const { folder, git, write } = makeRepository('hooked')
  git('commit', '-q', '--allow-empty', '-m', 'one')
  const install = (at: string) => jsonOf<{ hook: string }>(machine, ['scan', at, '--install-hook'])
  const refusal = async (at: string) => (await machine.call(['scan', at, '--install-hook', '--json'])).error()
  const tree = `${folder}-tree`
  git('worktree', 'add', '-q', tree)
  const usual = join(folder, '.git/hooks/pre-commit')
  expect(await install(tree)).toMatchObject({ hook: usual })
  mkdirSync(join(folder, 'sub'))
  expect(await install(join(folder, 'sub'))).toMatchObject({ hook: usual })
  git('config', 'core.hooksPath', 'tools/hooks')
  const own = join(folder, 'tools/hooks/pre-commit')
  expect(await install(folder)).toMatchObject({ hook: own })
  // Git runs it, and here nobody is signed in.
  expect(() => git('commit', '-q', '--allow-empty', '-m', 'two')).toThrow()
  write('tools/hooks/pre-commit', '#!/bin/sh\n')
  expect(await refusal(folder)).toMatchObject({ code: 'file_unwritable', message: expect.stringContaining(own) })
  expect(readFileSync(own, 'utf8')).toBe('#!/bin/sh\n')
  expect(await refusal(machine.home)).toMatchObject({ code: 'not_a_repository' })
})

it('looks at what is staged whatever it is called, and passes over a submodule', async () => {
  const inner = makeRepository('inner')
  inner.git('commit', '-q', '--allow-empty', '-m', 'one')
  const { folder, git, write } = makeRepository('names')
  write('größe.txt', 'clean\n')
  write(Buffer.from('no-utf8-\xfc.txt', 'latin1'), 'clean\n')
  write('two\nlines.txt', 'clean\n')
  git('submodule', '--quiet', 'add', inner.folder, 'sub')
  git('add', '.')
  // .gitmodules is the fourth.
  expect(await jsonOf<Scanned>(machine, ['scan', folder, '--staged'])).toMatchObject({ looked: 4, found: [] })
  write('größe.txt', CANARY)
  write(Buffer.from('no-utf8-\xfc.txt', 'latin1'), CANARY)
  git('add', '.')
  const { found: places } = await found(folder, '--staged')
  expect(places.map(({ path }) => path).sort()).toEqual(['größe.txt', 'no-utf8-\ufffd.txt'])
})

it('looks at a link that became a file', async () => {
  const { folder, git, write } = makeRepository('kinds')
  execFileSync('ln', ['-s', 'nowhere', join(folder, 'config')])
  git('add', '.')
  git('commit', '-qm', 'one')
  git('rm', '-q', 'config')
  write('config', CANARY)
  git('add', '.')
  expect((await found(folder, '--staged')).found).toMatchObject([{ path: 'config' }])
})

it('says that a folder is no repository only where it is none, and what git says elsewhere', async () => {
  expect((await machine.call(['scan', machine.home, '--staged', '--json'])).error().code).toBe('not_a_repository')
  const { folder, write } = makeRepository('broken')
  write('.git/index', 'no index at all')
  const refused = (await machine.call(['scan', folder, '--staged', '--json'])).error()
  expect(refused).toMatchObject({ code: 'git_failed', message: expect.stringContaining('index file') })
  const nowhere = { env: { PATH: '/nonexistent' } }
  const none = (await machine.spawn(['scan', folder, '--staged', '--json'], nowhere)).error()
  expect(none).toMatchObject({ code: 'git_failed', message: 'there is no git on the PATH' })
})

it('names what is too large, in a folder and in history', async () => {
  const { folder, git, write } = makeRepository('large')
  write('video.bin', Buffer.alloc(TOO_LARGE))
  const shown = await machine.call(['scan', folder])
  expect(shown.stderr).toContain('1 file is too large or unreadable and was not looked at: video.bin')
  git('add', '.')
  git('commit', '-qm', 'one')
  const blob = git('rev-parse', 'HEAD:video.bin').slice(0, 10)
  git('rm', '-q', 'video.bin')
  write('kept.txt', 'clean\n')
  const { looked, skipped } = await jsonOf<Scanned>(machine, ['scan', folder, '--history'])
  expect({ looked, skipped }).toEqual({ looked: 1, skipped: [`video.bin (git ${blob})`] })
  for (const i of [1, 2, 3, 4, 5, 6, 7]) write(`${i}.bin`, Buffer.alloc(TOO_LARGE))
  expect((await machine.call(['scan', folder])).stderr).toMatch(/7 files are .*: 1.bin, .*5.bin and 2 more/)
})

it('reports every place in which a value is kept', async () => {
  await machine.call(['set', 'staging/env/STRIPE_KEY', '--create-vault'], { input: CANARY })
  const { folder, write } = makeRepository('twice')
  write('a.txt', CANARY)
  const { found: places } = await found(folder)
  expect(places.map(({ ref }) => ref).sort()).toEqual(['sr://prod/env/STRIPE_KEY', 'sr://staging/env/STRIPE_KEY'])
})
