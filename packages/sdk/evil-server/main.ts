#!/usr/bin/env node
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { ATTACKS } from './attacks/all.ts'
import { listed } from './control.ts'
import { accompliceOf, logKeyOf, ownKeys, readKey } from './keys.ts'
import { startEvil } from './proxy.ts'
import { makeRecords } from './records.ts'
import { printScore } from './score.ts'

// A lying server for anybody's client: it stands before a real one and applies one named attack at a time.

const HELP = `usage: evil-server --list [--json]
       evil-server --upstream URL (--attack NAME | --honest) [options]

  --upstream URL       the real server, a test server of your own
  --attack NAME        the attack that is on; see --list
  --after N            honest answers of its route before it begins
                       (1 for attacks on a client that has read before, else 0)
  --honest             nothing is altered, answers are only recorded
  --port N, --host H   where to listen; a free port of 127.0.0.1 if absent
  --record FILE        writes down the answers that passed, when it ends
  --replay FILE        begins with answers that were written down before
  --log-key FILE       the log's own key (PEM), for attacks that need it:
                       node packages/server/scripts/export-log-key.ts
  --accomplice FILE    the credential string of an agent who plays along;
                       may be given several times
  --score FILE         writes the score sheet when it ends; - for standard output
  --json               everything on standard output as JSON

Prints its address. While it runs, POST /.evil/attack {"name": "..."} switches to
another attack ("honest" for none), GET /.evil/score shows the score sheet, and
POST /.evil/report {"name": "...", "code": "..."} tells it what the client said:
its error, "same" for the honest result, "accepted" if it took the lie.

limits: one attack at a time; answers that are altered are held in memory; an attack
that needs something it was not given (an older answer, a key) lets the honest answer
through and counts as not run. Attacks with the log's key need a client whose newest
checkpoint is the server's. It adds no attacks on TLS, timing or availability.
`

const options = {
  upstream: { type: 'string' },
  attack: { type: 'string' },
  after: { type: 'string' },
  honest: { type: 'boolean' },
  port: { type: 'string' },
  host: { type: 'string' },
  record: { type: 'string' },
  replay: { type: 'string' },
  'log-key': { type: 'string' },
  accomplice: { type: 'string', multiple: true },
  score: { type: 'string' },
  json: { type: 'boolean' },
  list: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

type Given = ReturnType<typeof read>['values']
const read = (args: string[]) => parseArgs({ args, options })

const fail = (message: string): never => {
  process.stderr.write(`evil-server: ${message}\nhint: evil-server --help\n`)
  process.exit(2)
}

function printList(isJson: boolean): void {
  const rows = ATTACKS.map(listed)
  if (isJson) {
    process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`)
    return
  }
  for (const { number, name, title, route, table, codes, second, witnessed } of rows) {
    const when = [second && 'second read', witnessed && 'with witnesses'].filter(Boolean).join(', ')
    process.stdout.write(
      `${number.padStart(3)}  ${name}\n     ${title}${when && ` (${when})`}\n     ${route} -> ${table}: ${codes.join(' or ')}\n`,
    )
  }
}

async function run(given: Given, upstream: string): Promise<void> {
  const { json = false, attack, after, score: sheet, record } = given
  const say = (line: string): void => {
    process.stdout.write(json ? `${JSON.stringify({ event: line })}\n` : `${line}\n`)
  }
  const records = makeRecords(given.replay)
  const evil = await startEvil({
    upstream,
    keys: ownKeys(),
    accomplices: await Promise.all((given.accomplice ?? []).map((path) => readKey(path, accompliceOf))),
    logKey: given['log-key'] === undefined ? undefined : readKey(given['log-key'], logKeyOf),
    records,
    say,
    ...(given.host !== undefined && { host: given.host }),
    ...(given.port !== undefined && { port: Number(given.port) }),
  })
  evil.choose(attack, after === undefined ? undefined : Number(after))
  process.stdout.write(json ? `${JSON.stringify({ url: evil.url })}\n` : `${evil.url}\n`)
  const end = async (): Promise<void> => {
    const lines = evil.score.lines()
    const text = json ? `${JSON.stringify(lines)}\n` : printScore(lines)
    if (sheet === '-') process.stdout.write(text)
    else if (sheet !== undefined) writeFileSync(sheet, text)
    if (record !== undefined) records.save(record)
    await evil.close()
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end())
}

function readOrFail(args: string[]): Given {
  try {
    return read(args).values
  } catch (error) {
    return fail((error as Error).message)
  }
}

// Whoever reads the list may stop reading.
process.stdout.on('error', () => process.exit(0))

const given = readOrFail(process.argv.slice(2))
const { upstream, attack, honest, list, help, json } = given
if (help) process.stdout.write(HELP)
else if (list) printList(json ?? false)
else if (upstream === undefined) fail('say where the real server is')
else if ((attack === undefined) === (honest === undefined)) fail('say --attack NAME or --honest')
else await run(given, upstream).catch((error: unknown) => fail((error as Error).message))
