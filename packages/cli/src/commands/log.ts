import { CliError } from '../errors/cli-error.ts'
import { arg, command, flag, type Group } from '../model/command.ts'
import { facts, table } from '../output/table.ts'
import { shortTime } from '../output/time.ts'
import { quorum } from './log-quorum.ts'
import { recover } from './log-recover.ts'

const shapes = () => import('../schemas/monitoring.ts')

const head = command({
  summary: 'the newest checkpoint, held against what this machine saw before',
  args: {},
  flags: { note: flag.on('the signed note itself, for other verifiers') },
  examples: [{ run: 'strongroom log head', does: 'origin, size, root' }],
  next: 'strongroom verify',
  output: async () => (await shapes()).headShape,
  run: async (cli, { flags }) => {
    const strongroom = await cli.strongroom()
    const data = await strongroom.transparency.head({ signal: cli.signal })
    const rows = [
      ['origin', data.origin],
      ['size', data.treeSize],
      ['root', data.rootHash],
      ['at', data.timestamp.toISOString()],
    ] as const
    return { data, text: flags.note ? data.note : facts(rows, cli.style) }
  },
})

const SOME = 50

const entries = command({
  summary: 'entries of the log; verify proves that they are the log',
  args: {},
  flags: {
    from: flag.count('the first one'),
    limit: flag.count('how many; 50 if not given'),
    subject: flag.text('only those that changed this, such as vault/…', 'TEXT'),
  },
  examples: [{ run: 'strongroom log entries --from 0 --limit 20', does: 'the beginning' }],
  next: 'strongroom verify',
  output: async () => (await shapes()).logEntriesShape,
  run: async (cli, { flags }) => {
    const strongroom = await cli.strongroom()
    const found = []
    const span = { ...(flags.from !== undefined && { from: flags.from }) }
    for await (const entry of strongroom.transparency.entries(span, { signal: cli.signal })) {
      if (flags.subject === undefined || entry.subjects.some((one) => one.includes(flags.subject ?? '')))
        found.push(entry)
      if (found.length >= (flags.limit ?? SOME)) break
    }
    return {
      data: found,
      text: table(
        found,
        [
          { title: 'ENTRY', of: ({ index }) => index, right: true },
          { title: 'TIME', of: ({ at }) => shortTime(at) },
          { title: 'TYPE', of: ({ type }) => type },
          { title: 'CHANGED', of: ({ subjects }) => subjects.join(' ') },
        ],
        cli.style,
      ),
    }
  },
})

const prove = command({
  summary: 'the proof that came with a secret: who signed it, where it is in the log',
  args: { ref: arg.one('vault/item/field', { completes: 'ref' }) },
  flags: {},
  examples: [{ run: 'strongroom log prove prod/stripe/secret_key', does: 'without showing the value' }],
  next: 'strongroom verify',
  output: async () => (await import('../schemas/receipt.ts')).receiptShape,
  run: async (cli, { args }) => {
    const strongroom = await cli.strongroom()
    const ref = args.ref.startsWith('sr://') ? args.ref : `sr://${args.ref}`
    const { receipt, version } = await strongroom.secrets.get(ref, { signal: cli.signal })
    if (!receipt) throw new CliError('unexpected', 'a secret came without a receipt')
    const { shownSigner } = await import('../place/principals.ts')
    const { fieldPlace } = await import('../place/reference.ts')
    const rows = [
      ['signed by', await shownSigner(cli, receipt.signerKeyId)],
      ['vault', `${fieldPlace(args.ref).vault} (${receipt.vaultId}), version ${receipt.headVersion}`],
      ['head', receipt.headHash],
      ['log', `${receipt.checkpoint.origin}, size ${receipt.checkpoint.treeSize}`],
      ['root', receipt.checkpoint.rootHash],
      ['inclusion', receipt.inclusion],
      ['consistency', receipt.consistency],
      ['value', `version ${version}`],
    ] as const
    return { data: receipt, text: facts(rows, cli.style) }
  },
})

export const log: Group = {
  summary: 'the transparency log: every change, append-only',
  verbs: { head, entries, prove, quorum, recover },
}
