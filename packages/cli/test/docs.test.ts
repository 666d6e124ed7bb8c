import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { workOnLicensesOf } from '../../server/test/provider/background.ts'
import { startSealing } from '../../server/test/sealing.ts'
import { linesOf, missingLines, type Page, parsePage } from './docs/page.ts'
import { makeReader, type Place, ROOT, strangers } from './docs/reader.ts'
import { plainWords } from './docs/words.ts'
import { makeMachine, startWorld, type World } from './world.ts'

// Every ```sh block of the tutorials and the reference is run, page by page, against a real server, and what a page shows as output is
// compared; `npm run test:docs` does so with every page.
//
// Catches, each seen red: output that a page shows and nobody prints, a command that is not there, an exit code that is another one, a
// message that was changed, values printed for a coding agent, values that are not masked, an example that reads otherwise in the page, a
// page that does not say what its reader has, a block that is neither run nor says why.

const pages: readonly Page[] = globSync(['docs/**/*.md', 'README.md'], { cwd: ROOT })
  .map((path) => path.replaceAll('\\', '/'))
  .sort()
  .map((path) => parsePage(path, readFileSync(join(ROOT, path), 'utf8')))

const withSteps = pages.filter(({ steps }) => steps.some(({ kind }) => kind !== 'not run'))
const isOfEveryDay = ({ path }: Page): boolean => !path.startsWith('docs/how-to/')
const due = process.env.EVERY_PAGE === undefined ? withSteps.filter(isOfEveryDay) : withSteps

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sr-docs-'))
  // As root, PostgreSQL runs as another user, who must be able to pass through.
  chmodSync(folder, 0o711)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const VALUE = 'sk_test_4eC39HqLyjWDarjtT1zdp7dc'

/** What a reader of this page has already. */
async function placeFor({ starts, path }: Page): Promise<Place> {
  if (starts === 'nothing') {
    const machine = makeMachine(folder, path.replaceAll(/[/.]/g, '-'))
    chmodSync(machine.home, 0o711)
    return { machine, url: undefined }
  }
  const world: World = await startWorld()
  // What a server does by itself, as a page about it expects.
  const work = workOnLicensesOf(world.h)
  const sealer = startSealing(world.h)
  onTestFinished(async () => {
    await sealer.stop()
    await work.stop()
    await world.close()
  })
  const machine = await world.founderMachine()
  if (starts === 'prod') {
    const done = [
      await machine.call(['set', 'prod/stripe/STRIPE_SECRET_KEY', '--create-vault'], { input: VALUE }),
      await machine.call(['agent', 'create', 'checkout-bot', '--vault', 'prod']),
    ]
    expect(done.map(({ code }) => code)).toEqual([0, 0])
  }
  return { machine, url: world.url }
}

it('has no block that cannot be run, except those that say why', () => {
  const steps = pages.flatMap(({ path, steps: own }) => own.map((step) => ({ ...step, path })))
  const blocks = pages.flatMap(({ path }) => [...readFileSync(join(ROOT, path), 'utf8').matchAll(/^ *```sh$/gm)])
  const skipped = steps.flatMap((step) => (step.kind === 'not run' ? [step] : []))
  const ran = steps.filter(({ kind }) => kind === 'run')
  console.log(
    `documentation: ${ran.length} blocks can be run, ${skipped.length} cannot:\n` +
      skipped.map(({ path, line, reason }) => `  ${path}:${line} ${reason}`).join('\n'),
  )
  if (due.length < withSteps.length)
    console.log(`documentation: ${withSteps.length - due.length} pages are left to npm run test:docs`)
  expect(ran.length + skipped.length).toBe(blocks.length)
  expect(skipped.length).toBeLessThan(ran.length / 3)
})

it('takes a page apart as its comments say', () => {
  const text =
    '<!-- starts: prod -->\n<!-- file: a.txt -->\n```ini\nx=1\n```\n\n```sh\na \\\n  b   # exits with 4\n# words\n```\n\n```text\nout\n```\n'
  const { starts, steps } = parsePage('p', text)
  expect(starts).toBe('prod')
  expect(steps).toMatchObject([
    { kind: 'file', name: 'a.txt', text: 'x=1\n' },
    { kind: 'run', shows: 'out\n', answers: [] },
  ])
  expect(linesOf("a \\\n  b   # exits with 4\n# words\ncat <<'E'\n# in\nE\nc\n")).toEqual([
    { text: 'a \\\n  b   # exits with 4', exitCode: 4 },
    { text: "cat <<'E'\n# in\nE", exitCode: 0 },
    { text: 'c', exitCode: 0 },
  ])
})

it('misses each line that is shown and was not printed, in its order', () => {
  expect(missingLines('one…\n…\nthree', 'one and more\ntwo\nthree')).toEqual([])
  expect(missingLines('two\none', 'one\ntwo')).toEqual(['one'])
  expect(missingLines('on', 'one')).toEqual(['on'])
})

it('runs nothing that could change the machine, and nothing behind a comment it does not know', () => {
  for (const line of [
    'useradd x',
    'sudo strongroom up',
    'strongroom up && rm -r x',
    'printf x | sh',
    'X=1 systemctl y',
    'printf "$(rm x)"',
  ])
    expect(strangers(line), line).toHaveLength(1)
  for (const line of [
    "X=1 strongroom run -- sh -c 'rm x; y'",
    'printf %s a | strongroom set b',
    'umask 077; mkdir m',
    'strongroom a \\\n  --b',
  ])
    expect(strangers(line), line).toEqual([])
  expect(() => parsePage('p', '<!-- not run: -->\n```sh\nuseradd x\n```\n')).toThrow(/none of the comments/)
})

it('does by itself only what a shell would do alike', () => {
  expect(plainWords(`strongroom set a/b --name 'x y' "z"   # exits with 3`)?.words).toEqual([
    'strongroom',
    'set',
    'a/b',
    '--name',
    'x y',
    'z',
  ])
  expect(plainWords('strongroom agent bundle x > x.bundle')).toEqual({
    words: ['strongroom', 'agent', 'bundle', 'x'],
    into: 'x.bundle',
  })
  for (const line of ['a $B', 'a `b`', 'a "$B"', 'a | b', 'a && b', 'a < b', 'a *', 'A=$(b) c'])
    expect(plainWords(line), line).toBeUndefined()
})

describe('does what it says', () => {
  it.each(due.map((page) => [page.path, page] as const))('%s', async (path, page) => {
    expect(page.starts, `${path} does not say what its reader has: <!-- starts: … -->`).toBeDefined()
    const reader = await makeReader(await placeFor(page))
    onTestFinished(() => reader.close())
    for (const step of page.steps) expect(await reader.take(step), `${path}:${step.line}`).toEqual([])
  })
})
