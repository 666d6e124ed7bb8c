import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { arg, command, flag } from '../model/command.ts'
import { parseGiven, readGiven } from '../place/given-file.ts'
import { readPiped } from '../place/standard-input.ts'

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'] as const
const MAX_BODY = 1_048_576

/** `name=text`, or `name:=json`. */
function memberOf(text: string): readonly [string, unknown] {
  const [, name, kind, value] = /^([^=:]+)(:?=)([\s\S]*)$/.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw new CliError('usage', '--field is written name=text or name:=json')
  if (kind === '=') return [name, value]
  try {
    return [name, JSON.parse(value)]
  } catch {
    throw new CliError('usage', `--field ${name}:= is not JSON`)
  }
}

const bodyFrom = async (cli: Cli, path: string): Promise<unknown> =>
  path === '-'
    ? parseGiven(await readPiped(cli, MAX_BODY, '--input FILE'), 'standard input')
    : parseGiven(await readGiven(cli, path), path)

export const api = command({
  summary: 'any route of the API, with your credential; nothing of the answer is verified',
  about:
    'Paths begin with / under the machine API, or with /api/. Ciphertexts are shown as they are: values are opened by `read` and `run` only.',
  args: { method: arg.one(METHODS.join(', ')), path: arg.one('such as /vault') },
  flags: {
    field: flag.many('a member of the body', 'NAME=TEXT'),
    input: flag.text('the body from a file, or - for standard input', 'FILE', { completes: 'file' }),
    query: flag.many('a parameter', 'NAME=TEXT'),
    paginate: flag.on('every page, as one list'),
  },
  examples: [
    { run: 'strongroom api GET /me', does: 'as the server says it' },
    { run: 'strongroom api GET /agent --paginate', does: 'all of them' },
  ],
  next: 'strongroom open docs',
  output: async () => (await import('typebox')).Type.Unknown(),
  run: async (cli, { args, flags }) => {
    const method = METHODS.find((known) => known === args.method.toUpperCase())
    if (!method) throw new CliError('usage', `${args.method} is no method`, { fix: `use one of ${METHODS.join(', ')}` })
    const members = flags.field.length > 0 ? Object.fromEntries(flags.field.map(memberOf)) : undefined
    const body = flags.input === undefined ? members : await bodyFrom(cli, flags.input)
    const query = Object.fromEntries(flags.query.map(memberOf)) as Record<string, string>
    const strongroom = await cli.strongroom()
    const ask = (more: Record<string, string> = {}) =>
      strongroom.request<Record<string, unknown>>(
        { method, path: args.path, ...(body !== undefined && { body }) },
        { signal: cli.signal, query: { ...query, ...more } },
      )
    const data = flags.paginate ? await everyPage(ask) : await ask()
    return { data, text: JSON.stringify(data, null, 2) }
  },
})

interface PageMeta {
  readonly totalPages?: number
}

/** Lists are one member beside `meta`. */
async function everyPage(
  ask: (query: Record<string, string>) => PromiseLike<Record<string, unknown>>,
): Promise<unknown[]> {
  const rows: unknown[] = []
  for (let page = 1; ; page += 1) {
    const answer = await ask({ page: String(page), limit: '100' })
    const list = Object.values(answer).find(Array.isArray) as unknown[] | undefined
    if (!list) throw new CliError('usage', 'this route answers no list')
    rows.push(...list)
    const { totalPages = 1 } = (answer.meta ?? {}) as PageMeta
    if (page >= totalPages) return rows
  }
}
