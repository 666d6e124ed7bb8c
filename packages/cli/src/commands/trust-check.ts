import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { checkEvidence, ProtocolError } from '@strongroom/protocol'
import type { Cli } from '../cli.ts'
import { CliError } from '../errors/cli-error.ts'
import { arg, command } from '../model/command.ts'
import { facts } from '../output/table.ts'

/** Answers of ten thousand items are a tenth of it. */
const MOST_BYTES = 134_217_728

async function readEvidence({ io }: Cli, path: string): Promise<unknown> {
  const unreadable = (why: string): CliError =>
    new CliError('file_unreadable', why, { fix: 'give the evidence file that a refusal named' })
  const whole = resolve(io.cwd, path)
  const size = await stat(whole).then(
    (found) => (found.isFile() ? found.size : undefined),
    () => undefined,
  )
  if (size === undefined) throw unreadable(`there is no file ${path}`)
  if (size > MOST_BYTES) throw unreadable(`${path} is larger than any evidence`)
  try {
    return JSON.parse(await readFile(whole, 'utf8'))
  } catch {
    throw unreadable(`${path} is no JSON`)
  }
}

const said = (reproduced: boolean, checkable: boolean): string => {
  if (!checkable) return 'it is to be looked at: nothing in it can be run again'
  return reproduced ? 'yes: the answer is refused again, for the same reason' : 'no: the answer is not refused for that'
}

export const check = command({
  summary: 'check the evidence of a refusal: without keys, and without the server',
  about: 'Runs the refused verification again with what the client had pinned at the time.',
  args: { file: arg.one('the evidence file') },
  flags: {},
  examples: [{ run: 'strongroom trust check evidence.json', does: 'whether the refusal holds' }],
  next: 'strongroom trust alarms',
  output: async () => (await import('../schemas/trust.ts')).verdictShape,
  run: async (cli, { args }) => {
    const candidate = await readEvidence(cli, args.file)
    const verdict = await checkEvidence(candidate).catch((error: unknown) => {
      if (!(error instanceof ProtocolError)) throw error
      throw new CliError('file_unreadable', `this is no evidence: ${error.message}`, {
        fix: 'give the evidence file that a refusal named',
      })
    })
    const rows = [
      ['claimed', verdict.claimed],
      ['found', verdict.found ?? 'nothing'],
      ['holds', said(verdict.reproduced, verdict.checkable)],
      ...verdict.checkpoints.map(({ size, root }) => ['checkpoint', `size ${size}, root ${root}`] as const),
    ] as const
    return { data: verdict, text: facts(rows, cli.style) }
  },
})
