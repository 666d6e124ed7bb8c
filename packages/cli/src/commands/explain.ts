import { CliError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/codes.ts'
import { everyCode } from '../errors/every-code.ts'
import { arg, command } from '../model/command.ts'
import { nearest } from '../model/nearest.ts'

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
  next: 'strongroom doctor',
  output: async () => (await import('../schemas/config.ts')).explainShape,
  run: async (cli, { args }) => {
    const codes = await everyCode()
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
