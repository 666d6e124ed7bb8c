import { spawn } from '@lydell/node-pty'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTerminal, type Terminal } from '../terminal.ts'
import { type Scene, SECRETS, startScene } from './scene.ts'

// Driven through a real pseudo-terminal, beside the command alone where that shows a difference. Catches: a child that sees no
// terminal, loses its colours or its width, does not hear of a new size, of Ctrl-C or of Ctrl-Z, or waits behind a prompt that is
// not drawn; a value on the screen. Seen red: a signer who is signed in here called by an id.

let scene: Scene
beforeAll(async () => {
  scene = await startScene()
  await scene.strongroom(['run', '--vault', 'prod', '--', 'true'])
})
afterAll(() => scene.close())

const { NO_COLOR: _, ...colourful } = { NO_COLOR: '' }
const place = () => {
  const { NO_COLOR: off, ...env } = scene.machine.env
  return { env: { ...env, ...colourful, PS1: '$ ' }, cwd: scene.machine.home, program: scene.program }
}
/** The same agent, on the machine on which the founder is signed in. */
const atFounders = () => ({ ...place().env, ...scene.person.env, STRONGROOM_BUNDLE: scene.bundle })
const RUN = ['run', '--vault', 'prod', '--offline', '--']
/** For a shell: a checkout may lie anywhere. */
const NODE = `'${process.execPath}'`
const open = (command: readonly string[], flags: readonly string[] = RUN): Terminal =>
  openTerminal([...flags, ...command], place())

const LOOK = `const { stdin, stdout, stderr } = process
console.log('tty', stdin.isTTY, stdout.isTTY, stderr.isTTY, 'columns', stdout.columns, 'depth', stdout.getColorDepth() > 1)
console.log('\\x1b[31mred\\x1b[0m', process.env.STRIPE_SECRET_KEY)`

it('gives the command a terminal of the same size, with colours, and masks what it prints', async () => {
  const terminal = open([process.execPath, '-e', LOOK])
  await terminal.sees('tty true true true columns 120 depth true')
  await terminal.sees('red ‹STRIPE_SECRET_KEY›')
  expect(await terminal.ended).toMatchObject({ code: 0 })
  expect(terminal.screen()).not.toContain(SECRETS.STRIPE_SECRET_KEY)
})

it('says once what was verified, from where and how old, and nothing with --quiet', async () => {
  const told = open(['true'])
  await told.sees(
    /strongroom: 2 secrets from prod · signer user:\S+ ✓ · log \d+ ✓ · from the cache, \d+ \w+ old · \d+ ms/,
  )
  await told.ended
  // Who is signed in on this machine, too, is called by their name.
  const known = openTerminal(['run', '--vault', 'prod', '--', 'true'], { ...place(), env: atFounders() })
  await known.sees(`secrets from prod · signer ${scene.world.founder.email} ✓ · log`)
  await known.ended
  const quiet = open(['true'], ['run', '--quiet', '--vault', 'prod', '--offline', '--'])
  await quiet.ended
  expect(quiet.screen()).toBe('')
})

it('ends as the command ends: with its code, and of its signal', async () => {
  expect(await open(['sh', '-c', 'exit 73']).ended).toMatchObject({ code: 73 })
  expect(await open(['sh', '-c', 'kill -TERM $$']).ended).toMatchObject({ signal: 15 })
})

it('lets the command hear Ctrl-C, and dies of it if the command does', async () => {
  const caught = open([
    process.execPath,
    '-e',
    `process.on('SIGINT', () => { console.log('heard'); process.exit(9) }); console.log('ready'); setInterval(() => {}, 1000)`,
  ])
  await caught.sees('ready')
  caught.interrupts()
  await caught.sees('heard')
  expect(await caught.ended).toMatchObject({ code: 9 })
  const killed = open(['sh', '-c', 'echo ready; exec sleep 100'])
  await killed.sees('ready')
  killed.interrupts()
  expect(await killed.ended).toMatchObject({ signal: 2 })
})

/** Every byte that reaches the real terminal, and how it ended. */
function drawnBy(
  args: readonly string[],
  onDraw: (drawn: string, resize: (columns: number) => void) => void = () => undefined,
) {
  const { env, cwd } = place()
  const pty = spawn(process.execPath, [...args], { cols: 100, rows: 30, cwd, env })
  let drawn = ''
  pty.onData((chunk) => {
    drawn += chunk
    onDraw(drawn, (columns) => pty.resize(columns, 22))
  })
  return new Promise<{ readonly drawn: string; readonly code: number }>((resolve) => {
    pty.onExit(({ exitCode: code }) => resolve({ drawn, code }))
  })
}
const QUIET = ['run', '--quiet', '--vault', 'prod', '--offline', '--']

it('tells the command of a new size of the terminal', async () => {
  const script = `process.stdout.on('resize', () => { console.log('now %s', process.stdout.columns); process.exit(4) })
console.log('ready %s', process.stdout.columns); setInterval(() => {}, 1000)`
  let isResized = false
  const { drawn, code } = await drawnBy([scene.program, ...QUIET, process.execPath, '-e', script], (so, resize) => {
    if (isResized || !so.includes('ready 100')) return
    isResized = true
    resize(77)
  })
  expect([drawn, code]).toEqual(['ready 100\r\nnow 77\r\n', 4])
})

it('draws byte for byte what the command alone would draw, in every mode of the terminal', async () => {
  const start = `require('child_process').spawnSync('sh', ['-c', process.argv[1]], { stdio: 'inherit' })`
  const script = `printf 'a\\nb\\n'; stty raw; printf 'c\\nd\\033[31m\\377\\n'; stty sane; printf 'e\\n'`
  const itself = await drawnBy(['-e', start, script])
  const wrapped = await drawnBy([scene.program, ...QUIET, process.execPath, '-e', start, script])
  expect(itself.drawn).toContain('c\nd')
  expect(wrapped).toEqual(itself)
})

it('draws a prompt that waits for an answer, and passes the answer on unseen', async () => {
  const terminal = open([
    'bash',
    '-c',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is for a shell
    'read -s -p "Password: " answer; echo; echo "got ${#answer}"; read -p "Again s" more; echo "and $more"',
  ])
  await terminal.answers('Password: ', 'hunter2')
  await terminal.sees('got 7')
  // A prompt whose end is the beginning of a value.
  await terminal.answers('Again s', 'yes')
  await terminal.sees('and yes')
  expect(terminal.screen()).not.toContain('hunter2')
})

it('lets the shell stop it with Ctrl-Z and take it up again', async () => {
  const program = `${NODE} ${scene.program} ${RUN.join(' ')}`
  const { env, cwd } = place()
  const terminal = openTerminal(
    ['-e', `require('child_process').spawnSync('bash', ['--norc', '-i'], { stdio: 'inherit' })`],
    {
      env,
      cwd,
      program: '--no-warnings',
    },
  )
  await terminal.sees('$ ')
  terminal.types(`${program} sh -c 'echo ready; cat'\r`)
  await terminal.sees('ready\n')
  terminal.types('\u001a')
  await terminal.sees('Stopped')
  await terminal.sees('$ ')
  terminal.types('fg\r')
  await terminal.sees('cat')
  terminal.types('hello\r')
  await terminal.sees(/hello\s+hello/)
  terminal.types('\u0004')
  await terminal.sees('$ ')
  terminal.types('echo "code $?"\r')
  await terminal.sees('code 0\n')
  terminal.types('exit\r')
  await terminal.ended
})

it('keeps the terminal for the outputs that are one when others are redirected', async () => {
  const script = `${NODE} ${scene.program} ${RUN.join(' ')} ${NODE} -e "console.error('tty', process.stdin.isTTY, process.stdout.isTTY, process.stderr.isTTY, process.stderr.columns)" > out.txt; echo "code $?"`
  const { env, cwd } = place()
  const terminal = openTerminal(
    ['-e', `require('child_process').spawnSync('sh', ['-c', ${JSON.stringify(script)}], { stdio: 'inherit' })`],
    {
      env,
      cwd,
      program: '--no-warnings',
    },
  )
  await terminal.sees('tty true undefined true 120')
  await terminal.sees('code 0')
})
