import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Scene, SECRETS, startScene } from './run/scene.ts'
import { jsonOf } from './shapes.ts'

// Catches: words among the data, a value shown to a coding agent, a format that its reader reads otherwise, a file that others can
// read or that was there before, half a file, no JSON where --json stands beside a format. Seen red: the format asked about first, letters
// that are lost where a file is not UTF-8, and a variable that leads nowhere and is not named.

let scene: Scene
beforeAll(async () => {
  scene = await startScene()
})
afterAll(() => scene.close())

const call = (args: readonly string[], options = {}) => scene.person.call(args, options)
const VAULT = ['--vault', 'prod']

it('prints values in the format that is asked for, and nothing else', async () => {
  const shell = await call(['env', ...VAULT, '--only', 'DATABASE_URL', '--format', 'shell'])
  expect(shell).toMatchObject({ code: 0, stdout: `export DATABASE_URL='${SECRETS.DATABASE_URL}'\n`, stderr: '' })
  expect(JSON.parse((await call(['env', ...VAULT, '--format', 'json'])).stdout)).toEqual(SECRETS)
  const dotenv = await call(['env', ...VAULT, '--only', 'STRIPE_SECRET_KEY', '--prefix', 'APP_'])
  expect(dotenv.stdout).toBe(`APP_STRIPE_SECRET_KEY=${SECRETS.STRIPE_SECRET_KEY}\n`)
})

it('prints names alone with --names, and both for programs', async () => {
  const names = await call(['env', ...VAULT, '--names'])
  expect(names.stdout.trim().split('\n').sort()).toEqual(Object.keys(SECRETS).sort())
  const data = await jsonOf<{ values: object; variables: readonly { name: string }[] }>(scene.person, ['env', ...VAULT])
  expect(data.values).toEqual(SECRETS)
  const only = await jsonOf<object>(scene.person, ['env', ...VAULT, '--names'])
  expect(only).not.toHaveProperty('values')
})

it('prints JSON where that is asked for, with the format as a text in it', async () => {
  const one = ['env', ...VAULT, '--only', 'DATABASE_URL', '--format', 'shell']
  const data = await jsonOf<object>(scene.person, one)
  const text = `export DATABASE_URL='${SECRETS.DATABASE_URL}'\n`
  expect(data).toEqual({ variables: [{ name: 'DATABASE_URL', from: expect.any(String) }], text })
  expect((await call([...one, '--pick', 'data.text'])).stdout).toBe(text)
})

it('prints no value to a coding agent, but names', async () => {
  const agent = { env: { CLAUDECODE: '1' } }
  const refused = await call(['env', ...VAULT], agent)
  expect(refused).toMatchObject({ code: 4, stdout: '' })
  expect(refused.error()).toMatchObject({ code: 'plaintext_refused_for_agent', exitCode: 4 })
  expect((await call(['env', ...VAULT, '--names'], agent)).code).toBe(0)
  const template = scene.person.file('agent.tpl', 'sr://prod/app/DATABASE_URL')
  const injected = await call(['inject', '-i', template, '-o', join(scene.person.home, 'agent.out')], agent)
  expect(injected).toMatchObject({ code: 4, stdout: '' })
  expect(existsSync(join(scene.person.home, 'agent.out'))).toBe(false)
})

it('refuses what a format cannot hold, without the value in the refusal', async () => {
  await scene.alice.secrets.set('sr://prod/app/PEM', 'line one\nline two\n')
  const refused = await call(['env', ...VAULT, '--format', 'docker', '--json'])
  expect(refused).toMatchObject({ code: 6, stdout: '' })
  expect(refused.error()).toMatchObject({ code: 'value_not_expressible', message: expect.stringContaining('PEM') })
  expect(refused.stderr).not.toContain('line one')
  expect((await call(['env', ...VAULT, '--format', 'docker', '--except', 'PEM'])).code).toBe(0)
  await scene.alice.secrets.remove('sr://prod/app/PEM')
})

it('fills a template into a file that only its owner can read', async () => {
  const { home } = scene.person
  const template = scene.person.file(
    'app.json.tpl',
    '{"url": "sr://prod/app/DATABASE_URL", "key": {{ sr://prod/app/STRIPE_SECRET_KEY }}}',
  )
  const out = join(home, 'app.json')
  const data = await jsonOf<{ filled: number }>(scene.person, ['inject', '-i', template, '-o', out])
  expect(data).toMatchObject({ path: out, filled: 2 })
  expect(JSON.parse(readFileSync(out, 'utf8'))).toEqual({ url: SECRETS.DATABASE_URL, key: SECRETS.STRIPE_SECRET_KEY })
  expect(statSync(out).mode & 0o777).toBe(0o600)
  const again = await call(['inject', '-i', template, '-o', out, '--json'])
  expect(again.error()).toMatchObject({ code: 'file_unwritable', hint: expect.stringContaining('--force') })
  expect((await call(['inject', '-i', template, '-o', out, '--force', '--mode', '0640'])).stdout).toBe('')
  expect(statSync(out).mode & 0o777).toBe(0o640)
})

it('fills from standard input to standard output, and variables of strongroom.toml by name', async () => {
  const piped = await call(['inject', '--type', 'shell'], { input: 'URL={{ sr://prod/app/DATABASE_URL }}\n' })
  expect(piped).toMatchObject({ code: 0, stdout: `URL='${SECRETS.DATABASE_URL}'\n`, stderr: '' })
  writeFileSync(
    join(scene.person.home, 'strongroom.toml'),
    '[env]\nDB = "sr://prod/app/DATABASE_URL"\nLEVEL = "info"\n',
  )
  const named = await call(['inject', '--type', 'yaml'], {
    input: 'db: {{ DB }}\nlevel: {{ LEVEL }}\nother: {{ .Values.x }}\n',
  })
  expect(named.stdout).toBe(`db: ${JSON.stringify(SECRETS.DATABASE_URL)}\nlevel: "info"\nother: {{ .Values.x }}\n`)
  expect((await call(['env', '--format', 'json'])).stdout).toBe(
    `${JSON.stringify({ DB: SECRETS.DATABASE_URL, LEVEL: 'info' }, null, 2)}\n`,
  )
})

it('prints what it filled as JSON where that is asked for', async () => {
  const input = 'URL={{ sr://prod/app/DATABASE_URL }}\n'
  const template = scene.person.file('url.sh.tpl', input)
  const data = await jsonOf<object>(scene.person, ['inject', '-i', template])
  const text = `URL='${SECRETS.DATABASE_URL}'\n`
  expect(data).toEqual({ filled: 1, references: ['sr://prod/app/DATABASE_URL'], text })
  expect((await call(['inject', '-i', template, '--pick', 'data.text'])).stdout).toBe(text)
})

it('writes nothing where a reference leads nowhere or cannot stand where it stands', async () => {
  const out = join(scene.person.home, 'never')
  const absent = scene.person.file('absent.tpl', 'a: sr://prod/app/NOT_THERE\n')
  const refused = await call(['inject', '-i', absent, '-o', out, '--json'])
  expect(refused).toMatchObject({ code: 5, stdout: '' })
  const unsafe = scene.person.file('unsafe.yaml.tpl', 'a: x{{ sr://prod/app/DATABASE_URL }}y\n')
  const wrong = await call(['inject', '-i', unsafe, '-o', out, '--type', 'yaml', '--json'])
  expect(wrong.error()).toMatchObject({ code: 'template_invalid', exitCode: 6 })
  expect(existsSync(out)).toBe(false)
})

it('names the variable that leads nowhere, with its line, and a command that shows what there is', async () => {
  const project = join(scene.person.home, 'missing')
  mkdirSync(project)
  const write = (name: string, lines: readonly string[]) => writeFileSync(join(project, name), `${lines.join('\n')}\n`)
  const good = 'sr://prod/app/DATABASE_URL'
  const absent = 'sr://prod/app/NOWHERE'
  write('strongroom.toml', [
    '[env]',
    `A = "${good}"`,
    `B = "${absent}"`,
    '[env.ci]',
    'extends = "default"',
    `A = "${good}"`,
  ])
  write('x.env', [`A=${good}`, `B=${absent}`])
  write('t.yaml', [`a: ${good}`, `b: ${absent}`])
  const hint = 'strongroom item show prod/app'
  const told = (words: string) => ({
    code: 'field_not_found',
    message: expect.stringContaining(words),
    hint,
    exitCode: 5,
  })
  const refused = async (...args: string[]) => (await call([...args, '--json'], { cwd: project })).error()
  expect(await refused('env')).toMatchObject(told(`B = ${absent} (strongroom.toml, line 3): there is no field`))
  expect(await refused('env', '--env', 'ci')).toMatchObject(told(`B = ${absent} (strongroom.toml, line 3)`))
  expect(await refused('env', '--dotenv', 'x.env')).toMatchObject(told(`B = ${absent} (x.env, line 2)`))
  expect(await refused('inject', '-i', 't.yaml')).toMatchObject(told(`${absent} (t.yaml, line 2)`))
  // Two of one name, of which the second is there.
  await scene.alice.secrets.set('sr://prod/other/NOWHERE', 'here')
  write('x.env', ['FIRST=sr://prod/other/NOWHERE', `SECOND=${absent}`])
  expect(await refused('env', '--dotenv', 'x.env')).toMatchObject(told(`SECOND = ${absent} (x.env, line 2)`))
  write('x.env', ['A=sr://prod/zzzzzzzz/X'])
  expect(await refused('env', '--dotenv', 'x.env')).toMatchObject({ hint: 'strongroom item list prod' })
  await scene.alice.secrets.remove('sr://prod/other/NOWHERE')
  expect(await refused('read', absent)).toMatchObject({ hint })
})

it('refuses a file that is not UTF-8, and says how to make it so', async () => {
  const { home } = scene.person
  const latin = Buffer.from('# gr\xfc\xdfe\nURL=sr://prod/app/DATABASE_URL\n', 'latin1')
  const file = join(home, 'latin.env')
  writeFileSync(file, latin)
  for (const args of [
    ['env', '--json', '--dotenv', file],
    ['run', '--json', '--dotenv', file, '--', 'true'],
    ['inject', '--json', '-i', file],
  ]) {
    const refused = await call(args)
    expect(refused.stdout, args[0]).toBe('')
    expect(refused.error(), args[0]).toMatchObject({
      code: 'file_unreadable',
      message: `${file} is not UTF-8`,
      hint: `iconv -f ISO-8859-1 -t UTF-8 ${file} > ${file}.utf8`,
    })
  }
  writeFileSync(file, Buffer.concat([Buffer.of(0xff, 0xfe), Buffer.from('A=b\n', 'utf16le')]))
  expect((await call(['env', '--dotenv', file, '--json'])).error().hint).toContain('iconv -f UTF-16 ')
  const project = join(home, 'latin')
  mkdirSync(project)
  writeFileSync(join(project, 'strongroom.toml'), Buffer.from('[env]\nA = "gr\xfc\xdfe"\n', 'latin1'))
  expect((await call(['env', '--json'], { cwd: project })).error().message).toMatch(/strongroom.toml is not UTF-8/)
  const piped = await scene.person.call(['inject', '--json'], { input: latin })
  expect(piped.error()).toMatchObject({ code: 'file_unreadable', message: 'standard input is not UTF-8' })
})
