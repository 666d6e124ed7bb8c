import type { VerifyStep } from '@strongroom/sdk'
import { command, flag } from '../model/command.ts'
import { safeText } from '../output/safe-text.ts'
import { withProgress } from '../prompt/progress.ts'

const TITLES: Readonly<Record<string, string>> = {
  'checkpoint-signature': 'Checkpoint signed',
  consistency: 'Append-only',
  'signer-directory': 'Signers',
  inclusion: 'Entries',
  replay: 'Every change by the rules',
}
const titleOf = ({ step }: VerifyStep): string => TITLES[step] ?? step

export const verify = command({
  summary: 'prove that the log is the one you know, and that all in it follows the rules',
  about:
    'Reads the whole log, recomputes its root, holds it against the checkpoint this machine saw last, and with --replay checks every change with its documents. What fails leaves evidence in a file; nothing is decrypted.',
  args: {},
  flags: { replay: flag.on('every change with its documents too; for owners and admins') },
  examples: [
    { run: 'strongroom verify', does: 'signature, consistency, every entry' },
    { run: 'strongroom verify --replay', does: 'as an auditor does' },
  ],
  next: 'strongroom trust list',
  output: async () => (await import('../schemas/monitoring.ts')).verifyShape,
  run: async (cli, { flags }) => {
    const strongroom = await cli.strongroom()
    const report = await withProgress(cli, 'reading the log', (progress) =>
      strongroom.transparency.verify({
        replay: flags.replay,
        signal: cli.signal,
        onStep: (step) => progress.update(titleOf(step)),
      }),
    )
    const { head, previous, steps, newSigners, durationMs } = report
    const { style } = cli
    const width = Math.max(...steps.map((step) => titleOf(step).length))
    const text = [
      `${style.dim('Log')}    ${safeText(head.origin)}`,
      `${style.dim('Head')}   size ${head.treeSize}   root ${head.rootHash}   ${head.timestamp.toISOString()}`,
      '',
      ...steps.map((step) => `${style.good('✓')} ${titleOf(step).padEnd(width)}  ${safeText(step.detail)}`),
      ...newSigners.map(({ keyId, logIndex }) => `${style.warn('•')} new key ${safeText(keyId)}, entry ${logIndex}`),
      '',
      `The log is the one this machine knows.   ${steps.length} checks, ${Math.round(durationMs)} ms`,
    ].join('\n')
    return { data: { ok: true, head, ...(previous && { previous }), steps, newSigners, durationMs }, text }
  },
})
