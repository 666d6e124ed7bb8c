import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { shellLine } from '@strongroom/contract'
import { Value } from 'typebox/value'
import { expect, it } from 'vitest'
import { everyCode } from '../src/errors/every-code.ts'
import { type Command, isGroup } from '../src/model/command.ts'
import { complete } from '../src/model/complete.ts'
import { completionScript, SHELLS } from '../src/model/completion.ts'
import { GLOBALS } from '../src/model/globals.ts'
import { commandHelp, commandsHelp, groupHelp, rootHelp, wholeHelp } from '../src/model/help.ts'
import { manPage } from '../src/model/man.ts'
import { mapOfEverything, mapText } from '../src/model/map.ts'
import { nearest } from '../src/model/nearest.ts'
import { findPath, parseInput } from '../src/model/parse.ts'
import { TREE } from '../src/model/tree.ts'
import { everyCommand as walk } from '../src/model/walk.ts'
import { pick } from '../src/output/pick.ts'
import { safeText } from '../src/output/safe-text.ts'
import { PLAIN } from '../src/output/style.ts'
import { table, widthOf } from '../src/output/table.ts'
import type { Io } from '../src/place/io.ts'
import { fieldPlace, itemPlace, typedPlace } from '../src/place/reference.ts'
import { runCli } from '../src/run-cli.ts'
import { helpShape } from '../src/schemas/machine.ts'
import { unnamed } from './shapes.ts'

// Catches: a command without an example or with one that names another command, without a next step or with one that does not exist, help
// that does not fit a screen, a flag that no help names, a flag that shadows a global one, a flag that takes a secret on the command line, a
// name that moves the cursor, a schema that cannot be asked for, a next command that is another one for the shell; a command that the first
// screen does not name; a refusal whose next step is no command. Seen red: names put into it as they are, a heading left out of the first screen; rare flags shown like others, and
// not at all; descriptions not wrapped, completed names of two words, a next step misspelt, a group with a verb too many; ids of the server put
// into it in the middle of a sentence, names with a slash put together to a place that is another one; the
// next step of `global_admin_required` in words of an older command line; members of JSON that its schema does not name.

const everyCommand = async () => (await walk()).map(({ path, command }) => [path, command] as const)

/** What a screen of 24 lines of 80 columns does not hold, with the prompt on the last of them. */
const beyondScreen = (path: string, help: string): string[] => {
  const lines = help.split('\n')
  return [
    ...(lines.length < 24 ? [] : [`${path}: help has ${lines.length} lines`]),
    ...lines.filter((line) => widthOf(line) > 80).map((line) => `${path}: ${widthOf(line)} columns: ${line}`),
  ]
}

/** The line under a label, or nothing. */
const labelled = (label: string, help: string): string | undefined =>
  new RegExp(`^${label} +(.+)$`, 'm').exec(help)?.[1]

it('gives every command a summary, a runnable example of itself, a next step, and help that fits a screen', async () => {
  const all = await everyCommand()
  const paths = new Set(all.map(([path]) => path))
  const wrong = all.flatMap(([path, command]) => {
    const help = commandHelp(path, command, PLAIN)
    const isOwn = command.examples.some(
      ({ run }) => run.includes(`strongroom ${path}`) && help.includes(`\n  ${run}\n`),
    )
    const next = labelled('next', help) ?? ''
    const [noun, verb] = findPath(next.slice(next.indexOf('strongroom ') + 11).split(' ')).path
    const isThere = next.includes('strongroom ') && [noun, `${noun} ${verb}`].some((known) => paths.has(known ?? ''))
    return [
      ...beyondScreen(path, help),
      ...(isOwn ? [] : [`${path}: no example of itself`]),
      ...(isThere ? [] : [`${path}: next is no command: ${next}`]),
    ]
  })
  expect(wrong).toEqual([])
})

it('names only commands and flags that there are in what every code means and what to do about it', async () => {
  const known = new Map(await everyCommand())
  const wrong = [...(await everyCode()).values()].flatMap(({ code, meaning, next = '' }) =>
    [...`${meaning}\n${next}`.matchAll(/strongroom ((?:[a-z][a-z-]*|--[a-z-]+|[A-Z]+|\d\w*|--)(?: |\b))+/g)].flatMap(
      ([line]) => {
        const [words = ''] = line.slice('strongroom '.length).split(' -- ')
        const [noun = '', verb = ''] = words.split(' ')
        const command = known.get(`${noun} ${verb}`) ?? known.get(noun)
        const flags = words.match(/--[a-z-]+/g) ?? []
        const isKnown = command && flags.every((flag) => flag.slice(2) in { ...GLOBALS, ...command.flags })
        return isKnown ? [] : [`${code}: ${line}`]
      },
    ),
  )
  expect(wrong).toEqual([])
})

it('gives every group a line for each verb, an example and a next step, on one screen', async () => {
  for (const [name, { load }] of Object.entries(TREE)) {
    const noun = await load()
    if (!isGroup(noun)) continue
    const help = groupHelp(name, noun, PLAIN)
    expect(beyondScreen(name, help)).toEqual([])
    expect(Object.keys(noun.verbs).filter((verb) => !help.includes(`\n  ${verb} `))).toEqual([])
    expect(labelled('try', help)).toContain(`strongroom ${name} `)
    expect(labelled('next', help)).toBe(`strongroom ${name} VERB --help`)
  }
})

it('names every flag on the screen, and says what each does where all of it is asked for', async () => {
  const words = (text: string): string => text.replaceAll(/\s+/g, ' ')
  const lost = (await everyCommand()).flatMap(([path, command]) => {
    const help = commandHelp(path, command, PLAIN)
    const whole = words(wholeHelp(path, command, PLAIN))
    expect(
      wholeHelp(path, command, PLAIN)
        .split('\n')
        .filter((line) => widthOf(line) > 80),
    ).toEqual([])
    return Object.entries(command.flags)
      .filter(([name, { summary }]) => !(help.includes(`--${name}`) && whole.includes(words(summary))))
      .map(([name]) => `${path} --${name}`)
  })
  expect(lost).toEqual([])
})

it('shows what there is on one screen, names every command, and has a line for each where that is asked for', () => {
  const lines = rootHelp(PLAIN).split('\n')
  expect(lines.length).toBeLessThan(24)
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  const shown = Object.entries(TREE).filter(([name]) => !name.startsWith('_'))
  const words = new Set(lines.flatMap((line) => line.split(/[\s,]+/)))
  expect(shown.filter(([name]) => !words.has(name))).toEqual([])
  const all = commandsHelp(PLAIN).split('\n')
  expect(
    shown.filter(([name, { summary }]) => !all.some((line) => line.startsWith(`  ${name} `) && line.endsWith(summary))),
  ).toEqual([])
})

it('has no flag that takes a secret, switches verification off or means something else everywhere', async () => {
  const all = await everyCommand()
  const flags = all.flatMap(([path, { flags: own }]) => Object.keys(own).map((name) => [path, name] as const))
  const named = /^(value|password|passphrase|secret|token|insecure|skip-verify|no-verify)$/
  expect(flags.filter(([, name]) => named.test(name))).toEqual([])
  expect(flags.filter(([, name]) => Object.hasOwn(GLOBALS, name))).toEqual([])
})

it('has a schema for every command that prints data', async () => {
  const without = (await everyCommand()).filter(([, { output, takesCommand }]) => !output && !takesCommand)
  expect(without.map(([path]) => path)).toEqual([])
})

const vault = async (verb: string): Promise<Command> => {
  const noun = await TREE.vault?.load()
  const command = noun && isGroup(noun) ? noun.verbs[verb] : undefined
  if (!command) throw new Error('no such verb')
  return command
}

it('understands flags before and after, with = and without, and refuses what it does not know with the nearest', async () => {
  const create = await vault('create')
  expect(findPath(['--profile', 'x', 'vault', '--json', 'create', 'prod']).path).toEqual(['vault', 'create'])
  const { input, globals } = parseInput(['prod', '--class=public', '--json', '-p', 'x'], create, 'vault create')
  expect(input).toMatchObject({ args: { name: 'prod' }, flags: { class: 'public' } })
  expect(globals).toMatchObject({ json: true, profile: 'x', quiet: false })
  expect(() => parseInput(['prod', '--clas', 'public'], create, 'vault create')).toThrow(/--clas is not a flag/)
  expect(() => parseInput(['prod', '-x'], create, 'vault create')).toThrow(/^-x is not a flag/)
  expect(() => parseInput(['prod', '--class', 'secret'], create, 'vault create')).toThrow(/unknown/)
  expect(() => parseInput([], create, 'vault create')).toThrow(/NAME is missing/)
  expect(() => parseInput(['prod', '--class'], create, 'vault create')).toThrow(/needs a value/)
})

it('repeats no argument it did not expect: it may be a secret', async () => {
  const create = await vault('create')
  expect(() => parseInput(['prod', 'hunter2'], create, 'vault create')).toThrow(/^(?!.*hunter2)/)
})

it('prints the whole command line on one page, and a man page for each command', async () => {
  const { commands } = await mapOfEverything()
  expect(commands.map(({ path }) => path)).toContain('vault list')
  expect(await mapText()).toContain('vault')
  for (const [path, command] of await everyCommand()) {
    const page = manPage(path, command)
    expect(page).toContain('.SH SYNOPSIS')
    // A line that begins with a dot or a quote is an order to the formatter.
    expect(page.split('\n').filter((line) => /^['.](?!TH|SH|TP|B |I )/.test(line))).toEqual([])
  }
})

it('names in its schema all of what it prints of the whole command line', async () => {
  const all = await mapOfEverything()
  expect(Value.Check(helpShape, all)).toBe(true)
  expect(unnamed(helpShape, all)).toEqual([])
  expect(unnamed(helpShape, { text: '', more: 1 })).toEqual(['.more'])
})

it('completes commands, verbs, flags, choices and nothing it does not know', async () => {
  const io = { ...({} as Io), env: { HOME: '/nonexistent' } }
  expect(await complete(['va'], io)).toEqual(['vault'])
  expect(await complete(['vault', 'cl'], io)).toEqual(['classify'])
  expect(await complete(['vault', 'create', 'x', '--class', 'pub'], io)).toEqual(['public'])
  expect(await complete(['vault', 'create', '--cl'], io)).toEqual(['--class'])
  expect(await complete(['agent', 'simulate', 'bot', 'vaults.env'], io)).toEqual(['vaults.environmentFields'])
  expect(await complete(['nothing', ''], io)).toEqual([])
  for (const shell of SHELLS) expect(completionScript(shell)).toContain('strongroom __complete')
})

it('completes in bash to words that the shell reads as the name, also where half of it was typed', () => {
  const names = ['my vault', "ada's", 'a*', 'plain']
  const linesOf = (script: string, typed = ''): readonly string[] =>
    execFileSync('bash', ['-fc', script, 'bash', typed], { encoding: 'utf8' }).trimEnd().split('\n')
  const fake = `strongroom() { local name; for name in ${names.map((name) => JSON.stringify(name)).join(' ')}; do
    [[ $name == "\${@: -1}"* ]] && printf '%s\\n' "$name"; done; }`
  const asked = `COMP_WORDS=(strongroom vault show "$1"); COMP_CWORD=3; _strongroom; printf '%s\\n' "\${COMPREPLY[@]}"`
  const completed = (typed: string) => linesOf([fake, completionScript('bash'), asked].join('\n'), typed)
  const read = (words: readonly string[]) => linesOf(`printf '%s\\n' ${words.join(' ')}`)
  expect(read(completed(''))).toEqual(names)
  expect(read(completed('my\\ v'))).toEqual(['my vault'])
  // Between quotes a name stands as it is.
  expect(completed("'my v")).toEqual(['my vault'])
})

it('finds the word that was meant, and none where nothing is near', () => {
  expect(nearest('vualt', ['vault', 'item', 'version'])).toBe('vault')
  expect(nearest('xyzzy', ['vault', 'item'])).toBeUndefined()
})

it('picks parts of JSON', () => {
  const document = { data: [{ name: 'a' }, { name: 'b', n: 2 }], meta: { total: 2 } }
  expect(pick(document, 'data[].name')).toBe('a\nb')
  expect(pick(document, 'data[1]')).toBe('{"name":"b","n":2}')
  expect(pick(document, 'meta.total')).toBe('2')
  expect(() => pick(document, 'data[0].absent')).toThrow(/no data\[0\]\.absent/)
  expect(() => pick(document, 'data..name')).toThrow()
  expect(pick({ data: [] }, 'data[].name')).toBe('')
})

it('shows names of others without letting them move the cursor, and lines up wide characters', () => {
  expect(safeText('a\u001b[2Jb\nc\u202ed')).toBe('a\\u001b[2Jb\\u000ac\\u202ed')
  const rows = [{ name: '日本' }, { name: 'ab' }]
  const columns = [
    { title: 'N', of: (row: { name: string }) => row.name },
    { title: 'X', of: () => 'x' },
  ]
  expect(table(rows, columns, PLAIN)).toBe('N     X\n日本  x\nab    x')
})

it('prints the schema of every command that has one, as a JSON Schema that says what an answer is', async () => {
  const wrong: string[] = []
  for (const [path, { output }] of await everyCommand()) {
    if (!output) continue
    const stdout = new PassThrough()
    const stderr = new PassThrough()
    const io = { argv: [...path.split(' '), '--schema'], env: {}, cwd: '/', stdin: new PassThrough(), stdout, stderr }
    const code = await runCli(io as unknown as Io)
    const text = String(stdout.read() ?? '')
    if (code !== 0 || JSON.stringify(JSON.parse(text)) !== JSON.stringify(await output()))
      wrong.push(`${path}: ${code}`)
  }
  expect(wrong).toEqual([])
})

it('writes the next command so that a shell reads the names in it as they are', () => {
  const names = ['prod', 'my vault', "it's", '$(id)', '`id`', 'a;b', '*', '~', '', 'sr://prod/app/KEY', 'zwölf', 'x>y']
  for (const name of names) {
    const line = shellLine`printf '%s|' ${name} ${name}/ITEM ${7}`
    expect(execFileSync('sh', ['-c', line], { encoding: 'utf8' })).toBe(`${name}|${name}/ITEM|7|`)
  }
  expect(shellLine`strongroom vault share ${'prod'} --with ${'ada@northwind.test'}`).toBe(
    'strongroom vault share prod --with ada@northwind.test',
  )
})

it('writes places so that they are read as the names they are made of', () => {
  const names = ['prod', 'eu/prod', '100%', 'a b', 'c?d#e', "it's"]
  for (const vault of names)
    for (const item of names) expect(itemPlace(typedPlace(vault, item))).toEqual({ vault, item })
  expect(typedPlace('my vault', 'ITEM', 'FIELD')).toBe('my vault/ITEM/FIELD')
  expect(() => itemPlace('prod/100%')).toThrow(expect.objectContaining({ code: 'usage' }))
  expect(() => itemPlace('prod')).toThrow('an item is written vault/item')
  expect(() => fieldPlace('eu/prod/stripe/KEY')).toThrow(expect.objectContaining({ fix: expect.stringMatching(/%2F/) }))
})

it('has no next command with a name in it that was put there as it is', () => {
  const sources = fileURLToPath(new URL('../src', import.meta.url))
  const plain = globSync('**/*.ts', { cwd: sources }).flatMap((file) =>
    readFileSync(`${sources}/${file}`, 'utf8')
      .split('\n')
      .filter((line) => /(?<!shellLine)`[^`]*\bstrongroom [a-z][^`]*\$\{|shellLine`[^`]*\}\/[A-Z$]/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  )
  // In these the names are of commands and versions.
  const ours = /^(?:model\/|run-cli|up\/screen|commands\/version)/
  expect(plain.filter((line) => !ours.test(line))).toEqual([])
})
