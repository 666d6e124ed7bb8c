import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Exit, runProcess, type Scene, SECRETS, startScene } from './scene.ts'

// How the built program starts, and what goes past it. Seen red: nothing kept, altered code taken because nobody looked at it (the
// process dies of it), a kept file that is not replaced, output that nobody reads taken through us, and a reader taken for nobody.

let scene: Scene
const OFFLINE = ['run', '--vault', 'prod', '--offline', '--']
beforeAll(async () => {
  scene = await startScene()
  expect((await scene.strongroom(['run', '--vault', 'prod', '--', 'true'])).code).toBe(0)
})
afterAll(() => scene.close())

/** What was compiled of the scripts that `run` needs. */
const kept = (): string => {
  const [file = ''] = globSync(join(scene.machine.home, '.cache/strongroom/compiled/*/run-*.cjs'))
  return file
}
const answer = () => scene.strongroom([...OFFLINE, 'sh', '-c', 'echo $STRIPE_SECRET_KEY; exit 7'])

it('keeps what it compiled, for nobody else to write, and says nothing of what it was given', async () => {
  expect(statSync(kept()).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(kept())).mode & 0o777).toBe(0o700)
  for (let i = 0; i < 3; i += 1)
    expect(await answer()).toMatchObject({ code: 7, stdout: Buffer.from('‹STRIPE_SECRET_KEY›\n') })
  const starts = readFileSync(join(dirname(kept()), 'starts'), 'utf8').split('\n')
  expect(starts).toEqual(['run --vault', 'run --offline --vault', 'run --offline --vault'])
  expect(readFileSync(kept()).includes(SECRETS.STRIPE_SECRET_KEY)).toBe(false)
})

it('does not run code that was altered where it is kept, and compiles it anew', async () => {
  const whole = readFileSync(kept())
  const altered = Uint8Array.from(whole, (byte, i) => (i > 2000 && i % 64 === 0 ? byte ^ 0xff : byte))
  for (const bytes of [altered, whole.subarray(0, 1000), new Uint8Array()]) {
    writeFileSync(kept(), bytes)
    expect(await answer()).toMatchObject({ code: 7, signal: null })
    expect(readFileSync(kept()).equals(bytes)).toBe(false)
  }
})

it('lets a command write past it where nobody reads, and masks what one of two readers sees', async () => {
  const told = join(scene.machine.home, 'told')
  const writing = (redirection: string): Promise<Exit> => {
    const look = `readlink /proc/$$/fd/1 /proc/$$/fd/2 | cat > ${told}; echo $STRIPE_SECRET_KEY >&2; exit 5`
    const command = [process.execPath, scene.program, ...OFFLINE, 'sh', '-c', look].map((word) => `'${word}'`).join(' ')
    const { env, home: cwd } = scene.machine
    return runProcess('sh', ['-c', `exec ${command} ${redirection}`], { env, cwd, input: '' })
  }
  expect((await writing('>/dev/null 2>&1')).code).toBe(5)
  expect(readFileSync(told, 'utf8')).toBe('/dev/null\n/dev/null\n')
  expect(await writing('>/dev/null')).toMatchObject({ code: 5, stderr: Buffer.from('‹STRIPE_SECRET_KEY›\n') })
})
