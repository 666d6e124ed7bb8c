import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseManifest } from '../src/project/manifest.ts'
import { tasksNear } from '../src/project/tasks.ts'
import { filled, placesIn, type TemplateType, typeOfFile } from '../src/project/template.ts'

// Catches: a key that is passed over, a line that is named wrongly, an environment that takes more than it extends, a value that
// breaks out of the quotes it is filled into, a task that is another one and passes for the one that was allowed, one that asks for
// nothing and gets everything.
// Seen red: a digest without the sources, without the name; `env = []` taken for no list; in a here-document a value that the shell ran, in
// a block of YAML quotes of our own.

const GOOD = `project = "storefront"

[env]
STRIPE_SECRET_KEY = "sr://prod/stripe/secret_key"
DATABASE_URL      = { ref = "sr://prod/postgres/url", required = false, placeholder = "postgres://u:p@db.invalid/x" }
LOG_LEVEL         = "info"
PORT              = 3000

[env.ci]
extends = "default"
DATABASE_URL = "sr://ci/postgres/url"

[env.bare]
ONLY = "this"

[tasks.test]
run = ["npm", "test"]
env = ["DATABASE_URL"]

[hosts."api.stripe.com"]
use   = "STRIPE_SECRET_KEY"
as    = "bearer"
allow = ["GET /v1/**"]
`

const read = (text: string) => parseManifest('strongroom.toml', text)

it('reads text, references and environments that extend others', async () => {
  const { project, environment, environments } = await read(GOOD)
  expect([project, environments]).toEqual(['storefront', ['default', 'ci', 'bare']])
  expect(environment('default')).toEqual({
    STRIPE_SECRET_KEY: { kind: 'ref', ref: 'sr://prod/stripe/secret_key', isRequired: true },
    DATABASE_URL: {
      kind: 'ref',
      ref: 'sr://prod/postgres/url',
      isRequired: false,
      placeholder: 'postgres://u:p@db.invalid/x',
    },
    LOG_LEVEL: { kind: 'text', text: 'info' },
    PORT: { kind: 'text', text: '3000' },
  })
  expect(Object.keys(environment('ci') ?? {})).toEqual(['STRIPE_SECRET_KEY', 'DATABASE_URL', 'LOG_LEVEL', 'PORT'])
  expect(environment('ci')?.DATABASE_URL).toMatchObject({ ref: 'sr://ci/postgres/url', isRequired: true })
  expect(environment('bare')).toEqual({ ONLY: { kind: 'text', text: 'this' } })
  expect((await read('project = "p"')).environment('default')).toBeUndefined()
})

const REFUSED: readonly (readonly [problem: string, text: string, line: number, words: string])[] = [
  ['an unknown key', 'project = "p"\nvalut = "x"\n', 2, 'valut is unknown'],
  ['an unknown key of a reference', '[env]\nA = { ref = "sr://a/b/c", requierd = true }\n', 2, 'requierd'],
  ['a task without a command', '[env]\n[tasks.t]\nenv = ["A"]\n', 2, 'tasks.t.run is missing'],
  ['a task with an empty command', '[tasks.t]\nrun = " "\n', 1, 'tasks.t.run is missing'],
  ['a task that is a number', '[tasks.t]\nrun = 7\n', 2, 'tasks.t.run is no text or list'],
  ['an unknown key of a task', '[tasks.t]\nrun = ["x"]\nwhen = "y"\n', 3, 'tasks.t.when'],
  ['a broken reference', '[env]\n# comment\nA = "sr://only/two"\n', 3, 'sr://vault/item/field'],
  ['a list', '[env]\nA = ["x"]\n', 2, 'neither text nor a reference'],
  ['an environment that extends none', '[env.ci]\nextends = "nope"\n', 2, 'there is no environment nope'],
  ['an environment that extends itself', '[env.a]\nextends = "b"\n[env.b]\nextends = "a"\n', 2, 'extends itself'],
  ['a second default', '[env.default]\nA = "x"\n', 1, 'default environment'],
  ['what is no TOML', 'project = \n', 1, 'not TOML'],
]

it.each(REFUSED)('refuses %s with its line', async (_, text, line, words) => {
  await expect(read(text)).rejects.toMatchObject({
    code: 'project_file_invalid',
    exitCode: 6,
    message: expect.stringContaining(`strongroom.toml, line ${line}:`),
  })
  await expect(read(text)).rejects.toThrow(words)
})

it('knows a task again by what it runs, what it gets and where, and by nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sr-tasks-'))
  const tasks = async (text: string) => {
    writeFileSync(join(folder, 'strongroom.toml'), text)
    const found = await tasksNear(folder)
    return found?.tasks ?? []
  }
  const digest = async (text: string) => (await tasks(text))[0]?.digest
  const env = '[env]\nA = "sr://v/i/A"\nB = "sr://v/i/B"\n'
  const task = '[tasks.t]\nrun = ["x"]\nenv = ["A"]\n'
  const first = await digest(env + task)
  expect(await digest(`${task}[env]\nC = "c"\nB = "sr://v/i/C"\nA = "sr://v/i/A"\n`)).toBe(first)
  for (const other of [
    `${env}[tasks.t]\nrun = "x"\nenv = ["A"]\n`,
    `${env}[tasks.u]\nrun = ["x"]\nenv = ["A"]\n`,
    `${env}[tasks.t]\nrun = ["x"]\nenv = ["A", "B"]\n`,
    `[env]\nA = "sr://w/i/A"\n${task}`,
    `[env]\nA = { ref = "sr://v/i/A", required = false }\n${task}`,
    `licenses = ["l"]\n${env}${task}`,
  ])
    expect(await digest(other), other).not.toBe(first)
  const whole = 'project = "p"\nlicenses = ["l"]\n[tasks.all]\nrun = "x"\n[tasks.none]\nrun = "x"\nenv = []\n'
  const [all, none] = await tasks(whole)
  expect(all?.sources).toEqual([
    { kind: 'project', project: 'p' },
    { kind: 'license', license: 'l' },
  ])
  expect(none?.sources).toEqual([])
  rmSync(folder, { recursive: true })
})

const VALUE = `p"a'$s\\s`
const fill = (template: string, type: TemplateType, value = VALUE): string =>
  filled(template, placesIn(template, new Set(['NAME'])), type, () => value)

it('fills each kind of file so that its reader gets the value', async () => {
  const { parse } = await import('smol-toml')
  expect(JSON.parse(fill('{"a": "{{ sr://v/i/f }}", "b": sr://v/i/f, "c": "x-{{NAME}}-y"}', 'json'))).toEqual({
    a: VALUE,
    b: VALUE,
    c: `x-${VALUE}-y`,
  })
  expect(parse(fill('a = "sr://v/i/f"\nb = {{ sr://v/i/f }}\n', 'toml'))).toEqual({ a: VALUE, b: VALUE })
  expect(fill('a: {{ NAME }}\n', 'yaml')).toBe(`a: ${JSON.stringify(VALUE)}\n`)
  expect(fill("a: '{{ NAME }}'\n", 'yaml', "it's")).toBe("a: 'it''s'\n")
  expect(fill('<a b="{{ NAME }}">{{ NAME }}</a>', 'xml', '<&">')).toBe(
    '<a b="&#60;&#38;&#34;&#62;">&#60;&#38;&#34;&#62;</a>',
  )
  expect(fill('A={{ NAME }}\nB="{{ NAME }}"\n', 'shell', '$(id)`"')).toBe(`A='$(id)\`"'\nB="\\$(id)\\\`\\""\n`)
  expect(fill('A={{ NAME }}\n', 'env', 'a b')).toBe("A='a b'\n")
  expect(fill('key {{ NAME }};', 'text')).toBe(`key ${VALUE};`)
})

it('refuses a place in which the value would mean something else, and names the line', () => {
  expect(() => fill("x: 1\na: '{{ NAME }}'\n", 'toml')).toThrow('line 2')
  expect(() => fill('url: postgres://u:{{ NAME }}@h\n', 'yaml')).toThrow('needs quotes')
  expect(() => fill('A="{{ NAME }}"\n', 'env')).toThrow('double quotes')
  expect(() => placesIn('a\nsr://broken\n', new Set())).toThrow('line 2')
})

const WITHIN: readonly (readonly [TemplateType, string])[] = [
  ['shell', "cat <<-'END'\n\tit's {{ NAME }}\n\tEND\n"],
  ['shell', 'A="\n{{ NAME }}\n"\n'],
  ['shell', `A='x\ny' B={{ NAME }}\n`],
  ['shell', 'A="$(cat <<END\n{"a": "{{ NAME }}"}\nEND\n)"\n'],
  ['yaml', 'data:\n  app.conf: |\n\n    password={{ NAME }}\n'],
  ['yaml', '- key: >-  # folded\n    {{ NAME }}\n'],
  ['yaml', 'a: "x\n  {{ NAME }}"\n'],
  ['toml', 'a = """\npassword={{ NAME }}\n"""\n'],
  ['env', 'A="x\n{{ NAME }}\n"\n'],
]

it('writes what needs no escapes into text of several lines as it is, and refuses everything else there', () => {
  for (const [type, template] of WITHIN) {
    expect(() => fill(template, type, '$(id)'), template).toThrow('text of several lines')
    expect(fill(template, type, 'plain-1'), template).toBe(template.replace('{{ NAME }}', 'plain-1'))
  }
  expect(fill('<a><![CDATA[{{ NAME }}]]></a>{{ NAME }}', 'xml', '<&>')).toBe('<a><![CDATA[<&>]]></a>&#60;&#38;&#62;')
  expect(() => fill('<a><![CDATA[{{ NAME }}]]></a>', 'xml', ']]>')).toThrow('text of several lines')
})

it('knows where text of several lines ends, and what only looks like it', () => {
  for (const before of [
    'cat <<END\nit\'s "\nEND\n',
    "# don't\n",
    "echo it\\'s $'it\\'s'\n",
    'A="x\ny"\n',
    'i=$((1 << n))\nn\n',
    'cat <<<END\n',
  ])
    expect(fill(`${before}B={{ NAME }}\nEND\nn\n`, 'shell', '$(id)'), before).toContain("B='$(id)'")
  for (const before of ['a: |\n  it\'s "\n\n', "a: it's\n", "a: 'it''s'\n", '# a: |\n', 'a: b >\n', '- |\n  "\n- '])
    expect(fill(`${before}{{ NAME }}\n`, 'yaml', '$(id)'), before).toContain('"$(id)"')
  expect(fill(`# it's\na = ""\nb = """\n"\\""""\nc = {{ NAME }}\n`, 'toml', '$(id)')).toContain('c = "$(id)"')
  expect(fill("A=''\nB=it's\nC={{ NAME }}\n", 'env', '$(id)')).toContain("C='$(id)'")
})

it("leaves other programs' braces alone, and tells kinds of files by their endings", () => {
  expect(placesIn('{{ user.name }} {{ OTHER }} {{ NAME }}', new Set(['NAME']))).toHaveLength(1)
  const types = ['a.json', 'a.yml.tpl', 'x/a.toml', '.env', '.env.local', 'a.env', 'run.sh', 'a.xml', 'nginx.conf'].map(
    typeOfFile,
  )
  expect(types).toEqual(['json', 'yaml', 'toml', 'env', 'env', 'env', 'shell', 'xml', 'text'])
})
