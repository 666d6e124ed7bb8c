import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { FILES, fileServers, hashOf, manifestOf, PAGE } from './served-files.ts'
import { jsonOf } from './shapes.ts'
import { type Machine, makeMachine } from './world.ts'

// A console as a server serves it, held against the list of a release. Catches a changed script, page or style that nobody notices, a
// file that is left out, a list that was changed to fit. Seen red: a file that is not fetched, a page further down that is not looked
// at, a list whose own hash is not checked, an exit code of 0.

const folder = mkdtempSync(join(tmpdir(), 'sr-verify-console-'))
const { serve, close } = fileServers()
let machine: Machine
let manifest: string
beforeAll(() => {
  machine = makeMachine(folder, 'machine')
  manifest = machine.file('build.json', manifestOf(FILES).text)
})
afterAll(() => {
  close()
  rmSync(folder, { recursive: true, force: true })
})

const check = (url: string, ...more: string[]) =>
  machine.call(['verify-console', url, '--manifest', manifest, '--json', ...more])

it('says which build a server serves when every file is that of the list', async () => {
  const url = await serve(FILES)
  const found = await jsonOf<{ build: string; claimed: string }>(machine, [
    'verify-console',
    `${url}/`,
    '--manifest',
    manifest,
  ])
  expect(found).toMatchObject({ url, matches: true, checked: 5, different: [] })
  expect(found.claimed).toBe(found.build)
  expect((await machine.call(['verify-console', '--server', url, '--manifest', manifest])).stdout).toContain(
    `serves build ${found.build}`,
  )
})

it.each(Object.keys(FILES))('ends with 9 and names %s when it differs', async (path) => {
  const url = await serve({ ...FILES, [path]: `${FILES[path]} ` })
  const ended = await check(url)
  const paths = path === 'index.html' ? ['/', '/vaults'] : [`/${path}`]
  expect(ended.code).toBe(9)
  expect(ended.json().data).toMatchObject({
    matches: false,
    different: paths.map((named) => ({ path: named, state: 'differs', expected: hashOf(FILES[path] ?? '') })),
  })
  const shown = await machine.call(['verify-console', url, '--manifest', manifest])
  expect(shown.stdout).toContain(`✗ ${paths[0]}   differs`)
  expect(shown.stdout).toContain('The server says it serves build')
})

it('names a file that is missing, and a page that only further down is another', async () => {
  const { 'assets/a-1.css': _, ...without } = FILES
  const missing = await check(await serve(without))
  expect(missing.code).toBe(9)
  expect(missing.json().data).toMatchObject({ different: [{ path: '/assets/a-1.css', state: 'missing', found: null }] })
  const further = await check(await serve(FILES, { further: `${PAGE}<script src="/assets/b.js"></script>` }))
  expect(further.code).toBe(9)
  expect(further.json().data).toMatchObject({ different: [{ path: '/vaults', state: 'differs' }] })
})

it('takes no list that was changed, and no address where nothing answers', async () => {
  const url = await serve(FILES)
  const forged = JSON.parse(manifestOf(FILES).text) as { files: Record<string, string> }
  forged.files['assets/a-1.js'] = hashOf('something else')
  for (const text of ['{', '{}', '{"build":"x","files":{"index.html":"sha384-x"}}', JSON.stringify(forged)]) {
    const ended = await machine.call([
      'verify-console',
      url,
      '--json',
      '--manifest',
      machine.file('changed.json', text),
    ])
    expect(ended.error(), text).toMatchObject({ code: 'file_unreadable', exitCode: 6 })
  }
  expect((await check('vault.example')).error().code).toBe('usage')
  expect((await check('http://127.0.0.1:9')).error()).toMatchObject({ code: 'server_not_running', exitCode: 7 })
})
