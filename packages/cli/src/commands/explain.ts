import { CliError } from '../errors/cli-error.ts'
import { CLI_CODES, type CodeEntry, EXIT } from '../errors/codes.ts'
import { SDK_CODES } from '../errors/sdk-codes.ts'
import { exitOfStatus } from '../errors/shown.ts'
import { arg, command } from '../model/command.ts'
import { nearest } from '../model/nearest.ts'

// Every code that can be met: of this program, of the API, of the protocol.

interface Explained {
  readonly code: string
  readonly from: readonly ('program' | 'api' | 'protocol')[]
  readonly meaning: string
  readonly next?: string
  readonly status?: number
  readonly exitCode: number
}

async function all(): Promise<ReadonlyMap<string, Explained>> {
  const { ERRORS } = await import('@strongroom/contract')
  const { PROTOCOL_ERRORS } = await import('@strongroom/protocol')
  const found = new Map<string, Explained>()
  const add = (one: Explained): void => {
    const before = found.get(one.code)
    found.set(one.code, before ? { ...one, ...before, from: [...before.from, ...one.from] } : one)
  }
  for (const [code, { exitCode, about }] of Object.entries({ ...SDK_CODES, ...CLI_CODES } as Record<string, CodeEntry>))
    add({ code, from: ['program'], meaning: about, exitCode })
  for (const [code, { status, message, hint }] of Object.entries(ERRORS))
    add({ code, from: ['api'], meaning: message, next: hint, status, exitCode: exitOfStatus(status) })
  for (const [code, [group, meaning, next]] of Object.entries(PROTOCOL_ERRORS))
    add({ code, from: ['protocol'], meaning, next, exitCode: group === 'form' ? EXIT.invalid : EXIT.unverified })
  return found
}

const SOURCES = { program: 'this program', api: 'the server', protocol: 'the verification on this machine' } as const
const MOST_NEAR = 4

export const explain = command({
  summary: 'what a code means, and what to do',
  args: { code: arg.one('a code, as it is printed with an error', { completes: 'code' }) },
  flags: {},
  examples: [
    { run: 'strongroom explain no_wrapped_key', does: 'what happened, what to do, which exit code' },
    { run: 'strongroom explain log_rollback', does: 'codes of the protocol too' },
  ],
  output: async () => (await import('../schemas/config.ts')).explainShape,
  run: async (cli, { args }) => {
    const codes = await all()
    const asked = args.code.trim().toLowerCase()
    const found = codes.get(asked)
    if (!found) {
      const known = [...codes.keys()]
      const near = [nearest(asked, known), ...known.filter((code) => code.includes(asked))]
      const shown = [...new Set(near.filter((code) => code !== undefined))].slice(0, MOST_NEAR)
      throw new CliError('code_not_found', `there is no code ${asked}`, {
        fix: shown.length > 0 ? `did you mean ${shown.join(', ')}?` : 'copy it from the error, such as no_wrapped_key',
        details: { near: shown },
      })
    }
    const { code, from, meaning, next, status, exitCode } = found
    const where = from.map((one) => SOURCES[one]).join(', and of ')
    const text = [
      cli.style.bold(code),
      '',
      `  ${meaning}`,
      ...(next === undefined ? [] : ['', `  ${cli.style.dim('do')}         ${next}`]),
      '',
      `  ${cli.style.dim('a code of')}  ${where}`,
      ...(status === undefined ? [] : [`  ${cli.style.dim('status')}     ${status}`]),
      `  ${cli.style.dim('exit code')}  ${exitCode}${exitCode === EXIT.unverified ? '; nothing was decrypted' : ''}`,
    ].join('\n')
    return { data: found, text }
  },
})
